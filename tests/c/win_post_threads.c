// One thread of each process accesses the memory of all, another one exposes its own: neither waits for the other thread of its
// process, also where a model has one critical section and the accesses go to other machines.
// levels: multiple
// ranks: 1-4
#include "threads.h"

enum { ROUNDS = 100 };

static void access_and_expose(int index, void *shared) {
    MPI_Win win = *(MPI_Win *)shared;
    MPI_Group all;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (long round = 0; round < ROUNDS; round++) {
        if (index == 0) {
            CHECK_OK(MPI_Win_start(all, 0, win));
            for (int rank = 0; rank < check_size; rank++) {
                CHECK_OK(MPI_Put(&round, 1, MPI_LONG, rank, check_rank, 1, MPI_LONG, win));
            }
            CHECK_OK(MPI_Win_complete(win));
        } else {
            CHECK_OK(MPI_Win_post(all, 0, win));
            CHECK_OK(MPI_Win_wait(win));
        }
    }
    CHECK_OK(MPI_Group_free(&all));
}

static atomic_int refused;

// One thread is in MPI_Win_start until its own process posts, which happens when the other thread was refused.
static void complete_before_the_post(int index, void *shared) {
    MPI_Win win = *(MPI_Win *)shared;
    MPI_Group self;
    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    if (index == 0) {
        CHECK_OK(MPI_Win_start(self, 0, win));
        CHECK_EQ(atomic_load(&refused), 1);
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Win_wait(win));
    } else {
        // Before the start and within it.
        for (int i = 0; i < 1000; i++) CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
        atomic_store(&refused, 1);
        CHECK_OK(MPI_Win_post(self, 0, win));
    }
    CHECK_OK(MPI_Group_free(&self));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Win win;
    long *memory;
    CHECK_OK(MPI_Win_allocate(check_size * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    threads_run(2, access_and_expose, &win);
    for (int rank = 0; rank < check_size; rank++) CHECK_EQ(memory[rank], ROUNDS - 1);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    threads_run(2, complete_before_the_post, &win);
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
