// Requests of nonblocking and persistent collectives: every completing call, several on one communicator, mixed with blocking
// ones, objects freed early, and what is refused.
#include "check.h"

static const MPI_Comm world = MPI_COMM_WORLD;

static void several_at_once(void) {
    enum { OPERATIONS = 8 };
    MPI_Request requests[OPERATIONS];
    int out[OPERATIONS], in[OPERATIONS], blocking = 0, left = OPERATIONS, indices[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++) {
        out[i] = check_rank + i;
        in[i] = check_rank == i % check_size ? 1000 + i : -1;
        if (i % 2) {
            CHECK_OK(MPI_Iallreduce(&out[i], &in[i], 1, MPI_INT, MPI_SUM, world, &requests[i]));
        } else {
            CHECK_OK(MPI_Ibcast(&in[i], 1, MPI_INT, i % check_size, world, &requests[i]));
        }
        if (i == 3) CHECK_OK(MPI_Allreduce(&out[0], &blocking, 1, MPI_INT, MPI_SUM, world));
    }
    CHECK_EQ(blocking, check_size * (check_size - 1) / 2);
    // Backwards by one call, then all others.
    MPI_Status status;
    memset(&status, 0x77, sizeof status);
    CHECK_OK(MPI_Wait(&requests[OPERATIONS - 1], &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK(requests[OPERATIONS - 1] == MPI_REQUEST_NULL);
    left--;
    while (left > 0) {
        int some = 0;
        CHECK_OK(MPI_Waitsome(OPERATIONS, requests, &some, indices, MPI_STATUSES_IGNORE));
        if (!CHECK(some > 0)) break;
        left -= some;
    }
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_EQ(in[i], i % 2 ? check_size * (check_size - 1) / 2 + check_size * i : 1000 + i);
}

// An operation stays open while its caller goes through many others, in which it waits for nobody. Their data are a number, or
// too long for the place of a few numbers.
static void left_open(void) {
    enum { OTHERS = 500, LONGER = 30 };
    for (int root = 0; root < check_size; root++) {
        MPI_Request request;
        int sum = -1, wrong = 0;
        CHECK_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world, &request));
        for (int i = 0; i < OTHERS; i++) {
            int numbers[LONGER], n = i % 2 ? LONGER : 1;
            for (int k = 0; k < n; k++) numbers[k] = check_rank == root ? i + k : -1;
            CHECK_OK(MPI_Bcast(numbers, n, MPI_INT, root, world));
            for (int k = 0; k < n; k++) wrong += numbers[k] != i + k;
        }
        CHECK_EQ(wrong, 0);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    }
}

// The objects of an operation may be freed as soon as it has begun.
static void freed_early(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    enum { PAIRS = 700 };
    int *out = check_alloc(sizeof(int) * 2 * PAIRS), *in = check_alloc(sizeof(int) * 2 * PAIRS), wrong = 0, flag = 0;
    for (int i = 0; i < 2 * PAIRS; i++) {
        out[i] = i;
        in[i] = check_rank == 0 ? i : -1;
    }
    CHECK_OK(MPI_Comm_dup(world, &comm));
    CHECK_OK(MPI_Type_vector(PAIRS, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Ibcast(in, 1, type, 0, comm, &request));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
    while (!flag) CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * PAIRS; i++) wrong += in[i] != (check_rank == 0 || i % 2 == 0 ? i : -1);
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

static void persistent(void) {
    MPI_Request requests[2];
    int value = 0, sum = -1, data = -1;
    CHECK_OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Bcast_init(&data, 1, MPI_INT, check_size - 1, world, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(sum, -1);
    for (int i = 0; i < 20; i++) {
        int expected = check_size * (check_size - 1) / 2 + check_size * i, flag = 0;
        value = check_rank + i;
        data = check_rank == check_size - 1 ? i : -1;
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
        if (i % 2) {
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        } else {
            while (!flag) CHECK_OK(MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        }
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
        CHECK_EQ(sum, expected);
        CHECK_EQ(data, i);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void refused(void) {
    MPI_Request request, untouched = MPI_REQUEST_NULL;
    int value = 1, sum = 0;
    // The others begin when rank 0 has tried to free its request, which is active until then.
    if (check_rank > 0) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 7, world, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Ibarrier(world, &request));
    MPI_Request copy = request;
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    if (check_rank == 0 && check_size > 1) CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK(request == copy);
    for (int to = 1; check_rank == 0 && to < check_size; to++) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, to, 7, world));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Ibcast(&value, 1, MPI_INT, check_size, world, &untouched), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast_init(&value, 1, MPI_INT, -5, world, MPI_INFO_NULL, &untouched), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Iallreduce(&value, &sum, -1, MPI_INT, MPI_SUM, world, &untouched), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, world, &untouched), MPI_ERR_OP);
    CHECK_CLASS(MPI_Iallgather(&value, 1, MPI_DATATYPE_NULL, &sum, 1, MPI_INT, world, &untouched), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &untouched), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Ibarrier(world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Barrier_init(world, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK(untouched == MPI_REQUEST_NULL);
}

// The error of an operation is that of its request. With two ranks it is sure which one sees it.
static void disagreement(void) {
    MPI_Request request;
    int data[8] = {0};
    if (check_size != 2) return;
    CHECK_OK(MPI_Ibcast(data, check_rank == 0 ? 4 : 8, MPI_INT, 0, world, &request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, check_rank == 0 ? MPI_SUCCESS : MPI_ERR_COUNT);
    CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    several_at_once();
    left_open();
    freed_early();
    persistent();
    refused();
    disagreement();
    return check_finish();
}
