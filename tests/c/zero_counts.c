// Nothing is a legal amount everywhere: no elements at no address, no requests, types and groups of nothing.
// ranks: 1 2 3
#include "check.h"

static MPI_Datatype committed(MPI_Datatype type) {
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void messages(MPI_Datatype type, int count) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, got = -1, flag = -1;
    MPI_Request requests[2];
    MPI_Status status;
    CHECK_OK(MPI_Sendrecv(NULL, count, type, to, 1, NULL, count, type, from, 1, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &got));
    CHECK_EQ(got, 0);
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_OK(MPI_Irecv(NULL, count, type, from, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Issend(NULL, count, type, to, 2, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Recv_init(NULL, count, type, from, 3, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_init(NULL, count, type, to, 3, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Sendrecv_replace(NULL, count, type, to, 4, from, 4, MPI_COMM_WORLD, &status));
    // A probe sees a message of nothing; it is received and the next one is another.
    CHECK_OK(MPI_Isend(NULL, count, type, to, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Probe(from, 5, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
    CHECK_EQ(got, 0);
    CHECK_OK(MPI_Recv(NULL, count, type, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Iprobe(from, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void no_requests(void) {
    int index = -7, flag = -7, count = -7;
    MPI_Status status;
    MPI_Request null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int n = 0; n <= 2; n += 2) {
        MPI_Request *none = n == 0 ? NULL : null;
        CHECK_OK(MPI_Waitall(n, none, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Testall(n, none, &flag, MPI_STATUSES_IGNORE));
        CHECK_EQ(flag, 1);
        memset(&status, 1, sizeof status);
        CHECK_OK(MPI_Waitany(n, none, &index, &status));
        CHECK_EQ(index, MPI_UNDEFINED);
        CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == MPI_SUCCESS);
        flag = index = -7;
        CHECK_OK(MPI_Testany(n, none, &index, &flag, &status));
        CHECK(flag == 1 && index == MPI_UNDEFINED);
        CHECK_OK(MPI_Waitsome(n, none, &count, &index, &status));
        CHECK_EQ(count, MPI_UNDEFINED);
        count = -7;
        CHECK_OK(MPI_Testsome(n, none, &count, &index, &status));
        CHECK_EQ(count, MPI_UNDEFINED);
        flag = 0;
        CHECK_OK(MPI_Request_get_status_all(n, none, &flag, MPI_STATUSES_IGNORE));
        CHECK_EQ(flag, 1);
        flag = index = -7;
        CHECK_OK(MPI_Request_get_status_any(n, none, &index, &flag, &status));
        CHECK(flag == 1 && index == MPI_UNDEFINED);
    }
    CHECK_OK(MPI_Startall(0, NULL));
}

static void types(void) {
    MPI_Datatype type;
    MPI_Aint lb = -7, extent = -7;
    int size = -7, got = -7;
    MPI_Status status;
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &type));
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK(size == 0 && extent == 0);
    type = committed(type);
    messages(type, 5);
    // Of a type without size any number of elements fits into nothing: the standard's choice is 0.
    CHECK_OK(MPI_Sendrecv(NULL, 0, type, check_rank, 6, NULL, 0, type, check_rank, 6, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, type, &got));
    CHECK_EQ(got, 0);
    CHECK_OK(MPI_Get_elements(&status, type, &got));
    CHECK_EQ(got, 0);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_vector(0, 3, 5, MPI_INT, &type));
    messages(committed(type), 2);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_vector(3, 0, 5, MPI_INT, &type));
    messages(committed(type), 2);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type));
    messages(committed(type), 1);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
    messages(committed(type), 1);
    CHECK_OK(MPI_Type_free(&type));
    int lengths[2] = {0, 0}, displs[2] = {4, 9};
    CHECK_OK(MPI_Type_indexed(2, lengths, displs, MPI_DOUBLE, &type));
    messages(committed(type), 1);
    CHECK_OK(MPI_Type_free(&type));
}

static int never_called;
static void no_op(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)type;
    if (*len != 0) never_called = 1;
}

static void collectives(MPI_Datatype type, int count) {
    int *zeros = check_alloc((size_t)check_size * sizeof(int)), out = 0, in = 0;
    MPI_Op op;
    CHECK_OK(MPI_Op_create(no_op, 0, &op));
    CHECK_OK(MPI_Bcast(NULL, count, type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Gather(NULL, count, type, NULL, count, type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Gatherv(NULL, count, type, NULL, zeros, zeros, type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Scatter(NULL, count, type, NULL, count, type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Scatterv(NULL, zeros, zeros, type, NULL, count, type, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allgather(NULL, count, type, NULL, count, type, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allgatherv(NULL, count, type, NULL, zeros, zeros, type, MPI_COMM_WORLD));
    CHECK_OK(MPI_Alltoall(NULL, count, type, NULL, count, type, MPI_COMM_WORLD));
    CHECK_OK(MPI_Alltoallv(&out, zeros, zeros, type, &in, zeros, zeros, type, MPI_COMM_WORLD));
    if (count == 0) {
        CHECK_OK(MPI_Reduce(NULL, NULL, 0, type, op, 0, MPI_COMM_WORLD));
        CHECK_OK(MPI_Allreduce(NULL, NULL, 0, type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Scan(NULL, NULL, 0, type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Exscan(NULL, NULL, 0, type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Reduce_scatter_block(NULL, NULL, 0, type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Reduce_scatter(NULL, NULL, zeros, type, op, MPI_COMM_WORLD));
        CHECK_OK(MPI_Reduce_local(NULL, NULL, 0, type, op));
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, NULL, 0, type, op, MPI_COMM_WORLD));
    }
    CHECK_EQ(never_called, 0);
    CHECK_OK(MPI_Op_free(&op));
    free(zeros);
}

static void groups_and_grids(void) {
    MPI_Group world, none;
    MPI_Comm comm = MPI_COMM_SELF;
    int rank = -7;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 0, NULL, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    CHECK_OK(MPI_Group_translate_ranks(world, 0, NULL, none, NULL));
    CHECK_OK(MPI_Group_rank(MPI_GROUP_EMPTY, &rank));
    CHECK_EQ(rank, MPI_UNDEFINED);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Dims_create(1, 0, NULL));
    comm = MPI_COMM_SELF;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm));
    CHECK((comm == MPI_COMM_NULL) == (check_rank != 0));
    if (comm != MPI_COMM_NULL) {
        int size = -7, dims = -7;
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_OK(MPI_Cartdim_get(comm, &dims));
        CHECK(size == 1 && dims == 0);
        CHECK_OK(MPI_Cart_coords(comm, 0, 0, NULL));
        CHECK_OK(MPI_Cart_rank(comm, NULL, &rank));
        CHECK_EQ(rank, 0);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void others(void) {
    int position = 0, size = -7;
    void *memory = NULL;
    char packed[8];
    MPI_Status status;
    CHECK_OK(MPI_Pack(NULL, 0, MPI_INT, packed, 8, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(packed, 8, &position, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(position, 0);
    CHECK_OK(MPI_Pack_size(0, MPI_DOUBLE, MPI_COMM_WORLD, &size));
    CHECK(size >= 0);
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
    CHECK_OK(MPI_Free_mem(memory));
    // MPI_PROC_NULL takes everything and gives nothing.
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &size));
    CHECK_EQ(size, 0);
    CHECK_OK(MPI_Comm_set_name(MPI_COMM_WORLD, ""));
    char name[MPI_MAX_OBJECT_NAME] = "x";
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &size));
    CHECK(size == 0 && name[0] == '\0');
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Datatype hollow;
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &hollow));
    CHECK_OK(MPI_Type_commit(&hollow));
    messages(MPI_INT, 0);
    no_requests();
    types();
    collectives(MPI_INT, 0);
    // The oracle takes equal addresses of a hollow type for aliases.
    if (!oracle) collectives(hollow, 3);
    CHECK_OK(MPI_Type_free(&hollow));
    groups_and_grids();
    others();
    return check_finish();
}
