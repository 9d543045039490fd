// Ranks that pass different counts to a collective operation, by so much that they would choose different algorithms: each
// call returns, in some ranks with an error, and so do later ones on that communicator. It can be freed, and others work.
// ranks: 3 4 7
// heddle: only
#include "check.h"

enum { MOST = 100000, OPERATIONS = 15 };

static int *out, *in, *counts, *starts;

static const char *const names[OPERATIONS] = {
    "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce", "MPI_Allreduce",
    "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan", "MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv", "MPI_Alltoallv",
    "MPI_Ibcast",
};

// Calls an operation whose blocks this rank takes to have so many numbers.
static int call(int operation, int count, int root, MPI_Comm comm) {
    MPI_Request request;
    for (int i = 0; i < check_size; i++) counts[i] = count, starts[i] = i * count;
    switch (operation) {
    case 0: return MPI_Bcast(out, count, MPI_INT, root, comm);
    case 1: return MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    case 2: return MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    case 3: return MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
    case 4: return MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    case 5: return MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
    case 6: return MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
    case 7: return MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, comm);
    case 8: return MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
    case 9: return MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, comm);
    case 10: return MPI_Gatherv(out, count, MPI_INT, in, counts, starts, MPI_INT, root, comm);
    case 11: return MPI_Scatterv(out, counts, starts, MPI_INT, in, count, MPI_INT, root, comm);
    case 12: return MPI_Allgatherv(out, count, MPI_INT, in, counts, starts, MPI_INT, comm);
    case 13: return MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm);
    default: {
        int code = MPI_Ibcast(out, count, MPI_INT, root, comm, &request);
        return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    }
    }
}

// The rank `who` takes the blocks to have `its` numbers, the others `theirs`.
static void disagree(int operation, int its, int theirs, int who, int before) {
    MPI_Comm comm;
    int root = operation % check_size, failed, fails = 0;
    // A rank may give less than is expected of it.
    bool may_pass = operation == 1 || operation == 10 || operation == 11;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < before; i++) CHECK_OK(MPI_Barrier(comm));
    failed = call(operation, check_rank == who ? its : theirs, root, comm) != MPI_SUCCESS;
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(comm);
        call(operation, 10, root, comm);
    }
    CHECK_OK(MPI_Allreduce(&failed, &fails, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (fails == 0 && !may_pass) {
        char detail[96];
        snprintf(detail, sizeof detail, "%d and %d, rank %d of %d, %d before", its, theirs, who, check_size, before);
        check_failed(__FILE__, __LINE__, names[operation], detail);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    static const int pairs[][2] = {{25, 25000}, {25000, 25}, {0, 5000}, {MOST, 3000}};
    check_start(argc, argv);
    out = calloc((size_t)MOST * check_size, sizeof *out);
    in = calloc((size_t)MOST * check_size, sizeof *in);
    counts = calloc(check_size, sizeof *counts);
    starts = calloc(check_size, sizeof *starts);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int pair = 0; pair < 4; pair++) {
            // The first operations of a communicator go by messages, and later ones by shared memory if they can.
            int who = (operation + pair) % check_size;
            disagree(operation, pairs[pair][0], pairs[pair][1], who, 3);
            if (pair % 2 == operation % 2) disagree(operation, pairs[pair][0], pairs[pair][1], who, 0);
        }
    free(out);
    free(in);
    free(counts);
    free(starts);
    return check_finish();
}
