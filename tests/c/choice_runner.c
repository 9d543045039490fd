// The thread that runs an operation is the one that was chosen: seen by the thread in which an event is raised, while
// one thread stays inside and others come with operations.
// ranks: 1
// levels: multiple
// models: default
// settings csync: HEDDLE_EXECUTION=csync
// settings csync-limit: HEDDLE_EXECUTION=csync HEDDLE_COMBINING_LIMIT=2
// settings dsm-synch: HEDDLE_EXECUTION=dsm-synch
// settings dsm-synch-limit: HEDDLE_EXECUTION=dsm-synch HEDDLE_COMBINING_LIMIT=2
// settings lockq: HEDDLE_EXECUTION=lockq
// settings post-tries: HEDDLE_EXECUTION=lockq HEDDLE_POST_TRIES=4294967295
// settings offload: HEDDLE_EXECUTION=offload
// settings model-csync: HEDDLE_MODEL=csync
// settings model-lockq-mcs: HEDDLE_MODEL=lockq-mcs
// settings model-lockq-mtx: HEDDLE_MODEL=lockq-mtx
// settings model-offload: HEDDLE_MODEL=offload
// settings ics2019-csync: HEDDLE_MODEL=ics2019-csync
// settings ics2019-lockq-mcs: HEDDLE_MODEL=ics2019-lockq-mcs
// settings ics2019-lockq-mtx: HEDDLE_MODEL=ics2019-lockq-mtx
// settings ics2019-offload: HEDDLE_MODEL=ics2019-offload
// heddle: only
#include "inside.h"

enum { CALLERS = 4, SELF = -1, LIBRARY = -2, MANY_TRIES = 1000, MOST_ROUNDS = 3000 };

// The threads that run the callers' operations, and the next operation of the thread inside.
enum runners {
    THREAD_INSIDE, // that thread, while the callers wait
    TWO_AT_A_TIME, // a thread that is called runs two operations and hands on
    OWN_AND_NEXT,  // a combiner runs its own operation and the next one
    POSTED,        // the thread inside, when the callers have left
    AFTER_TRIES,   // a caller that tries until it gets in
    OFFLOADED,     // a thread of the library, when the callers have left
};

static const struct execution {
    const char *variant;
    enum runners runners;
} executions[] = {
    {"csync", THREAD_INSIDE},
    {"csync-limit", TWO_AT_A_TIME},
    {"dsm-synch", THREAD_INSIDE},
    {"dsm-synch-limit", OWN_AND_NEXT},
    {"lockq", POSTED},
    {"post-tries", AFTER_TRIES},
    {"offload", OFFLOADED},
    {"model-csync", THREAD_INSIDE},
    {"model-lockq-mcs", POSTED},
    {"model-lockq-mtx", POSTED},
    {"model-offload", OFFLOADED},
    {"ics2019-csync", THREAD_INSIDE},
    {"ics2019-lockq-mcs", POSTED},
    {"ics2019-lockq-mtx", POSTED},
    {"ics2019-offload", OFFLOADED},
};

static const int expected_runners[][CALLERS + 1] = {
    [THREAD_INSIDE] = {SELF, SELF, SELF, SELF, SELF}, [TWO_AT_A_TIME] = {SELF, SELF, 2, 2, SELF},
    [OWN_AND_NEXT] = {SELF, 1, 1, 3, 3},              [POSTED] = {SELF, SELF, SELF, SELF, SELF},
    [OFFLOADED] = {LIBRARY, LIBRARY, LIBRARY, LIBRARY, LIBRARY},
};

static struct actor callers[CALLERS];
static bool leave_at_once, kept_trying;
static pid_t main_thread;

static void direct(int index) {
    (void)index;
    uintptr_t words[CALLERS];
    line_up(callers, CALLERS, enter, words);
    for (int i = 0; i < CALLERS; i++) CHECK_EQ(words[i] == 0, leave_at_once);
    let_in(callers, CALLERS);
}

// Replaces the C library's function, for the MPI library, too: a yield of the caller that tries is counted, and gives no time
// slice away, so that it goes on however busy the machine is, unless it loses its core meanwhile.
static atomic_bool is_trying;
static atomic_int tries;

int sched_yield(void) {
    if (!atomic_load(&is_trying) || thread_id() != atomic_load(&callers[0].id)) return (int)syscall(SYS_sched_yield);
    atomic_fetch_add(&tries, 1);
    return 0;
}

// One caller, which tries many times, and then until it gets in.
static void direct_tries(int index) {
    (void)index;
    sem_wait(&inside.held);
    atomic_store(&tries, 0);
    atomic_store(&is_trying, true);
    actor_begin(&callers[0], 0, enter);
    while (!atomic_load(&callers[0].over) && atomic_load(&tries) < MANY_TRIES) look_again_soon();
    kept_trying = atomic_load(&tries) >= MANY_TRIES;
    sem_post(&inside.released);
    actor_end(&callers[0]);
    atomic_store(&is_trying, false);
}

// The thread that ran an operation: a caller's number, SELF for the thread inside, LIBRARY for one of the library's.
static int runner_of(int tag) {
    struct entry entry = inside.entries[place_of(tag)];
    for (int i = 0; i < CALLERS; i++) {
        if (entry.thread == atomic_load(&callers[i].id)) return i;
    }
    return entry.thread == main_thread ? SELF : LIBRARY;
}

static bool ran_one(int runner) {
    for (int i = 0; i < CALLERS; i++) {
        if (runner_of(i) == runner) return true;
    }
    return runner_of(AGAIN) == runner;
}

static void run_calls(void) {
    for (int i = 0; i < CALLERS; i++) prepare(i);
    hold_while(direct);
    CHECK_OK(MPI_Waitall(CALLERS, inside.requests, MPI_STATUSES_IGNORE));
}

static void check_runners(const int expected[]) {
    run_calls();
    // A waiting thread runs operations, too, while the library's thread has no core; that may be over in another round.
    for (int round = 0; round < MOST_ROUNDS && expected[0] == LIBRARY && ran_one(SELF); round++) run_calls();
    for (int i = 0; i < CALLERS; i++) CHECK_EQ(runner_of(i), expected[i]);
    CHECK_EQ(runner_of(AGAIN), expected[CALLERS]);
}

// A caller that has lost its core in a yield posts all the same; another round may be luckier.
static void check_tries(void) {
    bool has_got_in = false;
    for (int round = 0; round < MOST_ROUNDS && !has_got_in; round++) {
        prepare(0);
        hold_while(direct_tries);
        CHECK_OK(MPI_Wait(&inside.requests[0], MPI_STATUS_IGNORE));
        has_got_in = kept_trying && runner_of(0) == 0;
    }
    CHECK(has_got_in);
}

int main(int argc, char **argv) {
    const struct execution *execution = executions;
    int provided;
    while (strcmp(execution->variant, argv[argc - 1]) != 0) execution++;
    leave_at_once = execution->runners == POSTED || execution->runners == OFFLOADED;
    main_thread = thread_id();
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_SELF);
    if (execution->runners == AFTER_TRIES) {
        check_tries();
    } else {
        check_runners(expected_runners[execution->runners]);
    }
    if (atomic_load(&check_failures)) print_entries();
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
