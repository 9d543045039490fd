// Window locks under every algorithm: exclusive locks exclude, shared ones share, and no target has to be inside MPI.
// ranks: 1-8
#include "check.h"

#include <sched.h>

enum { ROUNDS = 200 };

static MPI_Win make(const char *algorithm, long **memory) {
    MPI_Info info;
    MPI_Win win;
    CHECK_OK(MPI_Info_create(&info));
    if (algorithm) CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithm));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_counter_distance", "2"));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_writers", "3"));
    CHECK_OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return win;
}

// Two numbers that are equal whenever no writer is inside; writers raise them one after the other, without atomics.
static void write_pair(MPI_Win win, int target) {
    long pair[2];
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    CHECK_OK(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(target, win));
    CHECK_EQ(pair[0], pair[1]);
    for (int i = 0; i < 2; i++) {
        pair[i]++;
        CHECK_OK(MPI_Put(&pair[i], 1, MPI_LONG, target, i, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(target, win));
    }
    CHECK_OK(MPI_Win_unlock(target, win));
}

static void read_pair(MPI_Win win, int target) {
    long pair[2];
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_OK(MPI_Get(&pair[0], 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush_local(target, win));
    CHECK_OK(MPI_Get(&pair[1], 1, MPI_LONG, target, 1, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(target, win));
    CHECK_EQ(pair[0], pair[1]);
}

static void readers_and_writers(const char *algorithm) {
    long *memory;
    MPI_Win win = make(algorithm, &memory);
    unsigned seed = 77u + (unsigned)check_rank;
    long writes = 0, all = 0;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245u + 12345u;
        int target = (int)((seed >> 20) % (unsigned)check_size);
        switch ((seed >> 12) % 4) {
        case 0: write_pair(win, target), writes++; break;
        case 1:
            CHECK_OK(MPI_Win_lock_all(0, win));
            for (int rank = 0; rank < check_size; rank++) {
                long pair[2];
                CHECK_OK(MPI_Get(pair, 2, MPI_LONG, rank, 0, 2, MPI_LONG, win));
                CHECK_OK(MPI_Win_flush_all(win));
                CHECK_EQ(pair[0], pair[1]);
            }
            CHECK_OK(MPI_Win_unlock_all(win));
            break;
        default: read_pair(win, target);
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    CHECK_EQ(memory[0], memory[1]);
    CHECK_OK(MPI_Reduce(&memory[0], &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    if (check_rank == 0) CHECK_EQ(all, writes);
    CHECK_OK(MPI_Win_free(&win));
}

// Locks of two targets at a time, shared locks at the same time in all ranks: they meet in a count inside of the lock.
static void shared_locks_share(void) {
    long *memory;
    MPI_Win win = make(NULL, &memory);
    const long one = 1;
    long inside = 0;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
    while (inside < check_size) {
        CHECK_OK(MPI_Fetch_and_op(NULL, &inside, MPI_LONG, 0, 0, MPI_NO_OP, win));
        CHECK_OK(MPI_Win_flush(0, win));
    }
    int other = (check_rank + 1) % check_size;
    if (other != 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win));
        CHECK_OK(MPI_Win_unlock(other, win));
    }
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_free(&win));
}

// Rank 0 computes without MPI until it sees in its memory that the others are done.
static void an_absent_target(void) {
    long *memory;
    MPI_Win win = make(NULL, &memory);
    const long one = 1;
    if (check_rank == 0) {
        while (__atomic_load_n((volatile long *)memory, __ATOMIC_ACQUIRE) < check_size - 1) sched_yield();
    } else {
        long before;
        for (int i = 0; i < 20; i++) {
            CHECK_OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
            CHECK_OK(MPI_Put(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
            CHECK_OK(MPI_Get(&before, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_unlock(0, win));
            CHECK_EQ(before, 1);
        }
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const char *const algorithms[] = {NULL, "rma-rw", "rma-mcs", "d-mcs", "spin", "rw", "adaptive"};
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) readers_and_writers(algorithms[i]);
    shared_locks_share();
    an_absent_target();
    return check_finish();
}
