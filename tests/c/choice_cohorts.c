// Threads that are near each other pass a critical section on among them, as often as they may: seen by the order in which
// threads of two packages enter. The machine is one from hwloc's imagination, so that any machine with two cores will do.
// ranks: 1
// levels: multiple
// models: default
// settings near: HEDDLE_ARBITRATION=strict-hmcs
// settings once: HEDDLE_ARBITRATION=strict-hmcs HEDDLE_COHORT_THRESHOLD=1
// settings twice: HEDDLE_ARBITRATION=strict-hmcs HEDDLE_COHORT_THRESHOLD=2
// settings inner: HEDDLE_ARBITRATION=strict-hmcs HEDDLE_COHORT_THRESHOLD=1:2
// settings outer: HEDDLE_ARBITRATION=strict-hmcs HEDDLE_COHORT_THRESHOLD=2:1
// heddle: only
#define _GNU_SOURCE
#include "inside.h"
#include <sched.h>

enum { WAITERS = 6 };

// The order in which the waiters enter, the thread inside having been the first of its cohort. Later the order depends on
// when a thread that leads its cohort now has woken.
static const struct {
    const char *variant;
    int known, order[WAITERS];
} orders[] = {
    {"near", WAITERS, {3, 4, 5, 0, 1, 2}},
    {"once", 1, {0}},
    {"twice", 2, {3, 0}},
    // Those near the thread inside share its core, and no other core of its package has a waiter.
    {"inner", 2, {3, 0}},
    {"outer", 1, {0}},
};

static struct actor waiters[WAITERS];
static int cores[2];

// Has hwloc describe a machine with two packages of two cores with hardware threads each, among them the two that are there,
// which are in different packages.
static void imagine(void) {
    int threads = (cores[0] > cores[1] ? cores[0] : cores[1]) + 1;
    char *words = check_alloc(64 + 48 * (size_t)threads + 64), *end = words;
    end += sprintf(end, "package:2 core:2 pu:%d(indexes=", threads);
    for (int core = 0, other = 0; core < 4; core++) {
        // The first core of each package has one that is there.
        bool real = core % 2 == 0;
        if (real) end += sprintf(end, "%s%d", core ? "," : "", cores[core / 2]);
        for (int i = real; i < threads; i++, other++) {
            while (other == cores[0] || other == cores[1]) other++;
            end += sprintf(end, ",%d", other);
        }
    }
    sprintf(end, ")");
    CHECK_EQ(setenv("HWLOC_SYNTHETIC", words, 1), 0);
    free(words);
}

static void run_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

// The first three are far from the thread inside, the others near it.
static void enter_from_core(int index) {
    run_on(cores[index < WAITERS / 2]);
    enter(index);
}

static void direct(int index) {
    (void)index;
    uintptr_t words[WAITERS];
    line_up(waiters, WAITERS, enter_from_core, words);
    for (int i = 0; i < WAITERS; i++) CHECK(words[i] != 0);
    let_in(waiters, WAITERS);
}

int main(int argc, char **argv) {
    int provided, found = 0;
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++) {
        if (CPU_ISSET(core, &allowed)) cores[found++] = core;
    }
    if (found < 2) {
        fprintf(stderr, "this needs two cores\n");
        return 0;
    }
    imagine();
    // The thread inside shall be in a cohort.
    CHECK_EQ(setenv("HEDDLE_BIAS", "none", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    run_on(cores[0]);
    inside_begin(MPI_COMM_SELF);
    for (int i = 0; i < WAITERS; i++) prepare(i);
    hold_while(direct);
    CHECK_OK(MPI_Waitall(WAITERS, inside.requests, MPI_STATUSES_IGNORE));
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (strcmp(orders[i].variant, argv[argc - 1]) != 0) continue;
        int next = 0;
        for (int place = 0; place < inside.count && next < orders[i].known; place++) {
            int tag = inside.entries[place].tag;
            if (tag < WAITERS) CHECK_EQ(tag, orders[i].order[next++]);
        }
        CHECK_EQ(next, orders[i].known);
    }
    if (atomic_load(&check_failures)) print_entries();
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
