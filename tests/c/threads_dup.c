// Many threads duplicate communicators at once, each a parent of its own, while others wait for messages: it takes bounded
// time, and the duplicates work.
// ranks: 2-4
// levels: multiple
#include "threads.h"

enum { DUPLICATORS = 16, EXCHANGERS = 2, DUPS = 25 };

static MPI_Comm parents[DUPLICATORS], others[EXCHANGERS];
static atomic_int duplicating;

static void duplicate(int t) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    MPI_Comm kept[DUPS];
    for (int i = 0; i < DUPS; i++) CHECK_OK(MPI_Comm_dup(i % 2 ? kept[i - 1] : parents[t], &kept[i]));
    for (int i = 0; i < DUPS; i++) {
        int out = t * DUPS + i, in = -1;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, kept[i], MPI_STATUS_IGNORE));
        CHECK_EQ(in, out);
        CHECK_OK(MPI_Comm_free(&kept[i]));
    }
}

static void exchange(MPI_Comm comm) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int over = 0; !over;) {
        int mine = atomic_load(&duplicating) == 0, in = -1;
        CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE));
        // All ranks leave in the same round.
        CHECK_OK(MPI_Allreduce(&mine, &over, 1, MPI_INT, MPI_MIN, comm));
    }
}

static void body(int t, void *shared) {
    (void)shared;
    if (t < DUPLICATORS) {
        duplicate(t);
        atomic_fetch_sub(&duplicating, 1);
    } else {
        exchange(others[t - DUPLICATORS]);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int t = 0; t < DUPLICATORS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]));
    for (int t = 0; t < EXCHANGERS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &others[t]));
    atomic_store(&duplicating, DUPLICATORS);
    threads_run(DUPLICATORS + EXCHANGERS, body, NULL);
    for (int t = 0; t < DUPLICATORS; t++) CHECK_OK(MPI_Comm_free(&parents[t]));
    for (int t = 0; t < EXCHANGERS; t++) CHECK_OK(MPI_Comm_free(&others[t]));
    return check_finish();
}
