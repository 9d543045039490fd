// The counters of critical sections count what happens: acquisitions that found another thread inside, how long they waited,
// operations run for others, tries that were refused, and acquisitions that completed something.
// ranks: 2
// levels: multiple
// models: default
// variants: waiting combined refused progress
// heddle: only
#include "counters.h"
#include "inside.h"

enum { WAITERS = 4, MESSAGE = 50, HELD_MS = 5, MESSAGES = 100 };

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
    int received = 0;
    struct counter refused = counter_start("heddle_refused_tries");
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    hold_while(direct_test);
    CHECK(counter_end(&refused) > 0);
    CHECK_OK(MPI_Send(&received, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
}

static void check_waiting(bool combined) {
    double waited = 0;
    struct counter contended = counter_start("heddle_contended_acquisitions");
    struct counter for_others = counter_start("heddle_operations_for_others");
    struct counter time = counter_start_class("heddle_time_waited", MPI_T_PVAR_CLASS_TIMER);
    for (int i = 0; i < WAITERS; i++) prepare(i);
    hold_while(direct);
    CHECK_OK(MPI_Waitall(WAITERS, inside.requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_T_pvar_read(time.session, time.handle, &waited));
    CHECK_OK(MPI_T_pvar_session_free(&time.session));
    CHECK(counter_end(&contended) >= WAITERS);
    CHECK_EQ(counter_end(&for_others), combined ? WAITERS : 0);
    // Of combined operations only a sample is timed.
    if (!combined) CHECK(waited >= WAITERS * HELD_MS * 1e-3);
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

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided, value = 0;
    if (strcmp(variant, "combined") == 0) CHECK_EQ(setenv("HEDDLE_EXECUTION", "csync", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_WORLD);
    if (strcmp(variant, "progress") == 0) {
        if (check_rank == 0) check_progress();
        for (int i = 0; check_rank == 1 && i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, MESSAGE, inside.comm, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, MESSAGE, inside.comm));
        }
    } else if (check_rank == 0 && strcmp(variant, "refused") == 0) {
        check_refused();
    } else if (check_rank == 0) {
        check_waiting(strcmp(variant, "combined") == 0);
    }
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
