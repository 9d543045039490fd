// Freed, wrong-kind and garbage handles give the class of the kind asked for, never a crash.
// heddle: only
// abi: standard a handle that was freed may name the next object in its place
#include "check.h"

enum { GARBAGE = 14 };

// Bit patterns that programs with errors have in their handles.
static const uintptr_t garbage[GARBAGE] = {
    1, 2, 7, 0xff, 0x103, 0x1ff, 0x204, 0xfff, 0x1000, 0xdeadbeef, 0xcafebabedeadbeef, 0x7fffffffffff, UINTPTR_MAX, UINTPTR_MAX / 2,
};

static int buf[8], value;

static void ignore_op(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static void as_comm(uintptr_t bits) {
    MPI_Comm comm = (MPI_Comm)bits, out = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    CHECK_CLASS(MPI_Comm_rank(comm, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(comm, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, 0, 0, comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Isend(buf, 1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Irecv(buf, 1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Iprobe(0, 0, comm, &value, MPI_STATUS_IGNORE), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_INT, 0, comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(buf, buf + 4, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(comm, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_split(comm, 0, 0, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_group(comm, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_compare(comm, MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Cartdim_get(comm, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
}

static void as_type(uintptr_t bits) {
    MPI_Datatype type = (MPI_Datatype)bits, out = MPI_DATATYPE_NULL;
    MPI_Aint lb, extent;
    CHECK_CLASS(MPI_Type_size(type, &value), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_extent(type, &lb, &extent), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(buf, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv(buf, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(buf, 1, type, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(buf, buf + 4, 1, type, MPI_SUM, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(2, type, &out), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_commit(&type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
}

static void as_op(uintptr_t bits) {
    MPI_Op op = (MPI_Op)bits;
    CHECK_CLASS(MPI_Allreduce(buf, buf + 4, 1, MPI_INT, op, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(buf, buf + 4, 1, MPI_INT, op), MPI_ERR_OP);
    CHECK_CLASS(MPI_Op_commutative(op, &value), MPI_ERR_OP);
    CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
}

static void as_request(uintptr_t bits) {
    MPI_Request request = (MPI_Request)bits;
    MPI_Status status;
    int index = 0;
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Test(&request, &value, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitany(1, &request, &index, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testall(1, &request, &value, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status(request, &value, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
}

static void as_others(uintptr_t bits) {
    MPI_Group group = (MPI_Group)bits, out = MPI_GROUP_NULL;
    MPI_Info info = (MPI_Info)bits;
    MPI_Errhandler handler = (MPI_Errhandler)bits;
    MPI_Message message = (MPI_Message)bits;
    CHECK_CLASS(MPI_Group_size(group, &value), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_union(group, MPI_GROUP_EMPTY, &out), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_free(&group), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Info_set(info, "key", "value"), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_get_nkeys(info, &value), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_free(&info), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Errhandler_free(&handler), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Mrecv(buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
}

enum { COMM = 1, TYPE = 2, OP = 4, REQUEST = 8, OTHERS = 16, ALL = 31 };

// The value as a handle of every kind but its own.
static void as_all_but(uintptr_t bits, int own) {
    if (!(own & COMM)) as_comm(bits);
    if (!(own & TYPE)) as_type(bits);
    if (!(own & OP)) as_op(bits);
    if (!(own & REQUEST)) as_request(bits);
    if (!(own & OTHERS)) as_others(bits);
}

// Freed handles, also after their storage has been taken again.
static void freed(void) {
    MPI_Comm comm, comm2;
    MPI_Datatype type, type2;
    MPI_Op op, op2;
    MPI_Request request, request2;
    MPI_Group group;
    MPI_Info info;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Op_create(ignore_op, 1, &op));
    CHECK_OK(MPI_Recv_init(buf, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Info_create(&info));
    uintptr_t old[4] = {(uintptr_t)comm, (uintptr_t)type, (uintptr_t)op, (uintptr_t)request};
    uintptr_t old_group = (uintptr_t)group, old_info = (uintptr_t)info;

    as_all_but(old[0], COMM);
    as_all_but(old[1], TYPE);
    as_all_but(old[2], OP);
    as_all_but(old[3], REQUEST);

    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Info_free(&info));
    for (int again = 0; again < 2; again++) {
        as_comm(old[0]);
        as_type(old[1]);
        as_op(old[2]);
        as_request(old[3]);
        CHECK_CLASS(MPI_Group_size((MPI_Group)old_group, &value), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Info_get_nkeys((MPI_Info)old_info, &value), MPI_ERR_INFO);
        if (again) break;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm2));
        CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type2));
        CHECK_OK(MPI_Op_create(ignore_op, 1, &op2));
        CHECK_OK(MPI_Recv_init(buf, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request2));
    }
    CHECK_OK(MPI_Comm_free(&comm2));
    CHECK_OK(MPI_Type_free(&type2));
    CHECK_OK(MPI_Op_free(&op2));
    CHECK_OK(MPI_Request_free(&request2));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int g = 0; g < GARBAGE; g++) as_all_but(garbage[g], 0);
    as_all_but((uintptr_t)MPI_COMM_WORLD, COMM);
    as_all_but((uintptr_t)MPI_INT, TYPE);
    as_all_but((uintptr_t)MPI_SUM, OP);
    as_all_but((uintptr_t)MPI_COMM_NULL, 0 | REQUEST);
    as_comm((uintptr_t)MPI_DATATYPE_NULL);
    freed();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_finish();
}
