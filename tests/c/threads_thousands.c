// Threads come and go by the thousand, each leaves requests behind that another thread completes, and the process does not
// grow: pools and statistics keep nothing of threads that are gone.
// ranks: 1-2
// levels: multiple
#include "threads.h"
#include "resident.h"

enum { AT_ONCE = 8, FIRST = 100, WAVES = 400, EACH = 24, MOST_GROWTH_KIB = 4096 };

static int peer;
static MPI_Request left[AT_ONCE][EACH];
static int in[AT_ONCE][EACH], out[AT_ONCE][EACH];

static void live(int t, void *shared) {
    int wave = *(int *)shared;
    MPI_Request sends[EACH];
    for (int i = 0; i < EACH; i++) {
        out[t][i] = wave * EACH + i;
        CHECK_OK(MPI_Irecv(&in[t][i], 1, MPI_INT, peer, t, MPI_COMM_WORLD, &left[t][i]));
        // Some are completed here, some by other threads, some never.
        if (i % 3 == 0) CHECK_OK(MPI_Issend(&out[t][i], 1, MPI_INT, peer, t, MPI_COMM_WORLD, &sends[i]));
        else CHECK_OK(MPI_Isend(&out[t][i], 1, MPI_INT, peer, t, MPI_COMM_WORLD, &sends[i]));
        if (i % 3 == 1) CHECK_OK(MPI_Request_free(&sends[i])), sends[i] = MPI_REQUEST_NULL;
    }
    if (t % 2 == 0) CHECK_OK(MPI_Waitall(EACH, left[t], MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(EACH, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    long before = 0;
    for (int wave = 0; wave < WAVES; wave++) {
        if (wave == FIRST) before = resident_kib();
        threads_run(AT_ONCE, live, &wave);
        for (int t = 0; t < AT_ONCE; t++) {
            CHECK_OK(MPI_Waitall(EACH, left[t], MPI_STATUSES_IGNORE));
            for (int i = 0; i < EACH; i++) CHECK_EQ(in[t][i], wave * EACH + i);
        }
    }
    long growth = resident_kib() - before;
    if (!CHECK(growth < MOST_GROWTH_KIB)) fprintf(stderr, "rank %d: %ld KiB more after %d threads\n", check_rank, growth, (WAVES - FIRST) * AT_ONCE);
    return check_finish();
}
