// Collectives at once on different communicators, a thread each, also on parts of the world.
// levels: multiple
#include "threads.h"

enum { THREADS = 5, ROUNDS = 60 };

static MPI_Comm comm[THREADS];

static void collectives(int t, void *shared) {
    (void)shared;
    MPI_Comm on = comm[t];
    int rank, size, n = t % 2 ? 3000 : 10;
    CHECK_OK(MPI_Comm_rank(on, &rank));
    CHECK_OK(MPI_Comm_size(on, &size));
    int *out = check_alloc(sizeof(int) * (size_t)(n * size)), *in = check_alloc(sizeof(int) * (size_t)(n * size));
    for (int round = 0; round < ROUNDS; round++) {
        int root = round % size, salt = t * 100000 + round * 10, wrong = 0;
        for (int i = 0; i < n; i++) out[i] = rank == root ? salt + i : -1;
        CHECK_OK(MPI_Bcast(out, n, MPI_INT, root, on));
        for (int i = 0; i < n; i++) wrong += out[i] != salt + i;
        for (int i = 0; i < n; i++) out[i] = rank + salt + i;
        CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, on));
        for (int i = 0; i < n; i++) wrong += in[i] != size * (salt + i) + size * (size - 1) / 2;
        for (int i = 0; i < n * size; i++) out[i] = salt + rank * 1000 + i / n;
        CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, on));
        for (int i = 0; i < n * size; i++) wrong += in[i] != salt + i / n * 1000 + rank;
        CHECK_OK(MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, on));
        for (int i = 0; i < n * size; i++) wrong += in[i] != salt + i / n * 1000;
        CHECK_OK(MPI_Scan(out, in, n, MPI_INT, MPI_MAX, on));
        for (int i = 0; i < n; i++) wrong += in[i] != salt + rank * 1000;
        CHECK_OK(MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, on));
        CHECK_OK(MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, on));
        for (int i = 0; i < n; i++) wrong += out[i] != salt + rank * 1000;
        CHECK_OK(MPI_Barrier(on));
        if (!CHECK_EQ(wrong, 0)) break;
    }
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int t = 0; t < THREADS; t++) {
        int colour = t < 2 ? 0 : t == 2 ? check_rank % 2 : check_rank >= check_size / 2;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colour, t == 4 ? -check_rank : check_rank, &comm[t]));
    }
    threads_run(THREADS, collectives, NULL);
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_free(&comm[t]));
    return check_finish();
}
