/* The kind `adaptive` chooses its parameters while it runs: it begins with turns of eight writers, which the option `writers`
 * allows, and where `patience` asks for one writer between two turns of the readers it comes to that. The program stands
 * between the lock and MPI, so it sees when a process waits for the lock. */
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

/* The last process reads, the others write. After FOUND entries the lock has chosen. */
enum { FOUND = 1500, ENTRIES = 3000, EIGHT = 8, FEW = 3, MOST_PROCESSES = 16 };

/* In memory that all processes share. */
typedef struct {
    atomic_int entries, writers, waits[MOST_PROCESSES], has_ended[MOST_PROCESSES];
} board;

static int rank, size;
static board *common;
static int armed;

/* Called by the lock for each look at a word, among others: a process that looks while another one has the lock waits. */
int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint word, MPI_Op op, MPI_Win win)
{
    if (armed && op == MPI_NO_OP)
        atomic_store(&common->waits[rank], 1);
    return PMPI_Fetch_and_op(origin, result, type, target, word, op, win);
}

/* Calls MPI, in case that others need that to reach words here. */
static void stand_by(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    sched_yield();
}

/* While this process has the lock, all others come to wait for it. */
static void let_all_wait(void)
{
    for (int other = 0; other < size; other++) {
        while (other != rank && !atomic_load(&common->has_ended[other]) && !atomic_load(&common->waits[other]))
            stand_by();
    }
}

static void takes_turns(heddle_rma_lock *lock)
{
    int reads = rank == size - 1, entries = 0, longest = 0;
    long turns = 0, writers = 0;
    while (entries < ENTRIES) {
        armed = 1;
        CHECK_OK(reads ? heddle_rma_lock_acquire_read(lock) : heddle_rma_lock_acquire_write(lock));
        armed = 0;
        atomic_store(&common->waits[rank], 0);
        entries = atomic_fetch_add(&common->entries, 1);
        if (reads) {
            int before = atomic_exchange(&common->writers, 0);
            if (entries > FOUND && entries < ENTRIES)
                turns++, writers += before;
            if (before > longest && turns == 0)
                longest = before;
        } else {
            atomic_fetch_add(&common->writers, 1);
        }
        let_all_wait();
        CHECK_OK(reads ? heddle_rma_lock_release_read(lock) : heddle_rma_lock_release_write(lock));
        /* The reader comes once in a turn: it lets a writer have the lock before it comes again. */
        while (reads && atomic_load(&common->writers) == 0 && atomic_load(&common->entries) < ENTRIES)
            stand_by();
    }
    atomic_store(&common->has_ended[rank], 1);
    if (reads) {
        CHECK(longest == EIGHT);
        CHECK(turns > 0 && writers <= FEW * turns);
    }
}

int main(void)
{
    heddle_rma_lock_options options = { .writers = EIGHT, .patience = 1 };
    heddle_rma_lock *lock;
    MPI_Win win;
    MPI_Aint bytes;
    int unit;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* One counter, so that the reader keeps its place: where its counter is closed it has to come again. */
    options.counter_distance = size;
    bytes = rank == 0 ? (MPI_Aint)sizeof(board) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &common, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &common);
    if (rank == 0)
        memset((void *)common, 0, sizeof *common);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_WORLD, "adaptive", &options, &lock));
    /* Two writers at least, so that one waits while the other one leaves. */
    if (size >= 3 && size <= MOST_PROCESSES)
        takes_turns(lock);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(heddle_rma_lock_free(lock));
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
