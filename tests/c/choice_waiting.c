// Threads wait as the settings say: seen by the words on which they sleep, and by a test that waits for a critical
// section in which another thread stays.
// ranks: 2
// levels: multiple
// models: default
// settings counter: HEDDLE_WAKEUP=counter
// settings patience: HEDDLE_BIAS=none HEDDLE_TEST_PATIENCE=4000000
// settings impatience: HEDDLE_BIAS=none HEDDLE_TEST_PATIENCE=20000
// heddle: only
#include "inside.h"

enum { WAITERS = 3, MESSAGE = 50 };

static struct actor waiters[WAITERS], tester;
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

// A test waits for the thread inside, and gives up.
static void direct_impatience(int index) {
    (void)index;
    uintptr_t word;
    line_up(&tester, 1, test_once, &word);
    CHECK(word != 0);
    actor_end(&tester);
    sem_post(&inside.released);
}

static void check_patience(void (*direct)(int index)) {
    CHECK_OK(MPI_Irecv(&received[0], 1, MPI_INT, 1, 0, inside.comm, &pending[0]));
    hold_while(direct);
    CHECK_OK(MPI_Send(&received[0], 1, MPI_INT, 1, MESSAGE, inside.comm));
    CHECK_OK(MPI_Wait(&pending[0], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided, data = 0, messages = strcmp(variant, "counter") == 0 ? WAITERS : 1;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_WORLD);
    if (check_rank == 1) {
        CHECK_OK(MPI_Recv(&data, 1, MPI_INT, 0, MESSAGE, inside.comm, MPI_STATUS_IGNORE));
        for (int i = 0; i < messages; i++) CHECK_OK(MPI_Send(&data, 1, MPI_INT, 0, i, inside.comm));
    } else if (strcmp(variant, "counter") == 0) {
        check_wake_up();
    } else {
        check_patience(strcmp(variant, "patience") == 0 ? direct_patience : direct_impatience);
    }
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
