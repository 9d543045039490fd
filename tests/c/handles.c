// Handles as integers and back; predefined handles have the values of the ABI.
#include "check.h"

#define ROUND_TRIP(to, from, handle) CHECK(from(to(handle)) == (handle))

static void predefined(void) {
    ROUND_TRIP(MPI_Comm_toint, MPI_Comm_fromint, MPI_COMM_WORLD);
    ROUND_TRIP(MPI_Comm_toint, MPI_Comm_fromint, MPI_COMM_SELF);
    ROUND_TRIP(MPI_Comm_toint, MPI_Comm_fromint, MPI_COMM_NULL);
    ROUND_TRIP(MPI_Group_toint, MPI_Group_fromint, MPI_GROUP_EMPTY);
    ROUND_TRIP(MPI_Group_toint, MPI_Group_fromint, MPI_GROUP_NULL);
    ROUND_TRIP(MPI_Type_toint, MPI_Type_fromint, MPI_INT);
    ROUND_TRIP(MPI_Type_toint, MPI_Type_fromint, MPI_DATATYPE_NULL);
    ROUND_TRIP(MPI_Op_toint, MPI_Op_fromint, MPI_MAXLOC);
    ROUND_TRIP(MPI_Errhandler_toint, MPI_Errhandler_fromint, MPI_ERRORS_RETURN);
    ROUND_TRIP(MPI_Info_toint, MPI_Info_fromint, MPI_INFO_ENV);
    ROUND_TRIP(MPI_Request_toint, MPI_Request_fromint, MPI_REQUEST_NULL);
    ROUND_TRIP(MPI_Message_toint, MPI_Message_fromint, MPI_MESSAGE_NO_PROC);
    ROUND_TRIP(MPI_Win_toint, MPI_Win_fromint, MPI_WIN_NULL);
    ROUND_TRIP(MPI_File_toint, MPI_File_fromint, MPI_FILE_NULL);
    ROUND_TRIP(MPI_Session_toint, MPI_Session_fromint, MPI_SESSION_NULL);
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), (intptr_t)MPI_COMM_WORLD);
    CHECK_EQ(MPI_Type_toint(MPI_DOUBLE), (intptr_t)MPI_DOUBLE);
    CHECK_EQ(MPI_Op_toint(MPI_SUM), (intptr_t)MPI_SUM);
}

static void ignore_op(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static void ignore_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

static void of_our_own(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Op_create(ignore_op, 1, &op));
    CHECK_OK(MPI_Comm_create_errhandler(ignore_error, &handler));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request));
    ROUND_TRIP(MPI_Comm_toint, MPI_Comm_fromint, comm);
    ROUND_TRIP(MPI_Group_toint, MPI_Group_fromint, group);
    ROUND_TRIP(MPI_Type_toint, MPI_Type_fromint, type);
    ROUND_TRIP(MPI_Op_toint, MPI_Op_fromint, op);
    ROUND_TRIP(MPI_Errhandler_toint, MPI_Errhandler_fromint, handler);
    ROUND_TRIP(MPI_Info_toint, MPI_Info_fromint, info);
    ROUND_TRIP(MPI_Request_toint, MPI_Request_fromint, request);

    // The handle that came back is as good as the first.
    MPI_Comm again = MPI_Comm_fromint(MPI_Comm_toint(comm));
    int size = 0;
    CHECK_OK(MPI_Comm_size(again, &size));
    CHECK_EQ(size, check_size);
    CHECK_OK(MPI_Barrier(again));

    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    predefined();
    of_our_own();
    return check_finish();
}
