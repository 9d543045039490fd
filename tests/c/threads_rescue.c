// A VNI whose thread computes is served by whichever thread waits: one of several threads stops calling MPI, and the messages
// to it are matched, fetched and acknowledged all the same, while another thread of its process waits in any kind of call.
// ranks: 2
// levels: multiple
#include "threads.h"
#include <sched.h>

enum { COMMS = 6, KINDS = 5, LARGE = 1 << 20 };

static MPI_Comm comms[COMMS];
static atomic_int rescued;
static unsigned char *large;

struct scene {
    MPI_Comm stalled, waited;
    int kind;
};

// Waits for the message that rank 0 sends after the stalled communicator's messages have arrived.
static void wait_for_word(MPI_Comm comm, int kind) {
    int in = -1, index = -1, flag = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    switch (kind) {
    case 0:
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
        break;
    case 1:
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 9, comm, &requests[1]));
        CHECK_OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
        break;
    case 2:
        CHECK_OK(MPI_Probe(0, 9, comm, &status));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
        break;
    case 3:
        CHECK_OK(MPI_Bcast(&in, 1, MPI_INT, 0, comm));
        break;
    default:
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 9, comm, &requests[0]));
        while (!flag) CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    }
    CHECK_EQ(in, 77);
}

static void stalled_rank(int t, void *shared) {
    struct scene *scene = shared;
    if (t == 0) {
        int small = -1;
        MPI_Request requests[2];
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 1, scene->stalled, &requests[0]));
        CHECK_OK(MPI_Irecv(large, LARGE, MPI_BYTE, 0, 2, scene->stalled, &requests[1]));
        // Computes until the other thread's wait has ended.
        while (!atomic_load(&rescued)) sched_yield();
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(small, 5);
        CHECK_PATTERN(large, LARGE, 3);
    } else {
        wait_for_word(scene->waited, scene->kind);
        atomic_store(&rescued, 1);
    }
}

static void active_rank(struct scene *scene) {
    int small = 5, word = 77;
    MPI_Request request;
    // Both complete only when the receiver has matched them.
    CHECK_OK(MPI_Issend(&small, 1, MPI_INT, 1, 1, scene->stalled, &request));
    CHECK_OK(MPI_Ssend(large, LARGE, MPI_BYTE, 1, 2, scene->stalled));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (scene->kind == 3) CHECK_OK(MPI_Bcast(&word, 1, MPI_INT, 0, scene->waited));
    else CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 9, scene->waited));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    large = check_alloc(LARGE);
    for (int c = 0; c < COMMS; c++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
    for (int c = 0; c < COMMS; c++) {
        for (int kind = 0; kind < KINDS; kind++) {
            struct scene scene = {comms[c], comms[(c + kind) % COMMS], kind};
            atomic_store(&rescued, 0);
            pattern_fill(large, LARGE, check_rank == 0 ? 3 : 4);
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            if (check_rank == 0) active_rank(&scene);
            else threads_run(2, stalled_rank, &scene);
        }
    }
    for (int c = 0; c < COMMS; c++) CHECK_OK(MPI_Comm_free(&comms[c]));
    free(large);
    return check_finish();
}
