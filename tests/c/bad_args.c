// Wrong arguments give the right error class under MPI_ERRORS_RETURN, and nothing is broken afterwards.
#include "check.h"

static int buf[64];
static MPI_Comm comm;
static MPI_Datatype uncommitted;

// The communicator that gets the errors of calls without a valid communicator or without any object.
static void quiet(void) {
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
}

typedef int (*send_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void sends(void) {
    static const send_function blocking[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    static const isend_function nonblocking[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend, MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    int *tag_ub = NULL, flag = 0;
    CHECK_OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &tag_ub, &flag));
    for (size_t f = 0; f < sizeof blocking / sizeof *blocking; f++) {
        send_function send = blocking[f];
        CHECK_CLASS(send(buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
        CHECK_CLASS(send(buf, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
        CHECK_CLASS(send(buf, 1, MPI_INT, check_size, 0, comm), MPI_ERR_RANK);
        CHECK_CLASS(send(buf, 1, MPI_INT, -100, 0, comm), MPI_ERR_RANK);
        CHECK_CLASS(send(buf, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
        CHECK_CLASS(send(buf, 1, MPI_INT, 0, -1, comm), MPI_ERR_TAG);
        CHECK_CLASS(send(buf, 1, MPI_INT, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);
        if (*tag_ub < INT32_MAX) CHECK_CLASS(send(buf, 1, MPI_INT, 0, *tag_ub + 1, comm), MPI_ERR_TAG);
        CHECK_CLASS(send(buf, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
        CHECK_CLASS(send(buf, 1, uncommitted, 0, 0, comm), MPI_ERR_TYPE);
        CHECK_CLASS(send(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
    }
    for (size_t f = 0; f < sizeof nonblocking / sizeof *nonblocking; f++) {
        isend_function isend = nonblocking[f];
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK_CLASS(isend(buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request), MPI_ERR_COMM);
        CHECK_CLASS(isend(buf, -1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
        CHECK_CLASS(isend(buf, 1, MPI_INT, check_size, 0, comm, &request), MPI_ERR_RANK);
        CHECK_CLASS(isend(buf, 1, MPI_INT, 0, -1, comm, &request), MPI_ERR_TAG);
        CHECK_CLASS(isend(buf, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request), MPI_ERR_TYPE);
        CHECK_CLASS(isend(buf, 1, uncommitted, 0, 0, comm, &request), MPI_ERR_TYPE);
        CHECK_CLASS(isend(NULL, 1, MPI_INT, 0, 0, comm, &request), MPI_ERR_BUFFER);
        if (!oracle) CHECK_CLASS(isend(buf, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    }
}

static void receives(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &status), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Recv(buf, -1, MPI_INT, 0, 0, comm, &status), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, check_size, 0, comm, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, -50, 0, comm, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, 0, -50, comm, &status), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_DATATYPE_NULL, 0, 0, comm, &status), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv(NULL, 1, MPI_INT, 0, 0, comm, &status), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Irecv(buf, 1, MPI_INT, check_size, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(buf, -1, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irecv(buf, 1, uncommitted, 0, 0, comm, &request), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Irecv(NULL, 1, MPI_INT, 0, 0, comm, &request), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Recv_init(buf, 1, MPI_INT, 0, -50, comm, &request), MPI_ERR_TAG);
    int flag = 0;
    CHECK_CLASS(MPI_Probe(check_size, 0, comm, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(0, -50, comm, &flag, &status), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Iprobe(0, 0, MPI_COMM_NULL, &flag, &status), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Sendrecv(buf, 1, MPI_INT, check_size, 0, buf + 8, 1, MPI_INT, 0, 0, comm, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, buf + 8, -1, MPI_INT, 0, 0, comm, &status), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Sendrecv_replace(buf, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, comm, &status), MPI_ERR_TYPE);
    MPI_Message none = MPI_MESSAGE_NULL;
    if (!oracle) CHECK_CLASS(MPI_Mrecv(buf, 1, MPI_INT, &none, &status), MPI_ERR_REQUEST);
}

static void requests(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    // Only persistent requests can be started, and only when they are inactive.
    int in = 0, out = 3;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 3);
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Start(&request));
    if (!oracle) CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    static char room[8192];
    void *back = NULL;
    int size = 0;
    CHECK_CLASS(MPI_Buffer_attach(room, -5), MPI_ERR_ARG);
    CHECK_OK(MPI_Buffer_attach(room, sizeof room));
    CHECK_CLASS(MPI_Buffer_attach(room, sizeof room), oracle ? MPI_ERR_OTHER : MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
}

static void collectives(void) {
    int counts[16] = {0}, displs[16] = {0};
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(buf, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_INT, check_size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(buf, 1, uncommitted, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Reduce(buf, buf + 8, 1, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce(buf, buf + 8, 1, MPI_INT, MPI_SUM, check_size, comm), MPI_ERR_ROOT);
    if (!oracle) CHECK_CLASS(MPI_Reduce(buf, buf + 8, 1, MPI_INT, MPI_REPLACE, 0, comm), MPI_ERR_OP);
    if (!oracle) CHECK_CLASS(MPI_Allreduce(buf, buf + 8, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    if (!oracle) CHECK_CLASS(MPI_Allreduce(buf, buf + 8, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(buf, buf, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER); // aliased
    // The same of blocks; but buffers may begin together where blocks do not.
    int one[] = {1}, first[] = {0}, later[] = {2};
    const MPI_Comm self = MPI_COMM_SELF;
    if (!oracle) {
        CHECK_CLASS(MPI_Gatherv(buf, 1, MPI_INT, buf, one, first, MPI_INT, 0, self), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Scatterv(buf, one, first, MPI_INT, buf, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Allgatherv(&buf[2], 1, MPI_INT, buf, one, later, MPI_INT, self), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Alltoallv(buf, one, first, MPI_INT, buf, one, first, MPI_INT, self), MPI_ERR_BUFFER);
        CHECK_OK(MPI_Gatherv(buf, 1, MPI_INT, buf, one, later, MPI_INT, 0, self));
        CHECK_OK(MPI_Scatterv(buf, one, later, MPI_INT, buf, 1, MPI_INT, 0, self));
        CHECK_OK(MPI_Alltoallv(buf, one, first, MPI_INT, buf, one, later, MPI_INT, self));
    }
    CHECK_CLASS(MPI_Gather(buf, -1, MPI_INT, buf + 8, 1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scatter(buf, 1, MPI_INT, buf + 32, 1, MPI_INT, check_size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allgather(buf, 1, MPI_DATATYPE_NULL, buf + 8, 1, MPI_INT, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Alltoall(buf, -2, MPI_INT, buf + 8, 1, MPI_INT, comm), MPI_ERR_COUNT);
    counts[0] = -1;
    CHECK_CLASS(MPI_Allgatherv(buf, 0, MPI_INT, buf + 8, counts, displs, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scan(buf, buf + 8, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    if (!oracle) CHECK_CLASS(MPI_Reduce_local(buf, buf + 8, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
}

static void objects(void) {
    MPI_Comm c = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Datatype t = MPI_DATATYPE_NULL, predefined = MPI_INT;
    MPI_Op op = MPI_SUM, no_op = MPI_OP_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int value = 0;
    CHECK_CLASS(MPI_Comm_free(&c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK(world == MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(comm, NULL), MPI_ERR_ARG);
    if (!oracle) CHECK_CLASS(MPI_Comm_split(comm, -5, 0, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create(comm, MPI_GROUP_NULL, &c), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Errhandler_free(&handler), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    CHECK(MPI_Type_vector(1, -1, 1, MPI_INT, &t) != MPI_SUCCESS); // an argument or a count
    CHECK_CLASS(MPI_Type_indexed(-1, NULL, NULL, MPI_INT, &t), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_commit(&t), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK_CLASS(MPI_Op_free(&no_op), MPI_ERR_OP);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    CHECK_CLASS(MPI_Get_count(&status, MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    quiet();
    for (int i = 0; i < 3; i++) {
        sends();
        receives();
        requests();
        collectives();
        objects();
    }
    // Correct calls still work after all that.
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    CHECK_OK(MPI_Type_free(&uncommitted));
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
