// The counters of critical sections count what happens: acquisitions that found another thread inside, how long they waited,
// operations run for others, tries that were refused, acquisitions that completed something, requests that are complete,
// what collections found, and acquisitions after another thread.
// ranks: 2
// levels: multiple
// models: default
// variants: waiting waiting-progress combined refused progress global completed collections adaptive handovers-core handovers-package handovers-machine handovers-biased handovers-plain handovers-pair handovers-combined
// heddle: only
#define _GNU_SOURCE
#include "counters.h"
#include "inside.h"
#include <sched.h>

enum { WAITERS = 4, MESSAGE = 50, HELD_MS = 5, MESSAGES = 100, USED = 4, THRESHOLD = 10, TURNS = 10, STREAK = 40, IN_USE = 512 };

static struct actor waiters[WAITERS];
// Once all waiters sleep, the thread inside stays for a known time.
static void direct(int index) {
    (void)index;
    uintptr_t words[WAITERS];
    line_up(waiters, WAITERS, enter, words);
    for (int i = 0; i < WAITERS; i++) CHECK(words[i] != 0);
    nanosleep(&(struct timespec){.tv_nsec = HELD_MS * 1000000L}, NULL);
    let_in(waiters, WAITERS);
}

static void test_once(int index) {
    int flag = 1;
    CHECK_OK(MPI_Test(&inside.requests[index], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

static void direct_test(int index) {
    (void)index;
    sem_wait(&inside.held);
    actor_begin(&waiters[0], MESSAGE, test_once);
    actor_end(&waiters[0]);
    sem_post(&inside.released);
}

// A test goes away when it finds another thread inside.
static void check_refused(void) {
    int received = 0, sent = 0;
    struct counter refused = counter_start("heddle_refused_tries");
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    hold_while(direct_test);
    CHECK(counter_end(&refused) > 0);
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
}

// The contended acquisitions and the time waited, by path and together.
struct contention {
    struct counter main, progress, sum, main_time, progress_time, time;
};

static struct contention contention_start(void) {
    return (struct contention){
        .main = counter_start("heddle_contended_acquisitions_main"),
        .progress = counter_start("heddle_contended_acquisitions_progress"),
        .sum = counter_start("heddle_contended_acquisitions"),
        .main_time = timer_start("heddle_time_waited_main"),
        .progress_time = timer_start("heddle_time_waited_progress"),
        .time = timer_start("heddle_time_waited"),
    };
}

struct contended {
    unsigned long long main, progress;
    double main_time, progress_time;
};

static struct contended contention_end(struct contention *counted) {
    struct contended ended = {counter_end(&counted->main), counter_end(&counted->progress), timer_end(&counted->main_time),
                              timer_end(&counted->progress_time)};
    CHECK_EQ(counter_end(&counted->sum), ended.main + ended.progress);
    double difference = timer_end(&counted->time) - ended.main_time - ended.progress_time;
    CHECK(difference > -1e-6 && difference < 1e-6);
    return ended;
}

static void check_waiting(bool combined) {
    for (int i = 0; i < WAITERS; i++) prepare(i);
    struct counter for_others = counter_start("heddle_operations_for_others");
    struct counter handovers = counter_start("heddle_handovers");
    struct contention counted = contention_start();
    hold_while(direct);
    CHECK_OK(MPI_Waitall(WAITERS, inside.requests, MPI_STATUSES_IGNORE));
    struct contended contended = contention_end(&counted);
    // The thread inside may find a waiter there when it comes again.
    CHECK(contended.main >= WAITERS && contended.main <= WAITERS + 1);
    CHECK_EQ(contended.progress, 0);
    CHECK_EQ(counter_end(&for_others), combined ? WAITERS : 0);
    // The thread inside runs the operations of all waiters; otherwise each of them enters, and the thread comes again.
    unsigned long long handed = counter_end(&handovers);
    CHECK(combined ? handed == 0 : handed >= WAITERS && handed <= WAITERS + 2);
    // Of combined operations only a sample is timed.
    if (!combined) CHECK(contended.main_time >= WAITERS * HELD_MS * 1e-3);
}

static void wait_for_message(int index) { CHECK_OK(MPI_Wait(&inside.requests[index], MPI_STATUS_IGNORE)); }

static void direct_wait(int index) {
    (void)index;
    sem_wait(&inside.held);
    actor_begin(&waiters[0], MESSAGE, wait_for_message);
    CHECK(await_sleep(&waiters[0]) != 0);
    nanosleep(&(struct timespec){.tv_nsec = HELD_MS * 1000000L}, NULL);
    sem_post(&inside.released);
    CHECK_OK(MPI_Send(&index, 1, MPI_INT, 0, MESSAGE, inside.comm));
    actor_end(&waiters[0]);
}

// A thread that waits for a message waits on the progress path.
static void check_waiting_progress(void) {
    int received = 0;
    struct contention counted = contention_start();
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    hold_while(direct_wait);
    struct contended contended = contention_end(&counted);
    CHECK(contended.progress >= 1);
    CHECK(contended.progress_time >= HELD_MS * 1e-3);
    // The thread inside may find others there when it comes again, and so may the thread that sends.
    CHECK(contended.main <= 2);
}

static void check_progress(void) {
    int received = 0;
    struct counter productive = counter_start("heddle_productive_progress");
    struct counter entries = counter_start("heddle_acquisitions_progress");
    for (int i = 0; i < MESSAGES; i++) {
        // The message is sent when its receive has been posted, so the waiting thread completes it.
        CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 1, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, MESSAGE, inside.comm));
        CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
    }
    CHECK(counter_read(&productive) >= MESSAGES);
    CHECK(counter_end(&productive) <= counter_end(&entries));
}

static struct counter fruitful, main_entries;

// How many entries of `act` on the main path did something, of how many.
static void check_entries(void (*act)(int index), unsigned long long productive, unsigned long long entries) {
    fruitful = counter_start("heddle_productive_main");
    main_entries = counter_start("heddle_acquisitions_main");
    act(MESSAGE);
    CHECK_EQ(counter_end(&fruitful), productive);
    CHECK_EQ(counter_end(&main_entries), entries);
}

static void test_often(int index) {
    for (int i = 0; i < MESSAGES; i++) test_once(index);
}

static void receive(int index) {
    static int received;
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 1, index, inside.comm, &inside.requests[index]));
}

