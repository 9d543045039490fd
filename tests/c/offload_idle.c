// Execution offload: idle offload threads use no processor time, and wake up when a message comes.
// ranks: 1-2
// levels: multiple
// heddle: only
#include "check.h"
#include <sys/resource.h>
#include <time.h>

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    setenv("HEDDLE_MODEL", "offload", 1);
    check_start(argc, argv);
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    double share = 1;
    // The least of a few samples, because the threads may still be awake from earlier work.
    for (int round = 0; round < 3; round++) {
        int sent = round, received = -1;
        CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, right, 0, &received, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(received, round);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        struct timespec a_moment = {0, 50000000}, a_second = {1, 0};
        nanosleep(&a_moment, NULL);
        double from = now(), before = used();
        nanosleep(&a_second, NULL);
        double this_share = (used() - before) / (now() - from);
        if (this_share < share) share = this_share;
    }
    if (!CHECK(share < 0.01)) fprintf(stderr, "idle threads take %g of a core\n", share);
    return check_finish();
}
