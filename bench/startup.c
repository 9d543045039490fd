/* Start-up time, resident memory and idleness of a job: what a library costs before the first message, and while
 * there is nothing to do. */
#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

static void report_largest(struct bench *b, const char *name, const char *what, double mine, const char *unit) {
    double largest = mine;
    MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, participants);
    report_single(b, name, what, largest, unit);
}

static void report_memory(struct bench *b, const char *rss_name, const char *pss_name) {
    MPI_Barrier(participants);
    double rss = resident("Rss"), pss = resident("Pss");
    /* No rank leaves, which would change the others' shares, before all have read theirs. */
    MPI_Barrier(participants);
    report_largest(b, "memory", rss_name, rss, "MiB");
    report_largest(b, "memory", pss_name, pss, "MiB");
}

static void exchange_with_all(struct bench *b) {
    for (int step = 1; step < b->ranks; step++) {
        int to = (b->rank + step) % b->ranks, from = (b->rank - step + b->ranks) % b->ranks, out = step, in = 0;
        MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, participants, MPI_STATUS_IGNORE);
    }
}

static void startup(struct bench *b) {
    /* `open_ns` is when MPI_Init_thread returned. */
    double seconds = b->opt.launched_ns ? (double)(b->open_ns - b->opt.launched_ns) / 1e9 : NAN;
    report_memory(b, "rss-idle", "pss-idle");
    report_largest(b, "startup", "init", seconds, "s");
    exchange_with_all(b);
    report_memory(b, "rss-connected", "pss-connected");
}

const struct subject subject_startup = {
    .name = "startup",
    .summary = "time from mpiexec to after MPI_Init, and memory of the largest rank",
    .unit = "s",
    .ranks = RANKS_ANY,
    .default_window = 1,
    .whole = startup,
};

static double cpu_seconds(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Every rank but 0 waits in MPI_Recv for a message that rank 0 sends after the interval. */
static void idle(struct bench *b) {
    double share = 0;
    MPI_Barrier(participants);
    if (b->rank == 0) {
        double length = b->opt.seconds * b->opt.reps;
        struct timespec pause = {(time_t)length, (long)((length - floor(length)) * 1e9)};
        nanosleep(&pause, NULL); /* the idleness that is measured */
        for (int r = 1; r < b->ranks; r++) MPI_Send(NULL, 0, MPI_BYTE, r, 0, participants);
    } else {
        double cpu = cpu_seconds();
        int64_t start = now_ns();
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, participants, MPI_STATUS_IGNORE);
        share = (cpu_seconds() - cpu) / ((double)(now_ns() - start) / 1e9);
    }
    report_largest(b, "idle", "receive", share * 100, "% of a core");
}

const struct subject subject_idle = {
    .name = "idle",
    .summary = "processor time of a rank that waits in MPI_Recv",
    .unit = "% of a core",
    .ranks = RANKS_ANY,
    .default_window = 1,
    .whole = idle,
};