// Under one lock around every call a receive does something and a test of a pending request does not; a thread that
// waits does something on the progress path when its message has come.
static void check_global(void) {
    int value = 0;
    struct counter productive = counter_start("heddle_productive_progress");
    check_entries(receive, 1, 1);
    check_entries(test_often, 0, MESSAGES);
    CHECK_EQ(counter_read(&productive), 0);
    actor_begin(&waiters[0], MESSAGE, wait_for_message);
    CHECK(await_sleep(&waiters[0]) != 0);
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, MESSAGE, inside.comm));
    actor_end(&waiters[0]);
    CHECK_EQ(counter_end(&productive), 1);
    // A call that only frees a request does something, too.
    MPI_Request sent;
    int received = -1;
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 0, MESSAGE, inside.comm, &sent));
    check_entries(wait_for_message, 1, 1);
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

// Of requests that complete one by one, those are counted that the program has not completed yet.
static void check_completed(void) {
    int received[MESSAGES], before, idle;
    MPI_Request requests[MESSAGES], persistent;
    struct counter level = counter_start_class("heddle_completed_requests", MPI_T_PVAR_CLASS_LEVEL);
    before = (int)counter_read(&level);
    CHECK_OK(MPI_Recv_init(&idle, 1, MPI_INT, 0, MESSAGE, inside.comm, &persistent));
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Irecv(&received[i], 1, MPI_INT, 0, MESSAGE, inside.comm, &requests[i]));
    }
    CHECK_EQ(counter_read(&level), before);
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, MESSAGE, inside.comm));
        CHECK_EQ(counter_read(&level), before + i + 1);
    }
    CHECK_OK(MPI_Waitall(MESSAGES / 2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(counter_read(&level), before + MESSAGES / 2);
    for (int i = MESSAGES / 2; i < MESSAGES; i++) CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_EQ(counter_read(&level), before);
    // A persistent request waits to be started again once it is complete.
    CHECK_OK(MPI_Start(&persistent));
    CHECK_OK(MPI_Send(&before, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_EQ(counter_read(&level), before + 1);
    CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    CHECK_EQ(counter_end(&level), before);
    CHECK_OK(MPI_Request_free(&persistent));
}

static MPI_Datatype make_type(void) {
    MPI_Datatype type;
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

// Makes datatypes and frees them.
static void free_types(int count) {
    for (int i = 0; i < count; i++) {
        MPI_Datatype type = make_type();
        CHECK_OK(MPI_Type_free(&type));
    }
}

// A collection keeps the freed datatypes that active receives use, and destroys the others.
static void check_collections(void) {
    int received[USED];
    MPI_Request requests[USED];
    struct counter cycles = counter_start("heddle_collections");
    struct counter marks = counter_start("heddle_collection_marks");
    struct counter sweeps = counter_start("heddle_collection_sweeps");
    for (int i = 0; i < USED; i++) {
        MPI_Datatype type = make_type();
        CHECK_OK(MPI_Irecv(&received[i], 1, type, 0, MESSAGE, inside.comm, &requests[i]));
        CHECK_OK(MPI_Type_free(&type));
    }
    free_types(THRESHOLD - USED);
    CHECK_EQ(counter_read(&cycles), 0);
    // As many are freed now as start a collection: the next datatype does.
    free_types(1);
    CHECK_EQ(counter_read(&cycles), 1);
    CHECK_EQ(counter_read(&marks), USED);
    CHECK_EQ(counter_read(&sweeps), THRESHOLD - USED);
    for (int i = 0; i < USED; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_OK(MPI_Waitall(USED, requests, MPI_STATUSES_IGNORE));
    free_types(THRESHOLD);
    CHECK_EQ(counter_end(&cycles), 2);
    CHECK_EQ(counter_end(&marks), USED);
    CHECK_EQ(counter_end(&sweeps), 2 * THRESHOLD);
}

// Once a collection has found many freed objects in use, the next one waits until as many more are freed.
static void check_adaptive(void) {
    static int received[IN_USE];
    static MPI_Request requests[IN_USE];
    struct counter cycles = counter_start("heddle_collections");
    for (int i = 0; i < IN_USE; i++) {
        MPI_Datatype type = make_type();
        CHECK_OK(MPI_Irecv(&received[i], 1, type, 0, MESSAGE, inside.comm, &requests[i]));
        CHECK_OK(MPI_Type_free(&type));
    }
    unsigned long long before = counter_read(&cycles);
    CHECK(before > 0);
    free_types(4 * IN_USE);
    // The first of these comes at the threshold of before.
    CHECK(counter_end(&cycles) - before <= 5);
    for (int i = 0; i < IN_USE; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_OK(MPI_Waitall(IN_USE, requests, MPI_STATUSES_IGNORE));
}

static int cores[2];

// Has hwloc describe a machine whose two cores, those of this test, are as near as the variant says.
static void imagine(int packages, int cores_a_package, int threads_a_core) {
    int groups = packages * cores_a_package, threads = (cores[0] > cores[1] ? cores[0] : cores[1]) + 1;
    char *words = check_alloc(128 + 24 * (size_t)threads), *end = words;
    end += sprintf(end, "package:%d core:%d pu:%d(indexes=", packages, cores_a_package, threads_a_core * threads);
    for (int group = 0, other = 0; group < 2; group++) {
        end += sprintf(end, "%s%d", group ? "," : "", cores[group]);
        for (int i = 1; i < threads; i++, other++) {
            while (other == cores[0] || other == cores[1]) other++;
            end += sprintf(end, ",%d", other);
        }
    }
    sprintf(end, ")");
    CHECK_EQ(groups * threads_a_core, 2);
    CHECK_EQ(setenv("HWLOC_SYNTHETIC", words, 1), 0);
    free(words);
}

static bool find_cores(void) {
    int found = 0;
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++) {
        if (CPU_ISSET(core, &allowed)) cores[found++] = core;
    }
    return found == 2;
}

static void run_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

static sem_t turn[2];
static int streak, posted[2];
static MPI_Request receives[2][(TURNS + 1) * STREAK];

// Enters the critical section several times in a row.
static void post(int thread) {
    static int received;
    for (int i = 0; i < streak; i++) {
        CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &receives[thread][posted[thread]++]));
    }
}

static void take_turns(int thread) {
    run_on(cores[thread]);
    for (int i = 0; i < TURNS; i++) {
        sem_wait(&turn[thread]);
        post(thread);
        sem_post(&turn[!thread]);
    }
}

// Two threads enter by turns: each turn is a hand-over, and all of them are of one level.
static void check_handovers(const char *level) {
    static const char *const levels[] = {"core", "package", "machine"};
    struct counter all, of[3];
    for (int i = 0; i < 2; i++) sem_init(&turn[i], 0, 0);
    // The first thread is inside last.
    post(0);
    all = counter_start("heddle_handovers");
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "heddle_handovers_%s", levels[i]);
        of[i] = counter_start(name);
    }
    sem_post(&turn[1]);
    actor_begin(&waiters[0], 1, take_turns);
    take_turns(0);
    actor_end(&waiters[0]);
    CHECK_EQ(counter_end(&all), 2 * TURNS);
    for (int i = 0; i < 3; i++) CHECK_EQ(counter_end(&of[i]), strcmp(levels[i], level) == 0 ? 2 * TURNS : 0);
    for (int i = 0; i < posted[0] + posted[1]; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, MESSAGE, inside.comm));
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Waitall(posted[i], receives[i], MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided, value = 0;
    if (strcmp(variant, "waiting-progress") == 0) CHECK_EQ(setenv("HEDDLE_PROGRESS_ENTRY", "wait", 1), 0);
    bool handovers = strncmp(variant, "handovers-", 10) == 0;
    const char *level = handovers ? variant + 10 : "";
    streak = strcmp(level, "biased") == 0 ? STREAK : 1;
    if (handovers && !find_cores()) {
        fprintf(stderr, "this needs two cores\n");
        return 0;
    }
    // From the start: the place of a thread is noted when it enters after another one.
    if (handovers) run_on(cores[0]);
    if (strcmp(level, "plain") == 0) CHECK_EQ(setenv("HEDDLE_BIAS", "none", 1), 0);
    if (strcmp(level, "pair") == 0) CHECK_EQ(setenv("HEDDLE_ARBITRATION", "p-mcs-mcs", 1), 0);
    if (strcmp(level, "combined") == 0) CHECK_EQ(setenv("HEDDLE_EXECUTION", "csync", 1), 0);
    if (handovers && strcmp(level, "core") != 0 && strcmp(level, "machine") != 0) level = "package";
    if (strcmp(level, "core") == 0) imagine(1, 1, 2);
    if (strcmp(level, "package") == 0) imagine(1, 2, 1);
    if (strcmp(level, "machine") == 0) imagine(2, 1, 1);
    if (strcmp(variant, "combined") == 0) CHECK_EQ(setenv("HEDDLE_EXECUTION", "csync", 1), 0);
    if (strcmp(variant, "global") == 0) CHECK_EQ(setenv("HEDDLE_GRANULARITY", "global", 1), 0);
    if (strcmp(variant, "collections") == 0) CHECK_EQ(setenv("HEDDLE_COLLECT_THRESHOLD", "10", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_WORLD);
    if (strcmp(variant, "global") == 0) {
        if (check_rank == 0) {
            check_global();
        } else {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, MESSAGE, inside.comm, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, MESSAGE, inside.comm));
        }
    } else if (strcmp(variant, "progress") == 0) {
        if (check_rank == 0) check_progress();
        for (int i = 0; check_rank == 1 && i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, MESSAGE, inside.comm, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, MESSAGE, inside.comm));
        }
    } else if (check_rank == 0 && strcmp(variant, "refused") == 0) {
        check_refused();
    } else if (check_rank == 0 && strcmp(variant, "waiting-progress") == 0) {
        check_waiting_progress();
    } else if (handovers) {
        if (check_rank == 0) check_handovers(level);
    } else if (check_rank == 0 && strcmp(variant, "completed") == 0) {
        check_completed();
    } else if (check_rank == 0 && strcmp(variant, "collections") == 0) {
        check_collections();
    } else if (check_rank == 0 && strcmp(variant, "adaptive") == 0) {
        check_adaptive();
    } else if (check_rank == 0) {
        check_waiting(strcmp(variant, "combined") == 0);
    }
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
