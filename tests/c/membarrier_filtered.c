// Ranks that may not call membarrier, as in a container that filters it, communicate with ranks that may: no rank misses a
// message while it sleeps. All but rank 0 are filtered.
// ranks: 2 3
// levels: none
// heddle: only
#include "refused_calls.h"

#include <time.h>

enum { ROUNDS = 40, LARGE = 1 << 20 };

// membarrier returns ENOSYS in this process from now on.
static bool filter_membarrier(void) {
    const long calls[] = {SYS_membarrier};
    return refuse_calls(calls, 1, ENOSYS);
}

// Long enough for the peers to go to sleep.
static void be_away(void) {
    struct timespec time = {0, 2000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    const char *rank = getenv("HEDDLE_RANK");
    bool filtered = rank != NULL && atoi(rank) != 0;
    if (filtered && (!filter_membarrier() || syscall(SYS_membarrier, 0, 0, 0) != -1)) {
        fprintf(stderr, "rank %s: no seccomp here, so nothing is filtered\n", rank);
    }
    int provided = -1;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    char *out = check_alloc(LARGE), *in = check_alloc(LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        int len = round % 4 == 3 ? LARGE : round % 4 * 1000;
        pattern_fill(out, (size_t)len, (unsigned)(check_rank + round));
        if (round % check_size == check_rank) be_away();
        CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, to, round, in, len, MPI_BYTE, from, round, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, (size_t)len, (unsigned)(from + round));
    }
    free(out);
    free(in);
    return check_finish();
}
