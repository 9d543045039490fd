// Handles and statuses as Fortran has them: MPI_Fint, MPI_X_c2f, MPI_X_f2c, and the forms of a status.
// ranks: 1-2
#include "check.h"

#define BOTH_WAYS(kind, handle) CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle))

static void never_called(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static void handles(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Errhandler errhandler;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Request request;
    MPI_Win win;
    int value = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &errhandler));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Op_create(never_called, 1, &op));
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request));
    CHECK_OK(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &win));
    BOTH_WAYS(Comm, comm);
    BOTH_WAYS(Comm, MPI_COMM_WORLD);
    BOTH_WAYS(Comm, MPI_COMM_NULL);
    BOTH_WAYS(Type, type);
    BOTH_WAYS(Type, MPI_INT);
    BOTH_WAYS(Errhandler, errhandler);
    BOTH_WAYS(Errhandler, MPI_ERRORS_RETURN);
    BOTH_WAYS(File, MPI_FILE_NULL);
    BOTH_WAYS(Group, group);
    BOTH_WAYS(Group, MPI_GROUP_EMPTY);
    BOTH_WAYS(Info, info);
    BOTH_WAYS(Info, MPI_INFO_NULL);
    BOTH_WAYS(Message, MPI_MESSAGE_NO_PROC);
    BOTH_WAYS(Op, op);
    BOTH_WAYS(Op, MPI_SUM);
    BOTH_WAYS(Request, request);
    BOTH_WAYS(Request, MPI_REQUEST_NULL);
    BOTH_WAYS(Session, MPI_SESSION_NULL);
    BOTH_WAYS(Win, win);
    CHECK(PMPI_Comm_f2c(PMPI_Comm_c2f(comm)) == comm);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
}

// The count and the cancelled flag survive each way.
static void same(const MPI_Status *status) {
    int count = -1, cancelled = -1;
    CHECK_EQ(status->MPI_SOURCE, check_rank);
    CHECK_EQ(status->MPI_TAG, 7);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 3);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(cancelled, 0);
}

static void statuses(void) {
    int out[3] = {1, 2, 3}, in[3];
    MPI_Status status, back;
    MPI_Fint f[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
    MPI_F08_status f08;
    CHECK_OK(MPI_Sendrecv(out, 3, MPI_INT, check_rank, 7, in, 3, MPI_INT, check_rank, 7, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Status_c2f(&status, f));
    CHECK_EQ(f[MPI_F_SOURCE], check_rank);
    CHECK_EQ(f[MPI_F_TAG], 7);
    memset(&back, 0xff, sizeof back);
    CHECK_OK(MPI_Status_f2c(f, &back));
    same(&back);
    CHECK_OK(MPI_Status_c2f08(&status, &f08));
    CHECK_EQ(f08.MPI_TAG, 7);
    memset(&back, 0xff, sizeof back);
    CHECK_OK(MPI_Status_f082c(&f08, &back));
    same(&back);
    memset(&f08, 0xff, sizeof f08);
    CHECK_OK(MPI_Status_f2f08(f, &f08));
    CHECK_OK(MPI_Status_f082f(&f08, again));
    CHECK(memcmp(f, again, sizeof f) == 0);
    if (!oracle) {
        CHECK(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back) == MPI_ERR_ARG);
        CHECK(MPI_Status_c2f08(&status, MPI_F08_STATUS_IGNORE) == MPI_ERR_ARG);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    handles();
    statuses();
    return check_finish();
}
