// Threads that send self messages in one communicator, while wildcards, probes and cancels come in between: although the
// library shards such messages, each is received once, by the right receive and in order.
// ranks: 1-3
// levels: multiple
#include "threads.h"

enum { THREADS = 4, ROUNDS = 300, KEPT = 40, LARGE = 20000 };

static MPI_Comm comm;
static int me;
static pthread_barrier_t together;

// A thread exchanges messages with itself, each receive before its send.
static void exchange(int t, int rounds) {
    for (int i = 0; i < rounds; i++) {
        int out = t * 10000 + i, in = -1;
        MPI_Request requests[2];
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, me, t, comm, &requests[0]));
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, me, t, comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        if (!CHECK_EQ(in, out)) return;
    }
}

// The threads exchange in turn, so that each of them sends many times after another one, and the messages are sharded.
static void take_turns(int t) {
    for (int i = 0; i < ROUNDS; i++) {
        if (i % THREADS == t) exchange(t, 1);
        pthread_barrier_wait(&together);
    }
}

static void all_take_turns(int t, void *shared) {
    (void)shared;
    take_turns(t);
}

static void fresh(void) {
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &me));
}

// Unexpected messages with several tags, of all protocols, some sent before the threads took turns and some after.
static void send_and_leave(int t, void *requests_of_all) {
    MPI_Request *requests = (MPI_Request *)requests_of_all + t * KEPT;
    static int out[THREADS][KEPT][LARGE];
    for (int i = 0; i < KEPT; i++) {
        if (i == KEPT / 4) take_turns(t);
        int large = i % 5 == 3;
        out[t][i][0] = i;
        // These tags differ from those of the turns.
        CHECK_OK((i % 7 == 2 ? MPI_Issend : MPI_Isend)(out[t][i], large ? LARGE : 1, MPI_INT, me, 100 + t + THREADS * (i % 3), comm, &requests[i]));
    }
}

// Each thread's messages have an order, whatever their tags; receives with any tag see it.
static void wildcards_see_the_order(bool any_source) {
    static MPI_Request requests[THREADS * KEPT];
    fresh();
    threads_run(THREADS, send_and_leave, requests);
    static int in[LARGE];
    int next[THREADS] = {0};
    for (int i = 0; i < THREADS * KEPT; i++) {
        MPI_Status status;
        CHECK_OK(MPI_Recv(in, LARGE, MPI_INT, any_source ? MPI_ANY_SOURCE : me, MPI_ANY_TAG, comm, &status));
        int t = (status.MPI_TAG - 100) % THREADS;
        if (!CHECK_EQ(in[0], next[t]) || !CHECK_EQ(status.MPI_SOURCE, me)) break;
        next[t]++;
    }
    CHECK_OK(MPI_Waitall(THREADS * KEPT, requests, MPI_STATUSES_IGNORE));
    threads_run(THREADS, all_take_turns, NULL);
    CHECK_OK(MPI_Comm_free(&comm));
}

