// A target that is outside of MPI: rank 0 computes until its memory says that the others are done. They lock, put, get, accumulate and
// swap there meanwhile, on windows of every kind.
// heddle: only
#include "win_flavors.h"

#include <sched.h>

enum { ROUNDS = 30 };

// Places in rank 0's memory: the number of ranks that are done, a sum, a word that is swapped, then a word for each rank.
enum { DONE, SUM, SWAPPED, WORDS };

static long load(const char *memory, int word) {
    return __atomic_load_n((const volatile long *)(const void *)(memory + word * 8), __ATOMIC_ACQUIRE);
}

static void compute(const struct flavored *at) {
    while (load(at->memory, DONE) < check_size - 1) sched_yield();
}

static void work(const struct flavored *at) {
    MPI_Win win = at->win;
    const long one = 1;
    long got = 0, before = 0;
    const MPI_Aint base = at->bases[0], own = base + (WORDS + check_rank) * 8;
    for (long round = 0; round < ROUNDS; round++) {
        CHECK_OK(round % 5 == 4 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(round % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Put(&round, 1, MPI_LONG, 0, own, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
        CHECK_OK(MPI_Get(&got, 1, MPI_LONG, 0, own, 1, MPI_LONG, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, base + SUM * 8, 1, MPI_LONG, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush_local(0, win));
        CHECK_EQ(got, round);
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, base + SUM * 8, MPI_SUM, win));
        CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, 0, base + SUM * 8, 1, MPI_LONG, MPI_SUM, win));
        for (;;) {
            long expected = got, value = got + 1;
            CHECK_OK(MPI_Compare_and_swap(&value, &expected, &got, MPI_LONG, 0, base + SWAPPED * 8, win));
            CHECK_OK(MPI_Win_flush(0, win));
            if (got == expected) break;
        }
        CHECK_OK(round % 5 == 4 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, base + DONE * 8, 1, MPI_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock(0, win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, (size_t)(WORDS + check_size) * 8, MPI_COMM_WORLD);
        if (check_rank == 0) {
            compute(&at);
            CHECK_EQ(load(at.memory, SUM), 3L * ROUNDS * (check_size - 1));
            CHECK_EQ(load(at.memory, SWAPPED), (long)ROUNDS * (check_size - 1));
            for (int rank = 1; rank < check_size; rank++) CHECK_EQ(load(at.memory, WORDS + rank), ROUNDS - 1);
        } else {
            work(&at);
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    return check_finish();
}
