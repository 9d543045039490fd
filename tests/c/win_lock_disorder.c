// Threads that lock, unlock and flush one window in disorder: each call succeeds or is MPI_ERR_RMA_SYNC, nobody waits for ever, and the
// locks exclude each other afterwards as ever.
// levels: multiple
// ranks: 1-4
// oracle: skip two threads of a process must not lock one target
#include "threads.h"

enum { LOCKERS = 3, CALLS = 400, ROUNDS = 50 };
static const char *const algorithms[] = {"spin", "rw", "rma-rw", "rma-mcs", "d-mcs", "queue-rw", "adaptive", NULL};

static MPI_Win win;
static atomic_int lockers;
static atomic_long successes;

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

// Returns true if the call succeeded.
static bool may_fail(int code) {
    if (code == MPI_SUCCESS) {
        atomic_fetch_add(&successes, 1);
        return true;
    }
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    return false;
}

static void release(unsigned draw, int rank) {
    long value = 1, result;
    switch (draw % 8) {
    case 0: may_fail(MPI_Win_unlock_all(win)); break;
    case 1: may_fail(MPI_Win_flush(rank, win)); break;
    case 2: may_fail(MPI_Win_flush_all(win)); break;
    case 3: may_fail(MPI_Fetch_and_op(&value, &result, MPI_LONG, rank, 1, MPI_SUM, win)); break;
    case 4: may_fail(MPI_Accumulate(&value, 1, MPI_LONG, rank, 1, 1, MPI_LONG, MPI_SUM, win)); break;
    default: may_fail(MPI_Win_unlock(rank, win)); break;
    }
}

// The last thread takes no lock, so it never waits, and releases what the others have left.
static void disorder(int index, void *shared) {
    (void)shared;
    unsigned state = (unsigned)(index + LOCKERS * check_rank + 1) * 7919u;
    if (index == LOCKERS) {
        while (atomic_load(&lockers) > 0) release(next_random(&state), (int)(next_random(&state) % (unsigned)check_size));
        return;
    }
    for (int i = 0; i < CALLS; i++) {
        unsigned draw = next_random(&state);
        int rank = (int)(next_random(&state) % (unsigned)check_size);
        switch (draw % 8) {
        case 0: may_fail(MPI_Win_lock_all(draw & 64 ? MPI_MODE_NOCHECK : 0, win)); break;
        case 1: may_fail(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)); break;
        case 2: may_fail(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)); break;
        default: release(draw / 8, rank); break;
        }
    }
    atomic_fetch_sub(&lockers, 1);
}

static void order(const long *memory) {
    for (int round = 0; round < ROUNDS; round++) {
        for (int rank = 0; rank < check_size; rank++) {
            long value;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
            CHECK_OK(MPI_Get(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_flush(rank, win));
            value++;
            CHECK_OK(MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_unlock(rank, win));
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_EQ(memory[0], ROUNDS * check_size);
    CHECK_OK(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int i = 0; algorithms[i]; i++) {
        MPI_Info info;
        long *memory;
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithms[i]));
        CHECK_OK(MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &memory, &win));
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        memory[0] = memory[1] = 0;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        lockers = LOCKERS;
        threads_run(LOCKERS + 1, disorder, NULL);
        may_fail(MPI_Win_unlock_all(win));
        for (int rank = 0; rank < check_size; rank++) may_fail(MPI_Win_unlock(rank, win));
        CHECK(atomic_load(&successes) > 0);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        order(memory);
        CHECK_OK(MPI_Win_free(&win));
    }
    return check_finish();
}