// Receives that stay posted while messages are sharded and pinned: posted before the threads take turns, after, and
// after a probe.
static void receives_stay(void) {
    enum { EACH = 30, POSTED = 3 * EACH };
    MPI_Request requests[POSTED];
    int in[POSTED], flag = 0;
    fresh();
    for (int i = 0; i < POSTED; i++) {
        if (i == EACH) threads_run(THREADS, all_take_turns, NULL);
        if (i == 2 * EACH) CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE));
        in[i] = -1;
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, me, 200 + i % 6, comm, &requests[i]));
    }
    // The receives with tag 203 are cancelled, on whatever VNI they are by now.
    for (int i = 3; i < POSTED; i += 6) CHECK_OK(MPI_Cancel(&requests[i]));
    for (int i = 0; i < POSTED; i++) {
        if (i % 6 != 3) CHECK_OK(MPI_Send(&i, 1, MPI_INT, me, 200 + i % 6, comm));
    }
    for (int i = 0; i < POSTED; i++) {
        MPI_Status status;
        int cancelled = -1;
        CHECK_OK(MPI_Wait(&requests[i], &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK_EQ(cancelled, i % 6 == 3);
        CHECK_EQ(in[i], i % 6 == 3 ? -1 : i);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

// A receive is cancelled while it is not on the default VNI.
static void cancelled_elsewhere(void) {
    enum { POSTED = 12 };
    MPI_Request requests[POSTED];
    MPI_Status statuses[POSTED];
    int in[POSTED] = {0}, cancelled = 0;
    fresh();
    for (int i = 0; i < POSTED; i++) {
        if (i == POSTED / 2) threads_run(THREADS, all_take_turns, NULL);
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, me, 300 + i, comm, &requests[i]));
    }
    for (int i = 0; i < POSTED; i++) CHECK_OK(MPI_Cancel(&requests[i]));
    CHECK_OK(MPI_Waitall(POSTED, requests, statuses));
    for (int i = 0; i < POSTED; i++) {
        CHECK_OK(MPI_Test_cancelled(&statuses[i], &cancelled));
        CHECK_EQ(cancelled, 1);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

// Every kind of send and receive.
static void all_kinds(int t, void *shared) {
    (void)shared;
    static char room[THREADS * 100 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    if (t == 0) CHECK_OK(MPI_Buffer_attach(room, sizeof room));
    take_turns(t);
    int out = 0, in = 0;
    MPI_Request start[2], one;
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, me, t, comm, &start[0]));
    CHECK_OK(MPI_Ssend_init(&out, 1, MPI_INT, me, t, comm, &start[1]));
    for (int i = 0; i < 50; i++) {
        out = t * 1000 + i, in = -1;
        switch (i % 5) {
        case 0: CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, me, t, &in, 1, MPI_INT, me, t, comm, MPI_STATUS_IGNORE)); break;
        case 1:
            CHECK_OK(MPI_Bsend(&out, 1, MPI_INT, me, t, comm));
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, me, t, comm, MPI_STATUS_IGNORE));
            break;
        case 2:
            CHECK_OK(MPI_Startall(2, start));
            CHECK_OK(MPI_Waitall(2, start, MPI_STATUSES_IGNORE));
            break;
        case 3:
            CHECK_OK(MPI_Isendrecv(&out, 1, MPI_INT, me, t, &in, 1, MPI_INT, me, t, comm, &one));
            CHECK_OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
            break;
        case 4:
            CHECK_OK(MPI_Issend(&out, 1, MPI_INT, me, t, comm, &one));
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, me, t, comm, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
            break;
        }
        CHECK_EQ(in, out);
    }
    CHECK_OK(MPI_Request_free(&start[0]));
    CHECK_OK(MPI_Request_free(&start[1]));
    pthread_barrier_wait(&together);
    if (t == 0) {
        int size;
        void *was;
        CHECK_OK(MPI_Buffer_detach(&was, &size));
    }
}

// A persistent receive is started on the default VNI, on another one, and on the default VNI again.
static void started_anywhere(void) {
    MPI_Request request;
    int in = -1, flag = 0;
    fresh();
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, me, 401, comm, &request));
    for (int i = 0; i < 6; i++) {
        if (i == 2) threads_run(THREADS, all_take_turns, NULL);
        if (i == 4) CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, &flag, MPI_STATUS_IGNORE));
        if (i % 2) CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, me, 401, comm));
        if (i % 2 == 0) CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free(&comm));
}

// Threads exchange without a pause; meanwhile one of them probes with a wildcard for a message that does not exist.
static void interrupted(int t, void *shared) {
    (void)shared;
    pthread_barrier_wait(&together);
    if (t == 0) {
        exchange(t, rand() % 200);
        int flag = 1;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
    exchange(t, 300);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    pthread_barrier_init(&together, NULL, THREADS);
    wildcards_see_the_order(false);
    wildcards_see_the_order(true);
    receives_stay();
    cancelled_elsewhere();
    started_anywhere();
    fresh();
    threads_run(THREADS, all_kinds, NULL);
    CHECK_OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 20; i++) {
        fresh();
        threads_run(THREADS, interrupted, NULL);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    // On MPI_COMM_SELF, whose state stays to the end.
    comm = MPI_COMM_SELF, me = 0;
    threads_run(THREADS, all_take_turns, NULL);
    threads_run(THREADS, all_kinds, NULL);
    for (int i = 0; i < 3; i++) threads_run(THREADS, interrupted, NULL);
    pthread_barrier_destroy(&together);
    return check_finish();
}
