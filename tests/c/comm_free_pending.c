// A communicator, datatype or group freed while operations use it lives until they are done.
// ranks: 2-8
#include "check.h"

enum { LARGE = 1 << 18 };

static void communicator(int count) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request requests[2];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int *out = check_alloc(sizeof(int) * (size_t)count), *in = check_alloc(sizeof(int) * (size_t)count);
    pattern_fill(out, sizeof(int) * (size_t)count, (unsigned)check_rank);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Irecv(in, count, MPI_INT, from, 1, comm, &requests[0]));
    CHECK_OK(MPI_Isend(out, count, MPI_INT, to, 1, comm, &requests[1]));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL);
    // A new one, likely on the same storage, is not mixed up with it.
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int flag = 0;
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(in, sizeof(int) * (size_t)count, (unsigned)from);
    CHECK_OK(MPI_Comm_free(&comm));
    free(out);
    free(in);
}

static void persistent(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request requests[2];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, out, in;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, from, 1, comm, &requests[0]));
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, to, 1, comm, &requests[1]));
    CHECK_OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 3; i++) {
        out = check_rank * 10 + i;
        in = -1;
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(in, from * 10 + i);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void datatype(int count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Request requests[2];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, wrong = 0;
    int *out = check_alloc(sizeof(int) * 2 * (size_t)count), *in = check_alloc(sizeof(int) * 2 * (size_t)count);
    for (int i = 0; i < 2 * count; i++) out[i] = i + check_rank, in[i] = -1;
    CHECK_OK(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Irecv(in, 1, type, from, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(out, 1, type, to, 2, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * count - 1; i++) wrong += in[i] != (i % 2 == 0 ? i + from : -1);
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

static void group(void) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    int size = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_EQ(size, check_size);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &copy));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Barrier(copy));
    CHECK_OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    communicator(1);
    communicator(LARGE);
    persistent();
    datatype(3);
    datatype(LARGE);
    group();
    return check_finish();
}
