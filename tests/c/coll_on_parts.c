// Collectives on split and reordered communicators, several at once, and mixed with point-to-point traffic.
// ranks: 2-8
#include "check.h"

static void all_kinds(MPI_Comm comm, int salt) {
    int rank, size, sum = 0, root, all[16], out[16], in[16];
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    root = salt % size;
    int value = rank == root ? salt : -1;
    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, root, comm));
    CHECK_EQ(value, salt);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size - 1) / 2);
    value = rank + salt;
    CHECK_OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++) CHECK_EQ(all[i], i + salt);
    CHECK_OK(MPI_Gather(&value, 1, MPI_INT, in, 1, MPI_INT, root, comm));
    for (int i = 0; i < size && rank == root; i++) CHECK_EQ(in[i], i + salt);
    CHECK_OK(MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, comm));
    CHECK_EQ(value, rank + salt);
    for (int i = 0; i < size; i++) out[i] = rank * 100 + i + salt;
    CHECK_OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++) CHECK_EQ(in[i], i * 100 + rank + salt);
    CHECK_OK(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, rank * (rank + 1) / 2);
    CHECK_OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_MAX, root, comm));
    if (rank == root) CHECK_EQ(sum, size - 1);
    CHECK_OK(MPI_Barrier(comm));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Comm halves, reversed, thirds, pair;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &halves));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 3, check_rank, &thirds));
    CHECK_OK(MPI_Comm_split(halves, check_rank / 4, -check_rank, &pair));
    for (int round = 0; round < 20; round++) {
        // A receive with wildcards is open all the while: no collective's message may match it.
        int in = -1, out = round, to = (check_rank + 1) % check_size;
        MPI_Request request;
        MPI_Status status;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        all_kinds(MPI_COMM_WORLD, round);
        all_kinds(halves, round + 1);
        all_kinds(reversed, round + 2);
        all_kinds(thirds, round + 3);
        all_kinds(pair, round + 4);
        all_kinds(MPI_COMM_SELF, round + 5);
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, round, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_EQ(in, round);
        CHECK_EQ(status.MPI_TAG, round);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Comm_free(&halves));
    CHECK_OK(MPI_Comm_free(&reversed));
    CHECK_OK(MPI_Comm_free(&thirds));
    CHECK_OK(MPI_Comm_free(&pair));
    return check_finish();
}
