/* Many small records from every thread to every process, in many small messages.
 *
 * Each thread owns one exchange. Thread t of a process talks with thread t of the
 * other processes only, all threads at once, so MPI sees concurrent calls from every
 * thread (MPI_THREAD_MULTIPLE):
 *
 *     exchange_reserve()   writes a record into the open buffer of its destination;
 *                          a full buffer leaves by MPI_Isend
 *     exchange_poll()      MPI_Test on the posted receives and on pending sends;
 *                          arrived records go to the handler
 *     exchange_finish()    sends what is left, marks the end, and polls until the
 *                          end marks of all other processes are here
 *
 * A *phase* is exchange_begin() ... exchange_finish(). Invariants:
 *
 *  1. Receives stay posted over phases, so between two phases all threads of all
 *     processes must have synchronised (a team barrier and a collective); else a
 *     record of the next phase would meet the handler of this one.
 *  2. Receives name MPI_ANY_SOURCE and are tested in the order in which they were
 *     posted. MPI does not let messages of one sender overtake each other, so the
 *     end mark of a sender is seen after all its records.
 *  3. A handler never writes records. A thread that waits for a free buffer polls,
 *     so it receives while it waits and no two threads wait for each other.
 *  4. Records for the same process are not exchanged: the caller has the data. */
#ifndef GRAPH500_EXCHANGE_H
#define GRAPH500_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `source` is the rank that sent the `count` records at `records`. */
typedef void (*exchange_handler)(void *context, int source, const void *records,
                                 uint32_t count);

enum {
    EXCHANGE_HEADER_BYTES = 8,
    EXCHANGE_RECORD_BYTES_MAX = 16,
    EXCHANGE_BUFFER_BYTES_MIN = 64,
    EXCHANGE_BUFFER_BYTES_MAX = 64 << 20,
};

struct exchange_counters {
    uint64_t messages; /* sent */
    uint64_t bytes;    /* sent */
    uint64_t tests;    /* calls of MPI_Test */
    uint64_t hits;     /* calls of MPI_Test that found their request complete */
    uint64_t mpi_ticks;
};

struct exchange_buffer; /* a header and the records behind it */

struct exchange_open_buffer {
    struct exchange_buffer *buffer; /* NULL until the first record */
    uint32_t used;                  /* records in it */
};

struct exchange {
    _Alignas(64) MPI_Comm comm; /* exchanges of several threads lie side by side */
    int tag;
    int rank;
    int ranks;
    size_t buffer_bytes;

    uint32_t record_bytes;
    uint32_t capacity; /* records in a full message */
    exchange_handler handler;
    void *context;
    int ends_awaited;

    struct exchange_open_buffer *open; /* one a destination */

    struct exchange_buffer **idle; /* stack of send buffers in no use */
    int idle_count;
    struct exchange_buffer **flying; /* being sent, beside their requests */
    MPI_Request *sends;
    int flying_count;

    struct exchange_buffer **posted; /* receive ring beside its requests */
    MPI_Request *receives;
    int head; /* the receive that was posted first */

    void *slab; /* memory of all buffers */
    struct exchange_counters counters;
};

void exchange_open(struct exchange *x, MPI_Comm comm, int tag, size_t buffer_bytes);
void exchange_begin(struct exchange *x, uint32_t record_bytes, exchange_handler handler,
                    void *context);

/* Looks for arrived messages and finished sends; true if a message was handled. */
bool exchange_poll(struct exchange *x);

void exchange_finish(struct exchange *x);

/* After the last phase: takes the posted receives back and frees the buffers. */
void exchange_close(struct exchange *x);

/* For exchange_reserve(): the slow path to get room for a record to `destination`. */
void *exchange_reserve_slow(struct exchange *x, int destination);

static inline void *exchange_record(struct exchange_buffer *buffer, uint32_t record_bytes,
                                    uint32_t index)
{
    return (unsigned char *)buffer + EXCHANGE_HEADER_BYTES + (size_t)record_bytes * index;
}

/* Room for one record to another process; write it before the next call. */
static inline void *exchange_reserve(struct exchange *x, int destination)
{
    struct exchange_open_buffer *open = &x->open[destination];
    if (open->buffer == NULL || open->used == x->capacity)
        return exchange_reserve_slow(x, destination);
    return exchange_record(open->buffer, x->record_bytes, open->used++);
}

#endif
