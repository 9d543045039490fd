/* A distributed hash table, synchronised in three ways: by compare-and-swap alone ("atomics", the paper's foMPI-A), by
 * foMPI's reader-writer lock ("rw"), and by RMA-RW ("rma-rw"); or by any other kind of heddle_rma_locks.h.
 *
 *     mpiexec -n 4 hash_table [--sync WAY] [--inserts PERCENT] [--operations N] [--slots N] [--heap N] [--seed N]
 *
 * As in the paper's section 5.3, process 0 keeps the volume and all others insert and look up random keys. Prints the
 * time, and checks what is in the table at the end against what the processes were told. */
#include "table.h"

#include <heddle_rma_locks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *sync;          /* null: all three */
    uint64_t inserts, operations, slots, heap, seed;
} options;

static int rank, size;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "hash_table: process %d: %s: %s\n", rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Ends the program after a call of a lock that failed. */
static void must(heddle_rma_status status)
{
    if (status != HEDDLE_RMA_STATUS_OK)
        fail(heddle_rma_status_text(status), heddle_rma_last_error());
}

/* xorshift64 (Marsaglia, Xorshift RNGs, 2003). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What a process was told. */
typedef struct {
    uint64_t new, known, full;
    uint64_t sum;              /* of the keys that were new, modulo 2^64 */
} answers;

static table_result insert(table *t, heddle_rma_lock *lock, uint64_t key)
{
    table_result result;
    if (lock == NULL)
        return table_insert_atomic(t, key);
    must(heddle_rma_lock_acquire_write(lock));
    result = table_insert_exclusive(t, key);
    must(heddle_rma_lock_release_write(lock));
    return result;
}

static int contains(table *t, heddle_rma_lock *lock, uint64_t key)
{
    int result;
    if (lock == NULL)
        return table_contains_atomic(t, key);
    must(heddle_rma_lock_acquire_read(lock));
    result = table_contains(t, key);
    must(heddle_rma_lock_release_read(lock));
    return result;
}

/* The operations of one process. There are half as many keys as operations, so that some keys come twice. */
static answers work(const options *chosen, table *t, heddle_rma_lock *lock)
{
    uint64_t state = (chosen->seed + (uint64_t)rank) * 0x9e3779b97f4a7c15 | 1;
    uint64_t keys = chosen->operations * (uint64_t)size / 2 + 1;
    answers told = { 0 };
    for (uint64_t i = 0; i < chosen->operations; i++) {
        uint64_t key = 1 + next_random(&state) % keys;
        if (next_random(&state) % 100 >= chosen->inserts) {
            contains(t, lock, key);
            continue;
        }
        switch (insert(t, lock, key)) {
        case TABLE_NEW:
            told.new++;
            told.sum += key;
            break;
        case TABLE_KNOWN: told.known++; break;
        case TABLE_FULL: told.full++; continue;
        }
        if (!contains(t, lock, key))
            fail("check", "a key that was inserted is not found");
    }
    return told;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* In process 0: whether the table holds what all processes were told. */
static void check(table *t, const answers *all)
{
    uint64_t *keys = malloc((t->slots + t->heap) * sizeof *keys), sum = 0, count;
    if (keys == NULL)
        fail("check", "there is no memory for the keys");
    count = table_keys(t, keys);
    qsort(keys, count, sizeof *keys, compare);
    for (uint64_t i = 0; i < count; i++) {
        sum += keys[i];
        if (i > 0 && keys[i] == keys[i - 1])
            fail("check", "a key is in the table twice");
    }
    if (count != all->new || sum != all->sum)
        fail("check", "the table does not hold the keys that were inserted");
    free(keys);
}

static void run(const options *chosen, const char *sync)
{
    heddle_rma_lock *lock = NULL;
    answers told = { 0 }, all;
    double began, seconds;
    table t;
    table_make(MPI_COMM_WORLD, chosen->slots, chosen->heap, &t);
    if (strcmp(sync, "atomics") != 0) {
        heddle_rma_lock_options shared = { .topology = HEDDLE_RMA_TOPOLOGY_SHARED };
        must(heddle_rma_lock_create(MPI_COMM_WORLD, sync, &shared, &lock));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    if (rank != 0 || size == 1)
        told = work(chosen, &t, lock);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - began;
    MPI_Reduce(&told, &all, sizeof told / sizeof(uint64_t), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        uint64_t operations = chosen->operations * (uint64_t)(size > 1 ? size - 1 : 1);
        check(&t, &all);
        printf("%-8s  %3d %% inserts  %8.3f s  %10.0f operations/s  %llu keys", sync, (int)chosen->inserts,
               seconds, (double)operations / seconds, (unsigned long long)all.new);
        if (all.full > 0)
            printf(", %llu inserts refused: the heap of %llu places is full", (unsigned long long)all.full,
                   (unsigned long long)chosen->heap);
        printf("\n");
        fflush(stdout);
    }
    if (lock != NULL)
        must(heddle_rma_lock_free(lock));
    table_free(&t);
}

static void usage(void)
{
    if (rank == 0)
        fprintf(stderr,
                "usage: hash_table [OPTION VALUE]..\n"
                "  --sync WAY         atomics, or a kind of lock: %s (default: atomics, rw and rma-rw)\n"
                "  --inserts PERCENT  operations that insert, the others look up (5)\n"
                "  --operations N     of each process (20000)\n"
                "  --slots N          of the table (4096)\n"
                "  --heap N           places for keys whose slot is taken (65536)\n"
                "  --seed N           of the random keys (1)\n",
                heddle_rma_lock_kinds());
    MPI_Finalize();
    exit(2);
}

/* A number from `least` to `most`, or the usage. */
static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > most)
        usage();
    return value;
}

static options parse(int argc, char **argv)
{
    options chosen = { .inserts = 5, .operations = 20000, .slots = 4096, .heap = 65536, .seed = 1 };
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--sync") == 0 && *value != '\0')
            chosen.sync = value;
        else if (strcmp(argv[i], "--inserts") == 0)
            chosen.inserts = number(value, 0, 100);
        else if (strcmp(argv[i], "--operations") == 0)
            chosen.operations = number(value, 1, 1u << 30);
        else if (strcmp(argv[i], "--slots") == 0)
            chosen.slots = number(value, 1, 1u << 28);
        else if (strcmp(argv[i], "--heap") == 0)
            chosen.heap = number(value, 0, 1u << 28);
        else if (strcmp(argv[i], "--seed") == 0)
            chosen.seed = number(value, 0, UINT64_MAX);
        else
            usage();
    }
    return chosen;
}

int main(int argc, char **argv)
{
    options chosen;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    chosen = parse(argc, argv);
    if (chosen.sync != NULL) {
        run(&chosen, chosen.sync);
    } else {
        run(&chosen, "atomics");
        run(&chosen, "rw");
        run(&chosen, "rma-rw");
    }
    MPI_Finalize();
    return 0;
}
