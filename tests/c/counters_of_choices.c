// Counters tell what the model chooses while it runs: the biases that locks get and lose, by VNI and by thread, and polls that stand
// back from a thread that waits to issue an operation, which they do only where each thread has a core.
// ranks: 1
// levels: multiple
// models: default
// variants: biases polls polls-on-one-core
// heddle: only
#define _GNU_SOURCE
#include "counters.h"
#include "inside.h"
#include <sched.h>

enum { MESSAGE = 50, MESSAGES = 200, PLACES = 64 };

static void exchange(int count) {
    for (int i = 0, in = -1; i < count; i++) {
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, MESSAGE, inside.comm));
        CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
}

// The calling thread's element of a variable that has one for each thread.
static unsigned long long mine(const struct counter *by_thread) {
    unsigned long long counts[PLACES];
    if (!CHECK_EQ(by_thread->elements, PLACES)) return 0;
    CHECK_OK(MPI_T_pvar_read(by_thread->session, by_thread->handle, counts));
    return counts[counter_level("heddle_thread_place")];
}

static struct counter given_by_thread, revoked_by_thread;

static void take_bias(int index) {
    exchange(index);
    CHECK_EQ(mine(&given_by_thread), 0);
    CHECK_EQ(mine(&revoked_by_thread), 1);
}

// The lock of the communicator's VNI is biased to a thread that is alone, until another one comes.
static void check_biases(void) {
    struct actor other;
    unsigned long long before = counter_level("heddle_biases"), before_vnis = counter_level("heddle_vni_biases");
    struct counter given = counter_start("heddle_biases_given"), given_vni = counter_start("heddle_vni_biases_given");
    struct counter revoked = counter_start("heddle_biases_revoked"), revoked_vni = counter_start("heddle_vni_biases_revoked");
    given_by_thread = counter_start("heddle_thread_biases_given");
    revoked_by_thread = counter_start("heddle_thread_biases_revoked");
    exchange(MESSAGES);
    CHECK_EQ(counter_read(&given), 1);
    CHECK_EQ(counter_read(&given_vni), 1);
    CHECK_EQ(mine(&given_by_thread), 1);
    CHECK_EQ(counter_read(&revoked), 0);
    CHECK_EQ(counter_level("heddle_biases"), before + 1);
    CHECK_EQ(counter_level("heddle_vni_biases"), before_vnis + 1);
    actor_begin(&other, 1, take_bias);
    actor_end(&other);
    CHECK_EQ(mine(&revoked_by_thread), 0);
    CHECK_EQ(counter_end(&given), 1);
    CHECK_EQ(counter_end(&given_vni), 1);
    CHECK_EQ(counter_end(&revoked), 1);
    CHECK_EQ(counter_end(&revoked_vni), 1);
    CHECK_EQ(counter_level("heddle_biases"), before);
    CHECK_EQ(counter_level("heddle_vni_biases"), before_vnis);
    counter_end(&given_by_thread);
    counter_end(&revoked_by_thread);
}

static struct actor waiter, tester;
static unsigned long long each_has_core;

static void test_once(int index) {
    int flag = 1;
    CHECK_OK(MPI_Test(&inside.requests[index], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

// While one thread is inside and another one waits to issue an operation, a third one tests.
static void direct(int index) {
    uintptr_t word;
    (void)index;
    line_up(&waiter, 1, enter, &word);
    CHECK(word != 0);
    each_has_core = counter_level("heddle_each_thread_has_core");
    actor_begin(&tester, MESSAGE, test_once);
    actor_end(&tester);
    let_in(&waiter, 1);
}

static void check_polls(bool has_cores) {
    int received = 0, sent = 0;
    prepare(0);
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 0, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    struct counter all = counter_start("heddle_polls_left_out"), of_vnis = counter_start("heddle_vni_polls_left_out");
    hold_while(direct);
    CHECK_EQ(each_has_core, has_cores);
    CHECK_EQ(counter_end(&all) > 0, has_cores);
    CHECK_EQ(counter_end(&of_vnis) > 0, has_cores);
    CHECK_OK(MPI_Wait(&inside.requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&sent, 1, MPI_INT, 0, MESSAGE, inside.comm));
    CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
}

// Leaves this process one of its cores.
static void give_up_cores(cpu_set_t *allowed) {
    int core = 0;
    while (!CPU_ISSET(core, allowed)) core++;
    CPU_ZERO(allowed);
    CPU_SET(core, allowed);
    CHECK_EQ(sched_setaffinity(0, sizeof *allowed, allowed), 0);
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided;
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (strcmp(variant, "polls-on-one-core") == 0) give_up_cores(&allowed);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_SELF);
    // The thread inside and the one that waits have counted; the one that tests has not yet.
    if (strcmp(variant, "biases") == 0) check_biases();
    else check_polls(CPU_COUNT(&allowed) >= 2);
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
