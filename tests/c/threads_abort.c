// MPI_Abort ends the job while another thread is in a function of the program that MPI has called and that never returns,
// and while that thread has locked the standard output. So does an error handler that calls MPI_Abort.
// ranks: 1-3
// levels: multiple
// expect: exit 41
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t inside;

// Never returns. The library calls it with its own lock around the call, where a model has one.
static void reduce(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
#ifndef __SANITIZE_THREAD__ // ThreadSanitizer's _exit flushes the streams
    flockfile(stdout);
#endif
    pthread_barrier_wait(&inside);
    for (;;) pause();
}

static void *enter(void *op) {
    int from = 1, to = 2;
    MPI_Reduce_local(&from, &to, 1, MPI_INT, *(MPI_Op *)op);
    return NULL;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Op op;
    pthread_t thread;
    MPI_Op_create(reduce, 1, &op);
    pthread_barrier_init(&inside, NULL, 2);
    pthread_create(&thread, NULL, enter, &op);
    pthread_barrier_wait(&inside);
    if (check_rank == check_size - 1) MPI_Abort(MPI_COMM_WORLD, 41);
    for (;;) pause();
}
