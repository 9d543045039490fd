// Threads of one process that work with windows at once: different targets of one window, windows of their own, one thread in a start
// while another posts, locks of different targets.
// levels: multiple
#include "threads.h"
#include "win_flavors.h"

enum { THREADS = 4, ROUNDS = 150, WORDS = 16 };

static unsigned drawn(unsigned *seed) { return (*seed = *seed * 1103515245u + 12345u) >> 16; }

// Each thread uses its own words of all targets, in one epoch of the process.
static void different_words(int index, void *shared) {
    struct flavored *at = shared;
    unsigned seed = (unsigned)(check_rank * THREADS + index);
    long sent = 0;
    size_t slot = ((size_t)check_rank * THREADS + (size_t)index) * WORDS * sizeof(long);
    for (int round = 0; round < ROUNDS; round++) {
        int target = (int)(drawn(&seed) % (unsigned)check_size);
        MPI_Aint disp = at->bases[target] + (MPI_Aint)slot;
        long out[4] = {round, index, check_rank, sent}, in[4] = {-1, -1, -1, -1}, one = 1, before = -1;
        CHECK_OK(MPI_Put(out, 4, MPI_LONG, target, disp, 4, MPI_LONG, at->win));
        CHECK_OK(MPI_Win_flush(target, at->win));
        CHECK_OK(MPI_Get(in, 4, MPI_LONG, target, disp, 4, MPI_LONG, at->win));
        CHECK_OK(round % 2 ? MPI_Win_flush_local(target, at->win) : MPI_Win_flush_all(at->win));
        CHECK(memcmp(in, out, sizeof in) == 0);
        // A counter of this thread at rank 0, and one of all at its end.
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, at->bases[0] + (MPI_Aint)slot + 64, MPI_SUM, at->win));
        CHECK_OK(MPI_Win_flush(0, at->win));
        CHECK_EQ(before, round);
        MPI_Aint common = at->bases[target] + (MPI_Aint)(at->len - 64);
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, common, 1, MPI_LONG, MPI_SUM, at->win));
        MPI_Request request;
        CHECK_OK(MPI_Rget(in, 1, MPI_LONG, target, disp + 8, 1, MPI_LONG, at->win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in[0], index);
    }
    CHECK_OK(MPI_Win_flush_all(at->win));
}

static void one_window(int flavor) {
    struct flavored at = flavored_make(flavor, ((size_t)check_size * THREADS * WORDS + 8) * sizeof(long), MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, at.win));
    threads_run(THREADS, different_words, &at);
    CHECK_OK(MPI_Win_unlock_all(at.win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    long sum;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, at.win));
    memcpy(&sum, at.memory + at.len - 64, sizeof sum);
    CHECK_OK(MPI_Win_unlock(check_rank, at.win));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, (long)ROUNDS * THREADS * check_size);
    flavored_free(&at);
}

// Each thread makes, uses and frees windows over a communicator of its own.
static MPI_Comm comms[THREADS];

static void own_windows(int index, void *shared) {
    (void)shared;
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    for (int round = 0; round < 12; round++) {
        struct flavored at = flavored_make((round + index) % FLAVORS, 64, comms[index]);
        int value = index * 1000 + round * 10 + check_rank, got;
        CHECK_OK(MPI_Win_fence(0, at.win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, at.bases[next] + 4, 1, MPI_INT, at.win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at.win));
        memcpy(&got, at.memory + 4, sizeof got);
        CHECK_EQ(got, index * 1000 + round * 10 + before);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, at.win));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, at.bases[next] + 8, 1, MPI_INT, at.win));
        CHECK_OK(MPI_Win_unlock(next, at.win));
        CHECK_OK(MPI_Barrier(comms[index]));
        flavored_free(&at);
    }
}

// Thread 0 accesses all targets, thread 1 exposes the memory to all: neither waits for the other of its process only.
static void access_and_expose(int index, void *shared) {
    struct flavored *at = shared;
    MPI_Group all;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (long round = 0; round < ROUNDS; round++) {
        if (index == 0) {
            CHECK_OK(MPI_Win_start(all, 0, at->win));
            for (int rank = 0; rank < check_size; rank++) {
                CHECK_OK(MPI_Put(&round, 1, MPI_LONG, rank, at->bases[rank] + check_rank * 8, 1, MPI_LONG, at->win));
            }
            CHECK_OK(MPI_Win_complete(at->win));
        } else {
            CHECK_OK(MPI_Win_post(all, 0, at->win));
            CHECK_OK(MPI_Win_wait(at->win));
            for (int rank = 0; rank < check_size; rank++) {
                long got;
                memcpy(&got, at->memory + rank * 8, sizeof got);
                CHECK_EQ(got, round);
            }
        }
    }
    CHECK_OK(MPI_Group_free(&all));
}

// Each thread locks targets of its own share; the pair of counters that the lock protects is always equal.

static void different_targets(int index, void *shared) {
    MPI_Win win = *(MPI_Win *)shared;
    unsigned seed = (unsigned)(check_rank * THREADS + index) + 99;
    for (int round = 0; round < ROUNDS; round++) {
        // No two threads of a process lock one target at a time: thread i has the targets i, i + THREADS, ...
        int n = (check_size - index + THREADS - 1) / THREADS;
        if (n <= 0) return;
        int target = index + (int)(drawn(&seed) % (unsigned)n) * THREADS;
        long pair[2] = {-1, -2};
        bool write = drawn(&seed) % 2;
        CHECK_OK(MPI_Win_lock(write ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
        CHECK_OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(target, win));
        CHECK_EQ(pair[0], pair[1]);
        for (int i = 0; write && i < 2; i++) {
            pair[i]++;
            CHECK_OK(MPI_Put(&pair[i], 1, MPI_LONG, target, i * 8, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_flush(target, win));
        }
        CHECK_OK(MPI_Win_unlock(target, win));
    }
}

// Threads of one process hand one target's lock from one to another, the mutex of the program between them.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void same_target(int index, void *shared) {
    MPI_Win win = *(MPI_Win *)shared;
    (void)index;
    for (int round = 0; round < ROUNDS; round++) {
        long value;
        pthread_mutex_lock(&turn);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 16, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, 0, 16, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_unlock(0, win));
        pthread_mutex_unlock(&turn);
    }
}

static void locks(const char *algorithm) {
    MPI_Info info;
    MPI_Win win;
    long *memory;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithm));
    CHECK_OK(MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    memset(memory, 0, 64);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    threads_run(THREADS, different_targets, &win);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    threads_run(THREADS, same_target, &win);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) CHECK_EQ(memory[2], (long)THREADS * ROUNDS * check_size);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        one_window(flavor);
    }
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    threads_run(THREADS, own_windows, NULL);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, (size_t)check_size * 8, MPI_COMM_WORLD);
        threads_run(2, access_and_expose, &at);
        flavored_free(&at);
    }
    static const char *const algorithms[] = {"rma-rw", "rma-mcs", "d-mcs", "spin", "rw", "adaptive"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) locks(algorithms[i]);
    return check_finish();
}
