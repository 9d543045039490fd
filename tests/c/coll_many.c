// Long and short collective operations on many communicators at once, more than have large shared pages, which are freed and
// made again.
// ranks: 2-4
#include "check.h"

enum { COMMS = 24, LONG = 60000, SHORT = 700, GENERATIONS = 2, ROUNDS = 5 };

static double out[LONG], in[LONG];

static void reduce_and_broadcast(MPI_Comm comm, int n, int root) {
    int wrong = 0;
    double sum = check_size * (check_size - 1) / 2.0;
    for (int i = 0; i < n; i++) out[i] = check_rank + i;
    CHECK_OK(MPI_Allreduce(out, in, n, MPI_DOUBLE, MPI_SUM, comm));
    for (int i = 0; i < n; i++) wrong += in[i] != sum + (double)check_size * i;
    for (int i = 0; i < n; i++) in[i] = check_rank == root ? i - root : -1e9;
    CHECK_OK(MPI_Bcast(in, n, MPI_DOUBLE, root, comm));
    for (int i = 0; i < n; i++) wrong += in[i] != i - root;
    CHECK_EQ(wrong, 0);
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    check_start(argc, argv);
    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int i = 0; i < COMMS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < COMMS; i++) {
                reduce_and_broadcast(comms[i], SHORT + i, i % check_size);
                reduce_and_broadcast(comms[i], LONG - i, (i + round) % check_size);
            }
        }
        for (int i = 0; i < COMMS; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
    }
    return check_finish();
}
