// Communicators made by many threads at once: dup, split, idup on parents of their own, create_group on one parent by tag.
// levels: multiple
#include "threads.h"

enum { THREADS = 6, ROUNDS = 40 };

static MPI_Comm parent[THREADS];
static MPI_Group world, odd_or_even;

static void use(MPI_Comm comm, int salt) {
    int rank = -1, size = -1, sum = 0, in = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int mine = rank + salt;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2 + size * salt);
    // The same tag on all of them: a context used twice would mix them up.
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, (rank + size - 1) % size + salt);
}

static void parents_of_their_own(int t, void *shared) {
    (void)shared;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm dup, split, later;
        MPI_Request request;
        int salt = t * 1000 + round;
        CHECK_OK(MPI_Comm_idup(parent[t], &later, &request));
        CHECK_OK(MPI_Comm_dup(parent[t], &dup));
        CHECK_OK(MPI_Comm_split(dup, check_rank % 2, -check_rank, &split));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        use(dup, salt);
        use(split, salt + 1);
        use(later, salt + 2);
        CHECK_OK(MPI_Comm_free(&dup));
        CHECK_OK(MPI_Comm_free(&later));
        use(split, salt + 3);
        CHECK_OK(MPI_Comm_free(&split));
    }
}

// All threads on one parent at once: only the tag tells the calls apart.
static void groups_by_tag(int t, void *shared) {
    MPI_Comm on = *(MPI_Comm *)shared;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        CHECK_OK(MPI_Comm_create_group(on, round % 2 ? world : odd_or_even, t * ROUNDS + round, &comm));
        use(comm, t * 100 + round);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

// Some threads create while others talk and probe on the same parent.
static void amid_traffic(int t, void *shared) {
    MPI_Comm on = *(MPI_Comm *)shared;
    if (t % 2 == 0) {
        groups_by_tag(t, shared);
        return;
    }
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < ROUNDS * 10; i++) {
        int in = -1, out = i + check_rank, flag = 0;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, t, &in, 1, MPI_INT, from, t, on, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i + from);
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 30000, on, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int ranges[1][3] = {{check_rank % 2, check_size - 1, 2}};
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &odd_or_even));
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent[t]));
    threads_run(THREADS, parents_of_their_own, NULL);
    threads_run(THREADS, groups_by_tag, &parent[0]);
    threads_run(THREADS, amid_traffic, &parent[1]);
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_free(&parent[t]));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&odd_or_even));
    return check_finish();
}
