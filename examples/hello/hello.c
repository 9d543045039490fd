/* A first MPI program with threads: every thread of every process sends a greeting to the same
 * thread of the next process and prints the one it receives.
 *
 *     mpicc -pthread hello.c -o hello && mpiexec -n 2 ./hello 3
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, TEXT_BYTES = 64 };

static int rank, ranks;

static void *greet(void *argument)
{
    int thread = *(int *)argument;
    int next = (rank + 1) % ranks;
    int previous = (rank + ranks - 1) % ranks;
    char out[TEXT_BYTES], in[TEXT_BYTES];
    snprintf(out, sizeof out, "hello from rank %d, thread %d", rank, thread);

    /* The thread's number is the tag, so each thread gets what is meant for it. */
    MPI_Request requests[2];
    MPI_Irecv(in, TEXT_BYTES, MPI_CHAR, previous, thread, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, TEXT_BYTES, MPI_CHAR, next, thread, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf("rank %d, thread %d: %s\n", rank, thread, in);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1 || threads > THREADS_MAX || provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            fprintf(stderr, "usage: hello [THREADS], 1 to %d, on an MPI library with "
                            "MPI_THREAD_MULTIPLE\n",
                    THREADS_MAX);
        MPI_Finalize();
        return 2;
    }

    pthread_t handles[THREADS_MAX];
    int numbers[THREADS_MAX];
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        if (pthread_create(&handles[i], NULL, greet, &numbers[i]) != 0) {
            fprintf(stderr, "hello: cannot start thread %d\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);

    MPI_Finalize();
    return 0;
}
