// Cancelling sends: one that is not matched yet is cancelled, and nothing of it is received; any other completes as ever.
// After MPI_Cancel the wait returns although no receive is posted.
// ranks: 2-3
// oracle: skip other libraries do not cancel sends
#include "threads.h"

enum { LARGE = 300000, ROUNDS = 100, TAG = 5, THREADS = 4 };

static int is_cancelled(MPI_Request *request) {
    MPI_Status status;
    int cancelled = -1;
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}

static void send_any(unsigned char *data, int bytes, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    // Rendezvous without synchronous mode, too.
    if (bytes > 100000 && tag % 2) {
        CHECK_OK(MPI_Isend(data, bytes, MPI_BYTE, to, tag, comm, request));
    } else {
        CHECK_OK(MPI_Issend(data, bytes, MPI_BYTE, to, tag, comm, request));
    }
}

// Rank 1 is in MPI, and receives nothing before rank 0's wait is over.
static void unmatched(int bytes, int tag) {
    unsigned char *data = check_alloc((size_t)bytes + 1);
    int told = 0;
    if (check_rank == 0) {
        MPI_Request first, second;
        pattern_fill(data, (size_t)bytes, 1);
        send_any(data, bytes, 1, tag, MPI_COMM_WORLD, &first);
        CHECK_OK(MPI_Cancel(&first));
        CHECK(first != MPI_REQUEST_NULL);
        CHECK_EQ(is_cancelled(&first), 1);
        CHECK(first == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Send(&told, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD));
        pattern_fill(data, (size_t)bytes, 2);
        send_any(data, bytes, 1, tag, MPI_COMM_WORLD, &second);
        CHECK_EQ(is_cancelled(&second), 0);
    } else if (check_rank == 1) {
        int flag = 1;
        CHECK_OK(MPI_Recv(&told, 1, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (bytes > 0) {
            CHECK_OK(MPI_Recv(data, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, (size_t)bytes, 2);
        } else {
            CHECK_OK(MPI_Recv(data, bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Iprobe(0, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

// A receive is posted before the send.
static void matched(int bytes) {
    unsigned char *data = check_alloc((size_t)bytes + 1);
    MPI_Request request = MPI_REQUEST_NULL;
    if (check_rank == 1) CHECK_OK(MPI_Irecv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) {
        pattern_fill(data, (size_t)bytes, 3);
        send_any(data, bytes, 1, TAG, MPI_COMM_WORLD, &request);
        CHECK_OK(MPI_Cancel(&request));
        CHECK_EQ(is_cancelled(&request), 0);
    } else if (check_rank == 1) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, (size_t)bytes, 3);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

// A small message is on its way when MPI_Isend returns: the send is complete, and the message is received.
static void eager(int bytes) {
    unsigned char *data = check_alloc((size_t)bytes + 1);
    MPI_Request request;
    if (check_rank == 0) {
        for (int to = 0; to < 2; to++) {
            pattern_fill(data, (size_t)bytes, 7);
            CHECK_OK(MPI_Isend(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Cancel(&request));
            CHECK_EQ(is_cancelled(&request), 0);
        }
    }
    if (check_rank < 2) {
        memset(data, 0, (size_t)bytes);
        CHECK_OK(MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, (size_t)bytes, 7);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

static void self_messages(int bytes) {
    unsigned char *out = check_alloc((size_t)bytes + 1), *in = check_alloc((size_t)bytes + 1);
    MPI_Request request, receive;
    pattern_fill(out, (size_t)bytes, 4);
    send_any(out, bytes, 0, TAG, MPI_COMM_SELF, &request);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_EQ(is_cancelled(&request), 1);
    CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &receive));
    pattern_fill(out, (size_t)bytes, 5);
    send_any(out, bytes, 0, TAG, MPI_COMM_SELF, &request);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_EQ(is_cancelled(&request), 0);
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)bytes, 5);
    free(out);
    free(in);
}

// A persistent send is cancelled three times, and then received. `to` is rank 1, or this process.
static void persistent(int bytes, MPI_Comm comm, int to) {
    unsigned char *data = check_alloc((size_t)bytes + 1), *in = check_alloc((size_t)bytes + 1);
    bool self = comm == MPI_COMM_SELF;
    MPI_Request request, receive = MPI_REQUEST_NULL;
    if (self || check_rank == 0) {
        CHECK_OK(MPI_Ssend_init(data, bytes, MPI_BYTE, to, TAG, comm, &request));
        for (int i = 0; i < 3; i++) {
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Cancel(&request));
            CHECK_EQ(is_cancelled(&request), 1);
            CHECK(request != MPI_REQUEST_NULL);
        }
    }
    if (!self) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (self || check_rank == 1) CHECK_OK(MPI_Irecv(in, bytes, MPI_BYTE, 0, TAG, comm, &receive));
    if (self || check_rank == 0) {
        pattern_fill(data, (size_t)bytes, 6);
        CHECK_OK(MPI_Start(&request));
        CHECK_EQ(is_cancelled(&request), 0);
        CHECK_OK(MPI_Request_free(&request));
    }
    if (receive != MPI_REQUEST_NULL) {
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, (size_t)bytes, 6);
    }
    free(data);
    free(in);
}

// Races with the receive: the message is received once or not at all, and the sender knows which.
static void race(int bytes, int tag, int rounds) {
    unsigned char *data = check_alloc((size_t)bytes + 1);
    for (int i = 0; i < rounds; i++) {
        int cancelled = 0;
        if (check_rank == 0) {
            MPI_Request request;
            pattern_fill(data, (size_t)bytes, (unsigned)i);
            send_any(data, bytes, 1, tag, MPI_COMM_WORLD, &request);
            CHECK_OK(MPI_Cancel(&request));
            cancelled = is_cancelled(&request);
            CHECK_OK(MPI_Send(&cancelled, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD));
            if (cancelled) CHECK_OK(MPI_Send(data, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
        } else {
            MPI_Request request;
            memset(data, 0, (size_t)bytes);
            CHECK_OK(MPI_Irecv(data, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Recv(&cancelled, 1, MPI_INT, 0, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            if (!CHECK_PATTERN(data, (size_t)bytes, (unsigned)i)) break;
        }
    }
    free(data);
}

static void race_of_thread(int t, void *shared) {
    (void)shared;
    race(t % 2 ? LARGE : 8, 20 + 4 * t + t % 2, ROUNDS);
}

// Nobody waits for a cancelled send that is freed.
static void freed(void) {
    int value = 1;
    if (check_rank == 0) {
        MPI_Request request;
        CHECK_OK(MPI_Issend(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Request_free(&request));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// A message that was matched by a probe is no longer cancelled.
static void matched_probe(int bytes) {
    unsigned char *data = check_alloc((size_t)bytes + 1);
    if (check_rank == 0) {
        MPI_Request request;
        pattern_fill(data, (size_t)bytes, 8);
        send_any(data, bytes, 1, TAG, MPI_COMM_WORLD, &request);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_EQ(is_cancelled(&request), 0);
    } else if (check_rank == 1) {
        MPI_Message message;
        CHECK_OK(MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Mrecv(data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, (size_t)bytes, 8);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(data);
}

int main(int argc, char **argv) {
    static const int sizes[] = {0, 8, 1000, 20000, LARGE};
    int level;
    check_start(argc, argv);
    CHECK_OK(MPI_Query_thread(&level));
    for (int i = 0; i < 5; i++) {
        unmatched(sizes[i], TAG);
        unmatched(sizes[i], TAG + 1);
        matched(sizes[i]);
        matched_probe(sizes[i]);
        self_messages(sizes[i]);
        persistent(sizes[i], MPI_COMM_SELF, 0);
        persistent(sizes[i], MPI_COMM_WORLD, 1);
        if (check_rank < 2) race(sizes[i], TAG + i, ROUNDS);
    }
    eager(8);
    eager(40);
    eager(1000);
    freed();
    if (level == MPI_THREAD_MULTIPLE && check_rank < 2) threads_run(THREADS, race_of_thread, NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_finish();
}
