// Probe and Iprobe see messages and take none, with wildcards and in order; matched probes take the message.
// ranks: 2-8
#include "check.h"

static void probe_then_receive(void) {
    static const int sizes[] = {0, 1, 100, 30000, 500000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], count = -1, flag = 0;
        MPI_Status status;
        char *buf = check_alloc((size_t)n);
        if (check_rank == 1) {
            pattern_fill(buf, (size_t)n, (unsigned)s);
            CHECK_OK(MPI_Send(buf, n, MPI_CHAR, 0, 11, MPI_COMM_WORLD));
            CHECK_OK(MPI_Send(buf, n, MPI_CHAR, 0, 11, MPI_COMM_WORLD));
        } else if (check_rank == 0) {
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_EQ(status.MPI_SOURCE, 1);
            CHECK_EQ(status.MPI_TAG, 11);
            CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &count));
            CHECK_EQ(count, n);
            CHECK_OK(MPI_Iprobe(1, 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK_EQ(flag, 1);
            CHECK_OK(MPI_Iprobe(1, 12, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK_EQ(flag, 0);
            CHECK_OK(MPI_Recv(buf, n, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(buf, (size_t)n, (unsigned)s);
            do {
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &flag, &status));
            } while (!flag);
            CHECK_OK(MPI_Recv(buf, n, MPI_CHAR, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(buf, (size_t)n, (unsigned)s);
            CHECK_OK(MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
            CHECK_EQ(flag, 0);
        }
        free(buf);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); // no rank is ahead, so an empty queue is empty
    }
}

static void matched(void) {
    static const int sizes[] = {0, 4, 100, 30000, 500000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], count = -1, flag = 0;
        MPI_Status status;
        MPI_Message first = MPI_MESSAGE_NULL, second = MPI_MESSAGE_NULL;
        MPI_Request request;
        char *buf = check_alloc((size_t)n);
        if (check_rank == 1) {
            MPI_Request sends[3];
            char *three = check_alloc(3 * (size_t)n);
            for (unsigned i = 0; i < 3; i++) {
                pattern_fill(three + i * (size_t)n, (size_t)n, i);
                CHECK_OK(MPI_Isend(three + i * (size_t)n, n, MPI_CHAR, 0, 13, MPI_COMM_WORLD, &sends[i]));
            }
            CHECK_OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
            free(three);
        } else if (check_rank == 0) {
            CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &first, &status));
            CHECK(first != MPI_MESSAGE_NULL && first != MPI_MESSAGE_NO_PROC);
            CHECK_EQ(status.MPI_SOURCE, 1);
            CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &count));
            CHECK_EQ(count, n);
            do {
                CHECK_OK(MPI_Improbe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status));
            } while (!flag);
            CHECK(second != first);
            // Ordinary receives no longer see the two; the third overtakes them legally.
            CHECK_OK(MPI_Recv(buf, n, MPI_CHAR, 1, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(buf, (size_t)n, 2);
            CHECK_OK(MPI_Imrecv(buf, n, MPI_CHAR, &second, &request));
            CHECK(second == MPI_MESSAGE_NULL);
            CHECK_OK(MPI_Wait(&request, &status));
            CHECK_EQ(status.MPI_TAG, 13);
            CHECK_EQ(status.MPI_SOURCE, 1);
            CHECK_PATTERN(buf, (size_t)n, 1);
            CHECK_OK(MPI_Mrecv(buf, n, MPI_CHAR, &first, &status));
            CHECK(first == MPI_MESSAGE_NULL);
            CHECK_PATTERN(buf, (size_t)n, 0);
            CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &count));
            CHECK_EQ(count, n);
            CHECK_OK(MPI_Improbe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status));
            CHECK_EQ(flag, 0);
            CHECK(second == MPI_MESSAGE_NULL);
        }
        free(buf);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); // no rank is ahead, so an empty queue is empty
    }
}

static void no_process(void) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Request request;
    int flag = 0, count = -1, value = 5;
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    CHECK_EQ(value, 5);
    CHECK_OK(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
}

// A receive with the arguments of a probe takes the probed message, even if other ranks send too.
static void from_several(void) {
    enum { EACH = 200 };
    if (check_rank == 0) {
        int next[8] = {0}, value[2];
        for (int i = 0; i < EACH * (check_size - 1); i++) {
            MPI_Status status;
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_OK(MPI_Recv(value, 2, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(value[0], status.MPI_SOURCE);
            CHECK_EQ(value[1], next[status.MPI_SOURCE]++);
        }
    } else {
        for (int i = 0; i < EACH; i++) {
            int value[2] = {check_rank, i};
            CHECK_OK(MPI_Send(value, 2, MPI_INT, 0, i % 3, MPI_COMM_WORLD));
        }
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    probe_then_receive();
    matched();
    no_process();
    from_several();
    return check_finish();
}
