// Many threads make communicators of the same parent at once by MPI_Comm_create_group, told apart by tags only; groups overlap
// and are ordered differently; each communicator works at once and is freed while others are being made.
// ranks: 1 3 4
// levels: multiple
#include "threads.h"

enum { THREADS = 6, ROUNDS = 25 };

static void body(int index, void *shared) {
    (void)shared;
    MPI_Group world, group;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int round = 0; round < ROUNDS; round++) {
        // Thread `index` of each process leaves one process out, and reverses the order in every second round.
        int ranks[16], n = 0, left_out = check_size > 1 ? (index + round) % check_size : -1;
        for (int r = 0; r < check_size; r++) {
            int rank = round % 2 ? check_size - 1 - r : r;
            if (rank != left_out) ranks[n++] = rank;
        }
        if (left_out == check_rank) continue;
        MPI_Comm comm, copy;
        CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, index, &comm));
        CHECK_OK(MPI_Group_free(&group));
        int rank = -1, size = -1, sum = -1;
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_EQ(size, n);
        CHECK_EQ(ranks[rank], check_rank);
        int mine = 1000 * index + check_rank, want = 0, got[16];
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < n; i++) want += 1000 * index + ranks[i];
        CHECK_EQ(sum, want);
        // A duplicate that is made meanwhile has messages of its own.
        MPI_Request request, message;
        int out = mine + round, in = -1;
        CHECK_OK(MPI_Comm_idup(comm, &copy, &request));
        CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, comm));
        for (int i = 0; i < n; i++) CHECK_EQ(got[i], 1000 * index + ranks[i]);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, (rank + n - 1) % n, 0, copy, &message));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, (rank + 1) % n, 0, copy));
        CHECK_OK(MPI_Wait(&message, MPI_STATUS_IGNORE));
        CHECK_EQ(in, 1000 * index + ranks[(rank + n - 1) % n] + round);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Comm_free(&copy));
    }
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    threads_run(THREADS, body, NULL);
    return check_finish();
}
