// MPI_Comm_split by colour and key, MPI_UNDEFINED, split_type, and splits of splits.
#include "check.h"

static int ring_sum(MPI_Comm comm) {
    int rank, size, sum = 0, mine;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    mine = rank;
    for (int i = 0; i < size; i++) {
        sum += mine;
        CHECK_OK(MPI_Sendrecv_replace(&mine, 1, MPI_INT, (rank + 1) % size, 4, (rank + size - 1) % size, 4, comm, MPI_STATUS_IGNORE));
    }
    return sum;
}

static void by_colour(void) {
    for (int colours = 1; colours <= 3; colours++) {
        MPI_Comm comm = MPI_COMM_NULL;
        int rank = -1, size = -1, colour = check_rank % colours;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &comm));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_EQ(rank, check_rank / colours);
        CHECK_EQ(size, (check_size - colour + colours - 1) / colours);
        CHECK_EQ(ring_sum(comm), size * (size - 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void by_key(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = -1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 5, -check_rank, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(rank, check_size - 1 - check_rank);
    CHECK_EQ(ring_sum(comm), check_size * (check_size - 1) / 2);
    // Rank 0 is now the last rank of the world.
    int first = check_rank;
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, comm));
    CHECK_EQ(first, check_size - 1);
    CHECK_OK(MPI_Comm_free(&comm));

    // Equal keys keep the old order.
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank / 2 * -1, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    int pair = check_rank / 2, pairs = (check_size + 1) / 2, before = 0;
    for (int p = pair + 1; p < pairs; p++) before += p * 2 + 1 < check_size ? 2 : 1;
    CHECK_EQ(rank, before + check_rank % 2);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void undefined(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int takes_part = check_rank % 2 == 0;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 1 : MPI_UNDEFINED, check_rank, &comm));
    if (takes_part) {
        int size = -1;
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_EQ(size, (check_size + 1) / 2);
        CHECK_EQ(ring_sum(comm), size * (size - 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    } else {
        CHECK(comm == MPI_COMM_NULL);
    }
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void of_a_split(void) {
    MPI_Comm outer = MPI_COMM_NULL, inner = MPI_COMM_NULL;
    int rank, size;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank >= check_size / 2, -check_rank, &outer));
    CHECK_OK(MPI_Comm_rank(outer, &rank));
    CHECK_OK(MPI_Comm_split(outer, rank % 2, rank, &inner));
    CHECK_OK(MPI_Comm_size(inner, &size));
    CHECK_EQ(ring_sum(inner), size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&outer));
    CHECK_EQ(ring_sum(inner), size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&inner));
}

static void by_type(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    int size = -1, result = -1;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check_rank, MPI_INFO_NULL, &comm));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK(size >= 1 && size <= check_size);
    // All ranks of this test run on one machine.
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    CHECK_EQ(ring_sum(comm), size * (size - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -check_rank, MPI_INFO_NULL, &comm));
    int rank = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(rank, check_size - 1 - check_rank);
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, check_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (check_rank == 0));
    if (comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    by_colour();
    by_key();
    undefined();
    of_a_split();
    by_type();
    return check_finish();
}
