// A communicator of MPI_Comm_idup may be used once MPI_Request_get_status has said that it is complete; the wait that follows
// changes nothing about it. Messages of the process to itself, sent in between by threads in turn, are all there after it.
// ranks: 1-4
// levels: multiple
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 400, THREADS = 2, WAITING = 8 };

static MPI_Comm comm;
static pthread_barrier_t round_over;

// Sends to itself, in turn with the other thread.
static void *take_turns(void *index) {
    int tag = 10 + (int)(intptr_t)index;
    for (int i = 0; i < ROUNDS; i++) {
        int in = -1;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, check_rank, tag, comm, &request);
        MPI_Send(&i, 1, MPI_INT, check_rank, tag, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i);
        pthread_barrier_wait(&round_over);
    }
    return NULL;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Request duplication;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &duplication);
    for (int done = 0; !done;) MPI_Request_get_status(duplication, &done, MPI_STATUS_IGNORE);

    pthread_t threads[THREADS];
    pthread_barrier_init(&round_over, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    for (int i = 0; i < WAITING; i++) MPI_Send(&(int){100 + i}, 1, MPI_INT, check_rank, 20 + i, comm);
    MPI_Wait(&duplication, MPI_STATUS_IGNORE);
    for (int i = 0; i < WAITING; i++) {
        int in = -1, found = 0;
        // The messages are there already: one look finds each.
        MPI_Iprobe(check_rank, 20 + i, comm, &found, MPI_STATUS_IGNORE);
        if (CHECK(found)) MPI_Recv(&in, 1, MPI_INT, check_rank, 20 + i, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(in, 100 + i);
    }
    MPI_Comm_free(&comm);
    return check_finish();
}
