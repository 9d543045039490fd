// No thread waits unboundedly while others make progress: some threads issue operations without pause, and those that wait
// for one message after another, in every kind of call, come to their end all the same. Then the first may stop.
// ranks: 2
// levels: multiple
#include "threads.h"
#include <sched.h>
#include <time.h>

enum { BUSY = 4, KINDS = 7, ROUNDS = 300, PATIENCE_S = 200 };

static MPI_Comm comm;
static atomic_int waiting;
static atomic_long issued[BUSY];
static int peer;

// Issues operations without ever waiting: self messages, which the receive finds.
static void keep_busy(int t) {
    time_t began = time(NULL);
    // These threads must make progress, too: each does its share before it may leave.
    while (atomic_load(&waiting) > 0 || atomic_load(&issued[t]) < ROUNDS) {
        int out = t, in = -1;
        MPI_Request request;
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, check_rank, 100 + t, comm, &request));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, check_rank, 100 + t, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, t);
        atomic_fetch_add_explicit(&issued[t], 1, memory_order_relaxed);
        if (time(NULL) - began > PATIENCE_S) {
            fprintf(stderr, "rank %d: after %d s %d threads still wait\n", check_rank, PATIENCE_S, atomic_load(&waiting));
            exit(1);
        }
    }
}

static void receive(int kind, int *in) {
    int tag = kind, index = -1, count = -1, indices[2], flag = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    switch (kind) {
    case 0:
        CHECK_OK(MPI_Recv(in, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE));
        return;
    case 1:
        CHECK_OK(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[1]));
        CHECK_OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
        return;
    case 2:
        CHECK_OK(MPI_Irecv(in, 1, MPI_INT, peer, tag, comm, &requests[0]));
        CHECK_OK(MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
        return;
    case 3:
        CHECK_OK(MPI_Irecv(in, 1, MPI_INT, peer, tag, comm, &requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        return;
    case 4:
        CHECK_OK(MPI_Probe(peer, tag, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE));
        return;
    case 5:
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        return;
    default:
        CHECK_OK(MPI_Irecv(in, 1, MPI_INT, peer, tag, comm, &requests[0]));
        while (!flag) CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    }
}

// Ping-pong with the other rank's thread of the same kind; synchronous sends wait, too.
static void wait_again_and_again(int kind) {
    for (int round = 0; round < ROUNDS; round++) {
        int in = -1;
        if (check_rank % 2 == 0) CHECK_OK(MPI_Ssend(&round, 1, MPI_INT, peer, kind, comm));
        receive(kind, &in);
        CHECK_EQ(in, round);
        if (check_rank % 2 == 1) CHECK_OK(MPI_Ssend(&round, 1, MPI_INT, peer, kind, comm));
    }
}

static void body(int t, void *shared) {
    (void)shared;
    if (t < BUSY) {
        keep_busy(t);
    } else {
        wait_again_and_again(t - BUSY);
        atomic_fetch_sub(&waiting, 1);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    atomic_store(&waiting, KINDS);
    threads_run(BUSY + KINDS, body, NULL);
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
