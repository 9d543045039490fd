// Requests in unusual states: looked at before they are taken, freed while active, inactive in arrays, cancelled too late;
// duplicates of communicators that are used as soon as their request is seen to be complete.
// ranks: 1 2
#include "check.h"

enum { LARGE = 100000 };

static int to, from;

static void idup_seen(void) {
    MPI_Comm comm;
    MPI_Request request, message;
    MPI_Status status;
    int flag = 0, in = -1, out = check_rank + 3;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    while (!flag) CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    // It is complete, and so may be used; the request is still there.
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, 0, comm, &message));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, 0, comm));
    CHECK_OK(MPI_Wait(&message, MPI_STATUS_IGNORE));
    CHECK_EQ(in, from + 3);
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void freed_receive(void) {
    int *in = check_alloc(sizeof(int) * LARGE), *out = check_alloc(sizeof(int) * LARGE), news = 0, sync = 0;
    MPI_Request receive, send;
    for (int n = 1; n <= LARGE; n *= 100000) {
        out[n - 1] = n + check_rank;
        CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, 1, MPI_COMM_WORLD, &receive));
        CHECK_OK(MPI_Request_free(&receive));
        CHECK(receive == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Issend(out, n, MPI_INT, to, 1, MPI_COMM_WORLD, &send));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        // Waits for the news that the peer's message, and so this rank's, has been received. It has the same tag, so it comes
        // behind the pieces of that.
        CHECK_OK(MPI_Sendrecv(&news, 1, MPI_INT, from, 1, &sync, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_EQ(in[n - 1], n + from);
        memset(in, 0, sizeof(int) * LARGE);
    }
    free(in), free(out);
}

// A persistent receive is freed while it is active: it receives once more, and then is gone.
static void freed_persistent(void) {
    int in = -1, out = check_rank + 5;
    MPI_Request receive;
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Ssend(&out, 1, MPI_INT, (check_rank + 1) % check_size, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(in, from + 5);
}

static void inactive_in_arrays(void) {
    int in[3] = {-1, -1, -1}, out = check_rank, flag = 0, index = -1, count = 0, indices[4];
    MPI_Request requests[4] = {MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Recv_init(&in[i], 1, MPI_INT, from, 10 + i, MPI_COMM_WORLD, &requests[i + 1]));
    CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Waitany(4, requests, &index, statuses));
    CHECK_EQ(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Start(&requests[2]));
    CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Testsome(4, requests, &count, indices, statuses));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, 11, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitsome(4, requests, &count, indices, statuses));
    CHECK(count == 1 && indices[0] == 2 && statuses[0].MPI_TAG == 11);
    CHECK_EQ(in[1], from);
    CHECK(requests[2] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Waitall(4, requests, statuses));
    CHECK(statuses[2].MPI_SOURCE == MPI_ANY_SOURCE && statuses[2].MPI_ERROR == MPI_SUCCESS);
    for (int i = 1; i < 4; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void cancelled_too_late(int n) {
    int *in = check_alloc(sizeof(int) * LARGE), *out = check_alloc(sizeof(int) * LARGE), flag = -1, count = -1;
    MPI_Request receive, send;
    MPI_Status status;
    CHECK_OK(MPI_Isend(out, n, MPI_INT, to, 4, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Probe(from, 4, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, 4, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Cancel(&receive));
    CHECK_OK(MPI_Wait(&receive, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, n);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    free(in), free(out);
}

// The status of MPI_PROC_NULL in all forms.
static void nobody(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;
    int flag = 0, in = 9, out = 8, count = -1;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Request_get_status(requests[0], &flag, &statuses[0]));
    CHECK(flag == 1 && statuses[0].MPI_SOURCE == MPI_PROC_NULL && statuses[0].MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    for (int i = 0; i < 2; i++) {
        if (i == 0 || !oracle) CHECK(statuses[i].MPI_SOURCE == MPI_PROC_NULL && statuses[i].MPI_TAG == MPI_ANY_TAG);
        CHECK_OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
        CHECK_EQ(count, 0);
    }
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &statuses[0]));
    CHECK(message == MPI_MESSAGE_NO_PROC && statuses[0].MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &statuses[0]));
    CHECK(message == MPI_MESSAGE_NULL && statuses[0].MPI_SOURCE == MPI_PROC_NULL);
    CHECK_OK(MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], &statuses[0]));
    CHECK_EQ(statuses[0].MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(in, 9);
}

// The largest tag works everywhere; one more is refused.
static void largest_tag(void) {
    int *upper = NULL, flag = 0, in = -1, out = check_rank;
    MPI_Status status;
    MPI_Comm quiet;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag));
    CHECK(flag && *upper >= 32767);
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, *upper, &in, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_TAG == *upper && in == from);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
    CHECK_OK(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Send(&out, 1, MPI_INT, 0, -5, quiet), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&out, 1, MPI_INT, 0, MPI_ANY_TAG, quiet), MPI_ERR_TAG);
    if (*upper < 2147483647) CHECK_CLASS(MPI_Send(&out, 1, MPI_INT, 0, *upper + 1, quiet), MPI_ERR_TAG);
    CHECK_OK(MPI_Comm_free(&quiet));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < 10; i++) idup_seen();
    freed_receive();
    if (check_size > 1) freed_persistent();
    inactive_in_arrays();
    cancelled_too_late(1);
    cancelled_too_late(LARGE);
    nobody();
    largest_tag();
    return check_finish();
}
