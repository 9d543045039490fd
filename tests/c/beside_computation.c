// Beside a computing process on the same core, a thread whose tests are in vain takes naps: it neither burns its time slice
// nor gives one away with each yield.
// ranks: 1
// levels: single multiple
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 100000, NAPS = 3, TESTS_AT_ONCE = 1000, ROUNDS = 10000 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void share_one_core(void) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static pid_t start_computing(void) {
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (volatile unsigned x = 0;; x++) {}
}

// Whether this kernel gives the time slice away with a yield.
static bool is_a_yield_dear(void) {
    for (int yield = 0; yield < YIELDS; yield++) {
        double began = seconds();
        sched_yield();
        if (seconds() - began > 1e-3) return true;
    }
    return false;
}

// The times that this thread has gone to sleep.
static long sleeps(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

int main(int argc, char **argv) {
    share_one_core();
    pid_t computing = start_computing();
    check_start(argc, argv);
    if (is_a_yield_dear()) {
        int number = 0, done = 0;
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&number, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request));
        long before = sleeps();
        for (int round = 0; round < ROUNDS && sleeps() - before < NAPS; round++) {
            for (int test = 0; test < TESTS_AT_ONCE; test++) {
                CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
                CHECK(!done);
            }
        }
        CHECK(sleeps() - before >= NAPS);
        CHECK_OK(MPI_Send(&(int){42}, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(number == 42);
    }
    kill(computing, SIGKILL);
    return check_finish();
}
