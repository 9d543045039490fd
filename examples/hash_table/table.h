/* One volume of a distributed hash table of 64-bit integers (Schmid, Besta, Hoefler: High-performance distributed RMA
 * locks, HPDC 2016, section 5.3): a table of slots, and a heap for keys that find their slot taken. Process 0 keeps it, and
 * all processes reach it by remote memory access. Keys are unique and not 0.
 *
 * Words of the volume: the number of heap places given out; for each slot its key (0: free) and the last place of its
 * list; for each place its key and the place before it. A place is named by its number + 1, so 0 ends a list. */
#ifndef TABLE_H
#define TABLE_H

#include <mpi.h>
#include <stdint.h>

typedef struct {
    MPI_Win win;
    uint64_t *base;        /* the words, in process 0 */
    uint64_t slots, heap;  /* how many */
    uint64_t spare;        /* a place that this process took and did not need, or 0 */
} table;

typedef enum { TABLE_KNOWN, TABLE_NEW, TABLE_FULL } table_result;

/* Makes an empty volume. Collective. */
void table_make(MPI_Comm comm, uint64_t slots, uint64_t heap, table *made);

/* Frees it. Collective. */
void table_free(table *t);

/* Enters a key by compare-and-swap, beside others that do the same. TABLE_FULL: there is no place left, and the table is
 * as it was. */
table_result table_insert_atomic(table *t, uint64_t key);

/* Enters a key by reads and writes, while the caller excludes all others. All is complete when it returns. */
table_result table_insert_exclusive(table *t, uint64_t key);

/* Whether the key is there, beside others that use table_insert_atomic. */
int table_contains_atomic(table *t, uint64_t key);

/* Whether the key is there, while the caller excludes those that insert. */
int table_contains(table *t, uint64_t key);

/* In process 0, when nobody inserts: copies the keys to `keys`, which has room for slots + heap; returns how many. */
uint64_t table_keys(table *t, uint64_t *keys);

#endif
