// Threads wait as the settings say: seen by the words on which they sleep, by a test that waits for a critical section in
// which another thread stays, and by the number of tests that try it.
// ranks: 2
// levels: multiple
// models: default
// settings counter: HEDDLE_WAKEUP=counter
// settings patience: HEDDLE_BIAS=none HEDDLE_TEST_PATIENCE=4000000
// settings process: HEDDLE_MODEL=ijhpca2010-brief-global HEDDLE_TEST_PATIENCE=4000000
// settings impatience: HEDDLE_BIAS=none HEDDLE_TEST_PATIENCE=20000
// settings again: HEDDLE_BIAS=none HEDDLE_TEST_PATIENCE=1000000
// settings global: HEDDLE_MODEL=topc2019-mcs HEDDLE_ARBITRATION=strict-abortable-mcs HEDDLE_TEST_PATIENCE=1000000
// settings backoff: HEDDLE_TEST_BACKOFF=exponential
// settings ics2019-lockq-mcs: HEDDLE_MODEL=ics2019-lockq-mcs
// settings ics2019-lockq-mtx: HEDDLE_MODEL=ics2019-lockq-mtx
// settings lockq-mcs: HEDDLE_ARBITRATION=mcs
// settings lockq-clh: HEDDLE_ARBITRATION=clh
// settings lockq-mutex: HEDDLE_ARBITRATION=mutex
// heddle: only
#include "counters.h"
#include "inside.h"

enum { WAITERS = 3, MESSAGE = 50, TESTS = 1000, HOLDS = 2, ATTEMPTS = 500, LOCK_BYTES = 4096 };

static struct actor waiters[WAITERS], tester, other_tester;
static MPI_Request pending[WAITERS];
static int received[WAITERS];

static void wait_for_message(int index) { CHECK_OK(MPI_Wait(&pending[index], MPI_STATUS_IGNORE)); }

// Under `counter` one waiter sleeps until the process gets a message; each of the others, until its own message has come.
static void check_wake_up(void) {
    uintptr_t words[WAITERS];
    for (int i = 0; i < WAITERS; i++) CHECK_OK(MPI_Irecv(&received[i], 1, MPI_INT, 1, i, inside.comm, &pending[i]));
    for (int i = 0; i < WAITERS; i++) actor_begin(&waiters[i], i, wait_for_message);
    for (int i = 0; i < WAITERS; i++) words[i] = await_sleep(&waiters[i]);
    for (int i = 0; i < WAITERS; i++) CHECK(words[i] != words[(i + 1) % WAITERS]);
    CHECK_OK(MPI_Send(&received[0], 1, MPI_INT, 1, MESSAGE, inside.comm));
    for (int i = 0; i < WAITERS; i++) actor_end(&waiters[i]);
}

