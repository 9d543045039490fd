/* The side in C of program.F90: handles, statuses and attributes that go from one language to the other. */
#include <mpi.h>

#include <stdint.h>
#include <string.h>

/* Returns the rank of this process in a communicator of Fortran's, or -1 if C finds a difference. */
int rank_in_c(MPI_Fint comm) {
    MPI_Comm of_c = MPI_Comm_f2c(comm);
    int rank = -1;
    if (MPI_Comm_c2f(of_c) != comm) return -1;
    return MPI_Comm_rank(of_c, &rank) == MPI_SUCCESS ? rank : -1;
}

/* Objects that C makes. */
MPI_Fint duplicate_in_c(MPI_Fint comm) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_Comm_f2c(comm), &made);
    return MPI_Comm_c2f(made);
}

MPI_Fint every_other_in_c(int count) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(count, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    return MPI_Type_c2f(made);
}

static void add_twice(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    (void)datatype;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += 2 * ((int *)in)[i];
}

MPI_Fint operator_in_c(void) {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(add_twice, 1, &made);
    return MPI_Op_c2f(made);
}

/* Begins a receive for Fortran to wait for, or waits for one that Fortran has begun. */
MPI_Fint receive_in_c(void *buf, int count, int source, int tag, MPI_Fint comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buf, count, MPI_INT, source, tag, MPI_Comm_f2c(comm), &request);
    return MPI_Request_c2f(request);
}

void wait_in_c(MPI_Fint *request, MPI_Fint *status) {
    MPI_Request of_c = MPI_Request_f2c(*request);
    MPI_Status done;
    memset(&done, 0xff, sizeof done);
    MPI_Wait(&of_c, &done);
    *request = MPI_Request_c2f(of_c);
    MPI_Status_c2f(&done, status);
}

/* Returns the tag in a status of Fortran's, and stores its number of integers in *count. */
int tag_in_c(const MPI_Fint *status, int *count) {
    MPI_Status of_c;
    MPI_Status_f2c(status, &of_c);
    MPI_Get_count(&of_c, MPI_INT, count);
    return of_c.MPI_TAG;
}

/* A copy callback in C for an attribute of Fortran's: the copy is greater by one. */
static MPI_Aint copied;
static int copy_of_attribute(MPI_Comm comm, int keyval, void *state, void *given, void *result, int *flag) {
    (void)comm, (void)keyval, (void)state;
    copied = *(MPI_Aint *)given + 1;
    *(void **)result = &copied;
    *flag = 1;
    return MPI_SUCCESS;
}

int keyval_in_c(void) {
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_of_attribute, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

/* C has a pointer to an attribute that Fortran has set. */
MPI_Aint attribute_in_c(MPI_Fint comm, int keyval) {
    MPI_Aint *value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &value, &flag);
    return flag ? *value : -1;
}

/* Fortran has the pointer that C has set, which this returns, as an integer. */
MPI_Aint set_attribute_in_c(MPI_Fint comm, int keyval) {
    static MPI_Aint value = 77;
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), keyval, &value);
    return (MPI_Aint)&value;
}

/* All kinds of handles that have constants come back as they were. */
int constants_in_c(MPI_Fint comm, MPI_Fint group, MPI_Fint type, MPI_Fint op, MPI_Fint request, MPI_Fint info, MPI_Fint errhandler, MPI_Fint win, MPI_Fint message) {
    return MPI_Comm_f2c(comm) == MPI_COMM_SELF && MPI_Group_f2c(group) == MPI_GROUP_EMPTY && MPI_Type_f2c(type) == MPI_DOUBLE_PRECISION
        && MPI_Op_f2c(op) == MPI_MAXLOC && MPI_Request_f2c(request) == MPI_REQUEST_NULL && MPI_Info_f2c(info) == MPI_INFO_ENV
        && MPI_Errhandler_f2c(errhandler) == MPI_ERRORS_RETURN && MPI_Win_f2c(win) == MPI_WIN_NULL && MPI_Message_f2c(message) == MPI_MESSAGE_NO_PROC;
}
