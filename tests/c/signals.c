// A program with its own signals: system calls inside the library are interrupted all the time and nothing comes of it.
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void on_tick(int number) {
    (void)number;
    int kept = errno;
    ticks++;
    errno = kept;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    struct sigaction action = {.sa_handler = on_tick}; // without SA_RESTART
    struct itimerval every = {{0, 500}, {0, 500}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);

    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, n = 500000;
    unsigned char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    for (unsigned round = 0; round < 60; round++) {
        int size = round % 3 == 0 ? n : round % 3 == 1 ? 5000 : 8, sum = 0;
        pattern_fill(out, (size_t)size, round + (unsigned)check_rank);
        CHECK_OK(MPI_Sendrecv(out, size, MPI_BYTE, to, 1, in, size, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, (size_t)size, round + (unsigned)from);
        // One is late, so that the others wait long enough to rest.
        if ((int)round % check_size == check_rank) {
            int until = ticks + 4;
            while (ticks < until) {}
        }
        CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    }
    every = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    CHECK(ticks > 0);
    free(out);
    free(in);
    return check_finish();
}
