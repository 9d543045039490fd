// MPI_Comm_dup, dup_with_info, idup: same group, another context.
#include "check.h"

// A message sent on one communicator is not seen on another.
static void separate(MPI_Comm a, MPI_Comm b) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int out_a = 100 + check_rank, out_b = 200 + check_rank, in_a = -1, in_b = -1;
    MPI_Request requests[2];
    CHECK_OK(MPI_Isend(&out_a, 1, MPI_INT, to, 9, a, &requests[0]));
    CHECK_OK(MPI_Isend(&out_b, 1, MPI_INT, to, 9, b, &requests[1]));
    CHECK_OK(MPI_Recv(&in_b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&in_a, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE));
    CHECK_EQ(in_a, 100 + from);
    CHECK_EQ(in_b, 200 + from);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void same_members(MPI_Comm comm) {
    int rank = -1, size = -1, result = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
}

static void blocking(void) {
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    CHECK_OK(MPI_Comm_dup(a, &b));
    same_members(a);
    same_members(b);
    separate(MPI_COMM_WORLD, a);
    separate(a, b);
    CHECK_OK(MPI_Comm_free(&a));
    CHECK(a == MPI_COMM_NULL);
    same_members(b);
    separate(MPI_COMM_WORLD, b);
    CHECK_OK(MPI_Comm_free(&b));
}

static void with_info(void) {
    MPI_Info info = MPI_INFO_NULL, got = MPI_INFO_NULL;
    MPI_Comm a = MPI_COMM_NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &a));
    CHECK_OK(MPI_Info_free(&info));
    same_members(a);
    CHECK_OK(MPI_Comm_get_info(a, &got));
    CHECK(got != MPI_INFO_NULL);
    CHECK_OK(MPI_Comm_set_info(a, got));
    CHECK_OK(MPI_Info_free(&got));
    CHECK_OK(MPI_Comm_free(&a));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &a));
    same_members(a);
    CHECK_OK(MPI_Comm_free(&a));
}

static void nonblocking(void) {
    enum { COUNT = 5 };
    MPI_Comm comms[COUNT];
    MPI_Request requests[COUNT];
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
    // Other traffic on the parent may go on meanwhile.
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    CHECK_OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) same_members(comms[i]);
    separate(comms[0], comms[COUNT - 1]);
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Comm_free(&comms[i]));

    MPI_Comm one = MPI_COMM_NULL;
    MPI_Request request;
    int done = 0;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_SELF, &one, &request));
    while (!done) CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_free(&one));
}

// Contexts are used again: more than any fixed table of them holds, one after another.
static void many_one_after_another(void) {
    for (int i = 0; i < 3000; i++) {
        MPI_Comm comm = MPI_COMM_NULL;
        if (!CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm))) return;
        if (i % 500 == 0) separate(comm, MPI_COMM_WORLD);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void many_at_once(void) {
    enum { COUNT = 300 };
    static MPI_Comm comms[COUNT];
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    separate(comms[0], comms[COUNT - 1]);
    for (int i = 0; i < COUNT; i += 2) CHECK_OK(MPI_Comm_free(&comms[i]));
    separate(comms[1], comms[COUNT - 1]);
    for (int i = 1; i < COUNT; i += 2) CHECK_OK(MPI_Comm_free(&comms[i]));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    blocking();
    with_info();
    nonblocking();
    many_one_after_another();
    many_at_once();
    return check_finish();
}