static void test_once(int index) {
    int flag = 1;
    CHECK_OK(MPI_Test(&pending[index], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

// A test waits for the thread inside; it does not give up.
static void direct_patience(int index) {
    (void)index;
    uintptr_t word;
    line_up(&tester, 1, test_once, &word);
    CHECK(word != 0);
    let_in(&tester, 1);
}

// A test waits for the thread inside, and gives up. On a busy machine it may have given up before it is seen to sleep, so
// there are several, each in a thread of its own.
static void direct_impatience(int index) {
    (void)index;
    uintptr_t word = 0;
    struct counter given_up = counter_start("heddle_refused_tries");
    sem_wait(&inside.held);
    for (int attempt = 0; attempt < ATTEMPTS && !word; attempt++) {
        actor_begin(&tester, 0, test_once);
        word = await_sleep(&tester);
        actor_end(&tester);
    }
    CHECK(word != 0);
    CHECK(counter_end(&given_up) > 0);
    sem_post(&inside.released);
}

static atomic_int tested_times;

static void test_again(int index) {
    for (int i = 0; i < 3; i++) {
        test_once(index);
        atomic_fetch_add(&tested_times, 1);
    }
}

// So does one that backs off, whenever it tries again: after the second test, which does not.
static void direct_again(int index) {
    (void)index;
    uintptr_t word;
    line_up(&tester, 1, test_again, &word);
    CHECK(word != 0);
    while (atomic_load(&tested_times) < 2) look_again_soon();
    CHECK(await_sleep(&tester) != 0);
    actor_end(&tester);
    sem_post(&inside.released);
}

static void test_null(int index) {
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0, place = 0;
    CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    flag = 0;
    CHECK_OK(MPI_Testany(1, &request, &place, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && place == MPI_UNDEFINED);
    (void)index;
}

static void test_several(int index) {
    MPI_Request requests[] = {pending[index], MPI_REQUEST_NULL};
    int flag = 1, place = 0, count = 9, places[2];
    CHECK_OK(MPI_Testany(2, requests, &place, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag && place == MPI_UNDEFINED);
    flag = 1;
    CHECK_OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag);
    CHECK_OK(MPI_Testsome(2, requests, &count, places, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, 0);
}

// Under one lock around every call, all tests give up, but that of nothing, which has to succeed.
static void direct_global(int index) {
    (void)index;
    uintptr_t word;
    line_up(&tester, 1, test_once, &word);
    CHECK(word != 0);
    actor_end(&tester);
    actor_begin(&tester, 0, test_null);
    CHECK(await_sleep(&tester) != 0);
    actor_begin(&other_tester, 0, test_several);
    actor_end(&other_tester);
    // That one has given up three times meanwhile.
    CHECK(!atomic_load(&tester.over));
    let_in(&tester, 1);
}

static void check_patience(void (*direct)(int index)) {
    CHECK_OK(MPI_Irecv(&received[0], 1, MPI_INT, 1, 0, inside.comm, &pending[0]));
    hold_while(direct);
    CHECK_OK(MPI_Send(&received[0], 1, MPI_INT, 1, MESSAGE, inside.comm));
    CHECK_OK(MPI_Wait(&pending[0], MPI_STATUS_IGNORE));
}

static uintptr_t lock_words[WAITERS];

static void direct_lock(int index) {
    (void)index;
    line_up(waiters, WAITERS, wait_for_message, lock_words);
    sem_post(&inside.released);
}

static bool is_near(int i, int j) {
    return (lock_words[i] > lock_words[j] ? lock_words[i] - lock_words[j] : lock_words[j] - lock_words[i]) < LOCK_BYTES;
}

// Waiters wait for the lock that was chosen; they leave no poll to the thread inside. Those of a mutex sleep on its word, those
// of CLH on words of the lock, and those of MCS each in a node. The first one may sleep elsewhere, since it is the head of the queue.
static void check_lock(const char *lock) {
    for (int i = 0; i < WAITERS; i++) CHECK_OK(MPI_Irecv(&received[i], 1, MPI_INT, 1, i, inside.comm, &pending[i]));
    hold_while(direct_lock);
    for (int i = 0; i < WAITERS; i++) {
        CHECK(lock_words[i] != 0);
        fprintf(stderr, "waiter %d: %#lx\n", i, (unsigned long)lock_words[i]);
    }
    CHECK_EQ(lock_words[0] == lock_words[1], strcmp(lock, "mutex") == 0);
    CHECK_EQ(is_near(1, 2), strcmp(lock, "mcs") != 0);
    CHECK_OK(MPI_Send(&received[0], 1, MPI_INT, 1, MESSAGE, inside.comm));
    for (int i = 0; i < WAITERS; i++) actor_end(&waiters[i]);
}

static sem_t test_now, tested;
static struct counter refused;

// While another thread is inside, TESTS tests try about ten times: after 0, 1, 3, 7, .. others; on a busy machine a few more
// times, since a thread that tests for long polls beside. Once that thread has left, the tests find their message all the same,
// and start over.
static void test_beside_holder(int index) {
    (void)index;
    for (int hold = 0; hold < HOLDS; hold++) {
        sem_wait(&test_now);
        unsigned long long before = counter_read(&refused);
        for (int i = 0; i < TESTS; i++) test_once(hold);
        unsigned long long tries = counter_read(&refused) - before;
        fprintf(stderr, "hold %d: %llu tries\n", hold, tries);
        CHECK(tries >= 6 && tries <= TESTS / 10);
        sem_post(&tested);
        sem_wait(&test_now);
        for (int flag = 0; !flag;) CHECK_OK(MPI_Test(&pending[hold], &flag, MPI_STATUS_IGNORE));
        sem_post(&tested);
    }
}

static void direct_backoff(int index) {
    (void)index;
    sem_wait(&inside.held);
    sem_post(&test_now);
    sem_wait(&tested);
    sem_post(&inside.released);
}

static void check_backoff(void) {
    sem_init(&test_now, 0, 0);
    sem_init(&tested, 0, 0);
    refused = counter_start("heddle_refused_tries");
    actor_begin(&tester, 0, test_beside_holder);
    for (int hold = 0; hold < HOLDS; hold++) {
        CHECK_OK(MPI_Irecv(&received[0], 1, MPI_INT, 1, hold, inside.comm, &pending[hold]));
        hold_while(direct_backoff);
        CHECK_OK(MPI_Send(&received[0], 1, MPI_INT, 1, MESSAGE, inside.comm));
        sem_post(&test_now);
        sem_wait(&tested);
    }
    actor_end(&tester);
    counter_end(&refused);
}

// Rank 1 answers each message with `answers` others.
static void answer(int messages, int answers) {
    int data = 0;
    for (int i = 0; i < messages; i++) {
        CHECK_OK(MPI_Recv(&data, 1, MPI_INT, 0, MESSAGE, inside.comm, MPI_STATUS_IGNORE));
        for (int tag = i; tag < i + answers; tag++) CHECK_OK(MPI_Send(&data, 1, MPI_INT, 0, tag, inside.comm));
    }
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided;
#define IS(name) (strcmp(variant, name) == 0)
    bool wakes = IS("counter"), locks = IS("lockq-mcs") || IS("lockq-clh") || IS("lockq-mutex");
    bool backs_off = IS("backoff") || strncmp(variant, "ics2019-", 8) == 0;
    // LockQ over another lock than the variant's.
    if (locks) CHECK_EQ(setenv("HEDDLE_MODEL", IS("lockq-mcs") ? "lockq-mtx" : "lockq-mcs", 1), 0);
    if (locks) CHECK_EQ(setenv("HEDDLE_PROGRESS_ENTRY", "wait", 1), 0);
    if (IS("again")) CHECK_EQ(setenv("HEDDLE_TEST_BACKOFF", "exponential", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_WORLD);
    if (check_rank == 1) {
        answer(backs_off ? HOLDS : 1, wakes || locks ? WAITERS : 1);
    } else if (wakes) {
        check_wake_up();
    } else if (backs_off) {
        check_backoff();
    } else if (locks) {
        check_lock(variant + strlen("lockq-"));
    } else {
        check_patience(IS("patience") || IS("process") ? direct_patience : IS("again") ? direct_again : IS("global") ? direct_global : direct_impatience);
    }
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
