// No thread starves: with many more threads than cores, on one communicator and on one each, the slowest gets its share in
// bounded time. Prints the slowest thread's share of the mean and Jain's index.
// ranks: 1-2
// levels: multiple
#include "threads.h"
#include <time.h>

enum { THREADS = 16, ENOUGH = 300, PATIENCE_S = 120 };

static MPI_Comm own[THREADS];
static atomic_int slow;
static atomic_long rounds[THREADS];
static int peer;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The threads go on until the slowest one has done its share, so a thread that starves makes the program run for ever.
static void exchange(int t, void *shared) {
    MPI_Comm comm = shared ? own[t] : MPI_COMM_WORLD;
    double began = now();
    long done = 0;
    for (int all_have_enough = 0; !all_have_enough;) {
        int out[2] = {(int)done, atomic_load(&slow) == 0}, in[2] = {-1, -1};
        CHECK_OK(MPI_Sendrecv(out, 2, MPI_INT, peer, t, in, 2, MPI_INT, peer, t, comm, MPI_STATUS_IGNORE));
        if (!CHECK_EQ(in[0], done)) return;
        all_have_enough = out[1] && in[1];
        done++;
        atomic_store_explicit(&rounds[t], done, memory_order_relaxed);
        if (done == ENOUGH) atomic_fetch_sub(&slow, 1);
        if (done < ENOUGH && now() - began > PATIENCE_S) {
            fprintf(stderr, "rank %d: thread %d has %ld rounds after %d s\n", check_rank, t, done, PATIENCE_S);
            exit(1);
        }
    }
}

static void report(const char *how) {
    double sum = 0, squares = 0, least = 1e300;
    for (int t = 0; t < THREADS; t++) {
        double r = (double)atomic_load(&rounds[t]);
        sum += r, squares += r * r;
        if (r < least) least = r;
    }
    printf("rank %d, %s: slowest share %.2f, Jain's index %.2f\n", check_rank, how, least * THREADS / sum, sum * sum / (THREADS * squares));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[t]));
    for (int each = 0; each < 2; each++) {
        atomic_store(&slow, THREADS);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        threads_run(THREADS, exchange, each ? own : NULL);
        report(each ? "a communicator each" : "one communicator");
    }
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_free(&own[t]));
    return check_finish();
}
