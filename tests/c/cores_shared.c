// The library finds out whether each thread has a core. It counts the threads of all processes that may run on the same cores; where
// each process is bound to cores of its own, its own threads alone.
// ranks: 2
// levels: multiple
// models: default
// variants: all own one
// heddle: only
#define _GNU_SOURCE
#include "counters.h"
#include "threads.h"
#include <sched.h>
#include <stdlib.h>

static cpu_set_t allowed;
static pthread_barrier_t together;

// Binds this process to one of its cores, counted from 0.
static void keep_core(int place) {
    int core = 0;
    for (;; core++)
        if (CPU_ISSET(core, &allowed) && place-- == 0) break;
    CPU_ZERO(&allowed);
    CPU_SET(core, &allowed);
    CHECK_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

static int each_has_core(void) { return (int)counter_level("heddle_each_thread_has_core"); }

// All of them have called MPI when one of them asks.
static void ask(int thread, void *found) {
    int flag;
    CHECK_OK(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    pthread_barrier_wait(&together);
    if (thread == 0) *(int *)found = each_has_core();
    pthread_barrier_wait(&together);
}

// Starts so many threads beside the main one, and returns what the process finds then.
static int with_threads(int threads) {
    int found = each_has_core();
    if (threads == 0) return found;
    CHECK_EQ(pthread_barrier_init(&together, NULL, (unsigned)threads), 0);
    threads_run(threads, ask, &found);
    CHECK_EQ(pthread_barrier_destroy(&together), 0);
    return found;
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1], *rank = getenv("HEDDLE_RANK");
    int provided;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    bool own = strcmp(variant, "own") == 0 && CPU_COUNT(&allowed) >= 2;
    if (own) keep_core(rank && strcmp(rank, "0") != 0);
    else if (strcmp(variant, "all") != 0) keep_core(0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    // By now both have told each other.
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // The main thread of each has a core, and so have others as far as there are more.
    int others = CPU_COUNT(&allowed) - (own ? 1 : 2);
    if (check_rank == 0) {
        if (others >= 0) CHECK_EQ(with_threads(others), 1);
        CHECK_EQ(with_threads(others + 1), 0);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // The threads have ended, and one process knows it of the other.
    CHECK_EQ(each_has_core(), others >= 0);
    CHECK_EQ(counter_level("heddle_cores_for_threads"), (unsigned)(others + 1));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
