// A thread blocked in MPI does not keep others from working, and is woken by what another thread does.
// levels: multiple
#include "threads.h"
#include <sched.h>

static atomic_int stage;
static int peer;

// Thread 0 waits in Recv; thread 1 computes, then sends to the other rank's thread 0.
static void blocked_and_computing(int t, void *shared) {
    (void)shared;
    if (t == 0) {
        int in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(in, 1000);
    } else {
        volatile unsigned work = 0;
        for (unsigned i = 0; i < 20000000; i++) work += i;
        int out = 1000;
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
    }
}

// Each thread's receive is fed by the next thread of the same process, which first waits itself: a chain of wake-ups.
enum { CHAIN = 8 };

static void chain(int t, void *shared) {
    (void)shared;
    int in = -1;
    for (int round = 0; round < 50; round++) {
        if (t == 0) {
            CHECK_OK(MPI_Send(&round, 1, MPI_INT, 0, 10 + 1, MPI_COMM_SELF));
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 10, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 10 + t, MPI_COMM_SELF, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Ssend(&in, 1, MPI_INT, 0, 10 + (t + 1) % CHAIN, MPI_COMM_SELF));
        }
        CHECK_EQ(in, round);
    }
}

// One thread waits in each kind of call; another satisfies them one after another.
static void kinds_of_waiting(int t, void *shared) {
    MPI_Comm comm = *(MPI_Comm *)shared;
    int in = -1, index = -1, count = -1, indices[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    MPI_Message message;
    switch (t) {
    case 0:
        while (atomic_load(&stage) < 5) sched_yield();
        for (int tag = 0; tag < 6; tag++) CHECK_OK(MPI_Send(&tag, 1, MPI_INT, peer, 20 + tag, comm));
        return;
    case 1:
        atomic_fetch_add(&stage, 1);
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, peer, 20, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, 0);
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, peer, 25, comm, MPI_STATUS_IGNORE));
        return;
    case 2:
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 21, comm, &requests[1]));
        atomic_fetch_add(&stage, 1);
        CHECK_OK(MPI_Waitany(2, requests, &index, &status));
        CHECK_EQ(index, 1);
        CHECK_EQ(in, 1);
        return;
    case 3:
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, peer, 22, comm, &requests[0]));
        atomic_fetch_add(&stage, 1);
        CHECK_OK(MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count == 1 && indices[0] == 0);
        CHECK_EQ(in, 2);
        return;
    case 4:
        atomic_fetch_add(&stage, 1);
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 23, comm, &status));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 23, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, 3);
        return;
    default:
        atomic_fetch_add(&stage, 1);
        CHECK_OK(MPI_Mprobe(peer, 24, comm, &message, &status));
        CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
        CHECK_EQ(in, 4);
        return;
    }
}

// Requests made by one thread are completed by another.
static MPI_Request handed[32];
static int handed_in[32], handed_out[32];

static void complete_for_another(int t, void *shared) {
    (void)shared;
    int per = 32 / 4;
    CHECK_OK(MPI_Waitall(per, handed + t * per, MPI_STATUSES_IGNORE));
    for (int i = t * per; i < (t + 1) * per; i++) CHECK_EQ(handed_in[i], i * 3);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    threads_run(2, blocked_and_computing, NULL);
    threads_run(CHAIN, chain, NULL);
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int round = 0; round < 20; round++) {
        atomic_store(&stage, 0);
        threads_run(6, kinds_of_waiting, &comm);
        CHECK_OK(MPI_Barrier(comm));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    MPI_Request sends[32];
    for (int i = 0; i < 32; i++) {
        handed_out[i] = i * 3;
        CHECK_OK(MPI_Irecv(&handed_in[i], 1, MPI_INT, peer, 50 + i, MPI_COMM_WORLD, &handed[i]));
    }
    for (int i = 0; i < 32; i++) CHECK_OK(MPI_Isend(&handed_out[i], 1, MPI_INT, peer, 50 + i, MPI_COMM_WORLD, &sends[i]));
    threads_run(4, complete_for_another, NULL);
    CHECK_OK(MPI_Waitall(32, sends, MPI_STATUSES_IGNORE));
    return check_finish();
}
