// Cancelling receives: one that has not matched is cancelled, one that has completes as ever.
#include "check.h"

static void unmatched(int source) {
    MPI_Request request;
    MPI_Status status;
    int value = 42, cancelled = 0, count = -1;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, source, 9, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 1);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(value, 42);
}

static void matched(void) {
    MPI_Request request;
    MPI_Status status;
    int in = 0, out = 7, cancelled = 1;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 10, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 10, MPI_COMM_SELF));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 0);
    CHECK_EQ(in, 7);
}

// The message meant for a cancelled receive goes to the next one.
static void the_next_gets_it(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int in[3] = {0, 0, 0}, cancelled = -1;
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : 0, 11, MPI_COMM_SELF, &requests[i]));
    CHECK_OK(MPI_Cancel(&requests[0]));
    CHECK_OK(MPI_Cancel(&requests[1]));
    int out = 55;
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 11, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitall(3, requests, statuses));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Test_cancelled(&statuses[i], &cancelled));
        CHECK_EQ(cancelled, i < 2);
        CHECK_EQ(in[i], i < 2 ? 0 : 55);
    }
}

static void persistent(void) {
    MPI_Request request;
    MPI_Status status;
    int in = 0, out = 3, cancelled = 0;
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, 0, 12, MPI_COMM_SELF, &request));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK_EQ(cancelled, 1);
    }
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 12, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 0);
    CHECK_EQ(in, 3);
    CHECK_OK(MPI_Request_free(&request));
}

static void freed_after_cancel(void) {
    MPI_Request request;
    int in = 0;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 13, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
}

// Racing with the peer's message: either it is cancelled or it has the message, never both, never neither.
static void race(void) {
    if (check_size < 2) return;
    for (int i = 0; i < 200; i++) {
        if (check_rank == 0) {
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, 14, MPI_COMM_WORLD));
        } else if (check_rank == 1) {
            MPI_Request request;
            MPI_Status status;
            int in = -1, cancelled = 0;
            CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 14, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Cancel(&request));
            CHECK_OK(MPI_Wait(&request, &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            if (cancelled) {
                CHECK_EQ(in, -1);
                CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            }
            CHECK_EQ(in, i);
        }
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    unmatched(0);
    unmatched(MPI_ANY_SOURCE);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    matched();
    the_next_gets_it();
    persistent();
    freed_after_cancel();
    race();
    return check_finish();
}
