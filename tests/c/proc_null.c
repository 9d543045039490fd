// MPI_PROC_NULL as the peer of every point-to-point call: complete at once, no data, an empty status.
#include "check.h"

static int value = 17;

static void is_nobody(const MPI_Status *status) {
    int count = -1;
    CHECK_EQ(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    CHECK_EQ(value, 17);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Status status;
    MPI_Request request;
    MPI_Comm comm = MPI_COMM_WORLD;
    int flag = 0;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    CHECK_OK(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    flag = 0;
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 1);
    is_nobody(&status);
    CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 0, MPI_INT, MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    CHECK_OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    CHECK_OK(MPI_Probe(MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    flag = 0;
    CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &flag, &status));
    CHECK_EQ(flag, 1);
    is_nobody(&status);

    // Without data the datatype may be null, as in other libraries.
    MPI_Datatype none = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Send(NULL, 0, none, MPI_PROC_NULL, 1, comm));
    CHECK_OK(MPI_Recv(NULL, 0, none, MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    CHECK_OK(MPI_Isend(NULL, 0, none, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(NULL, 0, none, MPI_PROC_NULL, 1, comm, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    is_nobody(&status);
    CHECK_OK(MPI_Sendrecv(NULL, 0, none, MPI_PROC_NULL, 1, NULL, 0, none, MPI_PROC_NULL, 1, comm, &status));
    is_nobody(&status);
    int self = 3, back = 0;
    CHECK_OK(MPI_Isend(&self, 1, MPI_INT, check_rank, 9, comm, &request));
    CHECK_OK(MPI_Sendrecv(NULL, 0, none, MPI_PROC_NULL, 1, &back, 1, MPI_INT, check_rank, 9, comm, &status));
    CHECK_EQ(back, 3);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Send(NULL, 0, none, check_rank, 1, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Sendrecv_replace(NULL, 0, none, MPI_PROC_NULL, 1, check_rank, 1, comm, &status), MPI_ERR_TYPE);
    if (!oracle) CHECK_CLASS(MPI_Recv(NULL, 1, none, MPI_PROC_NULL, 1, comm, &status), MPI_ERR_TYPE);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));

    MPI_Request pair[2];
    MPI_Status statuses[2];
    CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &pair[0]));
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &pair[1]));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Startall(2, pair));
        CHECK_OK(MPI_Waitall(2, pair, statuses));
        if (!oracle) is_nobody(&statuses[1]);
    }
    CHECK_OK(MPI_Request_free(&pair[0]));
    CHECK_OK(MPI_Request_free(&pair[1]));

    // The cheap case in large numbers: no memory piles up.
    for (int i = 0; i < 100000; i++) {
        if (!CHECK_OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request))) break;
        if (!CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE))) break;
    }
    return check_finish();
}
