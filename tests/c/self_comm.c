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
    many(MPI_COMM_SELF);
    many(MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_detach(&detached, &got));
    free(attached);
    return check_finish();
}
