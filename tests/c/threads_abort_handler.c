// An error handler that calls MPI_Abort ends the job while another thread waits in MPI for a message that never comes, and a
// third one is about to call MPI.
// ranks: 1-3
// levels: multiple
// expect: exit 43
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static void end(MPI_Comm *comm, int *code, ...) {
    (void)code;
    MPI_Abort(*comm, 43);
}

static void *wait_for_ever(void *none) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, check_rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return none;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(end, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (check_rank == check_size - 1) MPI_Send(&(int){1}, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD);
    for (;;) pause();
}
