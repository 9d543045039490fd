// Threads come and go: many short-lived ones call MPI, some leave operations behind for others to complete.
// levels: multiple
#include "threads.h"

enum { GENERATIONS = 150, THREADS = 4 };

static int to, from;
static MPI_Request left_behind[THREADS];
static int left_in[THREADS];

static void short_life(int t, void *shared) {
    int generation = *(int *)shared, out = generation * 10 + t, in = -1;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, t, &in, 1, MPI_INT, from, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in, generation * 10 + t);
    // A receive that outlives its thread, fed by a send whose request is freed.
    static int kept[GENERATIONS][THREADS];
    MPI_Request send;
    kept[generation][t] = out + 1;
    CHECK_OK(MPI_Irecv(&left_in[t], 1, MPI_INT, from, 100 + t, MPI_COMM_WORLD, &left_behind[t]));
    CHECK_OK(MPI_Isend(&kept[generation][t], 1, MPI_INT, to, 100 + t, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Request_free(&send));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int generation = 0; generation < GENERATIONS; generation++) {
        threads_run(THREADS, short_life, &generation);
        CHECK_OK(MPI_Waitall(THREADS, left_behind, MPI_STATUSES_IGNORE));
        for (int t = 0; t < THREADS; t++) CHECK_EQ(left_in[t], generation * 10 + t + 1);
    }
    return check_finish();
}
