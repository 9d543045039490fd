// Messages to oneself, on MPI_COMM_SELF and on the world, in every mode and order.
#include "check.h"

static void on(MPI_Comm comm, int n) {
    int me = -1, count = -1, flag = 0;
    unsigned char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    MPI_Request requests[3];
    MPI_Status status;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    pattern_fill(out, (size_t)n, 9);

    // Posted first, then sent in each mode.
    for (int mode = 0; mode < 4; mode++) {
        memset(in, 0, (size_t)n);
        CHECK_OK(MPI_Irecv(in, n, MPI_BYTE, mode % 2 ? MPI_ANY_SOURCE : me, 1, comm, &requests[0]));
        switch (mode) {
        case 0: CHECK_OK(MPI_Send(out, n, MPI_BYTE, me, 1, comm)); break;
        case 1: CHECK_OK(MPI_Ssend(out, n, MPI_BYTE, me, 1, comm)); break;
        case 2: CHECK_OK(MPI_Rsend(out, n, MPI_BYTE, me, 1, comm)); break;
        default: CHECK_OK(MPI_Bsend(out, n, MPI_BYTE, me, 1, comm)); break;
        }
        CHECK_OK(MPI_Wait(&requests[0], &status));
        CHECK_EQ(status.MPI_SOURCE, me);
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_EQ(count, n);
        CHECK_PATTERN(in, (size_t)n, 9);
    }

    // Sent first: an Issend waits, an Isend need not.
    memset(in, 0, (size_t)n);
    CHECK_OK(MPI_Issend(out, n, MPI_BYTE, me, 2, comm, &requests[0]));
    CHECK_OK(MPI_Isend(out, n / 2, MPI_BYTE, me, 2, comm, &requests[1]));
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Iprobe(me, MPI_ANY_TAG, comm, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Recv(in, n, MPI_BYTE, me, 2, comm, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, n);
    CHECK_PATTERN(in, (size_t)n, 9);
    CHECK_OK(MPI_Recv(in, n, MPI_BYTE, me, 2, comm, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, n / 2);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

static void many(MPI_Comm comm) {
    enum { COUNT = 1000 };
    int me, in[COUNT], out[COUNT];
    MPI_Request requests[2 * COUNT];
    CHECK_OK(MPI_Comm_rank(comm, &me));
    for (int i = 0; i < COUNT; i++) {
        out[i] = i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, me, i, comm, &requests[i]));
    }
    for (int i = COUNT - 1; i >= 0; i--) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, me, i, comm, &requests[COUNT + i]));
    CHECK_OK(MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) CHECK_EQ(in[i], i);
}

// Small messages: the same tag on both communicators at once, exchanges, probes, and ranks that do not exist.
static void small(void) {
    int out[2] = {11, 22}, in[2] = {-1, -1}, flag = -1, count = -1;
    MPI_Status status;
    MPI_Request requests[2];
    CHECK_OK(MPI_Send(&out[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF));
    CHECK_OK(MPI_Send(&out[1], 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(0, 6, MPI_COMM_SELF, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, &status));
    CHECK(flag == 1 && status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 1);
    CHECK_OK(MPI_Recv(&in[1], 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&in[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(in[0] == 11 && in[1] == 22);

    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[1]));
    CHECK_OK(MPI_Isend(&out[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF, &(MPI_Request){MPI_REQUEST_NULL}));
    CHECK_OK(MPI_Wait(&requests[1], &status));
    CHECK(status.MPI_SOURCE == 0 && in[1] == 11);
    CHECK_OK(MPI_Test(&requests[0], &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Rsend(&out[1], 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_SOURCE == check_rank && in[0] == 22);

    for (int i = 0; i < 100; i++) {
        in[0] = -1;
        CHECK_OK(MPI_Sendrecv(&i, 1, MPI_INT, 0, i, &in[0], 1, MPI_INT, 0, i, MPI_COMM_SELF, &status));
        CHECK(in[0] == i && status.MPI_SOURCE == 0 && status.MPI_TAG == i);
    }

    MPI_Errhandler before;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &before));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Send(out, 1, MPI_INT, 1, 5, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Isend(out, 1, MPI_INT, -7, 5, MPI_COMM_SELF, &requests[0]), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(in, 1, MPI_INT, 1, 5, MPI_COMM_SELF, &requests[0]), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(in, 1, MPI_INT, 1, 5, MPI_COMM_SELF, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(1, 5, MPI_COMM_SELF, &flag, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(out, 1, MPI_INT, 0, -5, MPI_COMM_SELF), MPI_ERR_TAG);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, before));
    CHECK_OK(MPI_Errhandler_free(&before));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const int sizes[] = {0, 2, 40, 64, 1000, 20000, 200000, 3000000};
    int room = 3000000 + MPI_BSEND_OVERHEAD, got = 0;
    void *attached = check_alloc((size_t)room), *detached = NULL;
    CHECK_OK(MPI_Buffer_attach(attached, room));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        on(MPI_COMM_SELF, sizes[s]);
        on(MPI_COMM_WORLD, sizes[s]);
    }
    small();
    many(MPI_COMM_SELF);
    many(MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_detach(&detached, &got));
    free(attached);
    return check_finish();
}
