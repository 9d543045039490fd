// The errors of requests whose communicator was freed meanwhile run that communicator's own error handler.
// ranks: 1 2
// oracle: skip it crashes when such an error is reported
#include "check.h"

enum { ROUNDS = 3, PARENTS = 4 };

static int calls, last_class;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    calls++;
    MPI_Error_class(*code, &last_class);
}

static void check_called_once(void) {
    CHECK_EQ(calls, 1);
    CHECK_EQ(last_class, MPI_ERR_TRUNCATE);
    calls = 0, last_class = MPI_SUCCESS;
}

static MPI_Comm watched_comm(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    return comm;
}

// Another communicator is made and freed, so that the library searches the earlier ones that it still keeps.
static void disturb(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
}

// A receive of one int gets two.
static void wait_and_test(int with_test) {
    int in = -1, out[2] = {1, 2}, flag = 0, to = (check_rank + 1) % check_size;
    MPI_Request receive, send;
    MPI_Comm comm = watched_comm();
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &receive));
    CHECK_OK(MPI_Isend(out, 2, MPI_INT, to, 0, comm, &send));
    CHECK_OK(MPI_Comm_free(&comm));
    disturb();
    MPI_Status status;
    if (with_test) {
        int code = MPI_SUCCESS;
        while (!flag && code == MPI_SUCCESS) code = MPI_Test(&receive, &flag, &status);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK_EQ(flag, 1);
    } else {
        CHECK_CLASS(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE);
    }
    check_called_once();
    CHECK(receive == MPI_REQUEST_NULL);
    CHECK_EQ(in, 1);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    disturb();
}

// Several freed communicators exist at once, each with a request; they end in another order than they were freed.
static void several(void) {
    int in[PARENTS], out[2] = {3, 4}, to = (check_rank + 1) % check_size;
    MPI_Request receives[PARENTS], sends[PARENTS];
    for (int i = 0; i < PARENTS; i++) {
        MPI_Comm comm = watched_comm();
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &receives[i]));
        CHECK_OK(MPI_Isend(out, 2, MPI_INT, to, 0, comm, &sends[i]));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Waitall(PARENTS, sends, MPI_STATUSES_IGNORE));
    for (int i = PARENTS - 1; i >= 0; i--) {
        CHECK_CLASS(MPI_Wait(&receives[i], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        check_called_once();
        disturb();
    }
}

// MPI_Waitall calls the handler once, with MPI_ERR_IN_STATUS.
static void array(void) {
    int in[2], out[2] = {5, 6}, to = (check_rank + 1) % check_size;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Comm comm = watched_comm();
    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &requests[0]));
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &requests[1]));
    CHECK_OK(MPI_Isend(out, 1, MPI_INT, to, 0, comm, &requests[2]));
    CHECK_OK(MPI_Isend(out, 2, MPI_INT, to, 1, comm, &requests[3]));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_EQ(calls, 1);
    CHECK_EQ(last_class, MPI_ERR_IN_STATUS);
    calls = 0, last_class = MPI_SUCCESS;
    CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
}

static void persistent(void) {
    int in = -1, out[2] = {7, 8}, to = (check_rank + 1) % check_size;
    MPI_Request receive, send;
    MPI_Comm comm = watched_comm();
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &receive));
    CHECK_OK(MPI_Send_init(out, 2, MPI_INT, to, 0, comm, &send));
    CHECK_OK(MPI_Comm_free(&comm));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Start(&send));
        disturb();
        CHECK_CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        check_called_once();
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        disturb();
    }
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Request_free(&send));
}

// A message that was matched before and is received after the end of its communicator.
static void matched(void) {
    int in = -1, out[2] = {9, 10}, to = (check_rank + 1) % check_size;
    MPI_Request send;
    MPI_Message message;
    MPI_Comm comm = watched_comm();
    CHECK_OK(MPI_Isend(out, 2, MPI_INT, to, 0, comm, &send));
    CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 0, comm, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
    disturb();
    CHECK_CLASS(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_called_once();
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    wait_and_test(0);
    wait_and_test(1);
    several();
    array();
    persistent();
    matched();
    return check_finish();
}
