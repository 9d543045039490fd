// Threads that wait for a message enter the critical section to make progress as the model says: seen by the order of
// entries while another thread stays inside, and by the tries that were refused.
// ranks: 2
// levels: multiple
// models: default
// settings wait: HEDDLE_PROGRESS_ENTRY=wait
// settings pair: HEDDLE_ARBITRATION=p-strict-mcs-strict-mcs HEDDLE_PROGRESS_ENTRY=wait
// settings bound: HEDDLE_ARBITRATION=p-strict-mcs-strict-mcs HEDDLE_PROGRESS_ENTRY=wait HEDDLE_LOW_BOUND=2
// heddle: only
#include "counters.h"
#include "inside.h"

enum { ISSUERS = 4, MESSAGE = 50 };

static struct actor waiter, issuers[ISSUERS];
// In shared memory: set when the other rank shall send, and when it has.
static atomic_int *wanted, *sent;

static void wait_for_message(int index) {
    (void)index;
    CHECK_OK(MPI_Wait(&inside.requests[MESSAGE], MPI_STATUS_IGNORE));
}

// A waiting thread comes first, then threads that issue; then its message arrives.
static void direct(int index) {
    (void)index;
    sem_wait(&inside.held);
    actor_begin(&waiter, 0, wait_for_message);
    CHECK(await_sleep(&waiter) != 0);
    for (int i = 0; i < ISSUERS; i++) {
        actor_begin(&issuers[i], i, enter);
        CHECK(await_sleep(&issuers[i]) != 0);
    }
    atomic_store(wanted, 1);
    while (!atomic_load(sent)) look_again_soon();
    sem_post(&inside.released);
    for (int i = 0; i < ISSUERS; i++) actor_end(&issuers[i]);
    actor_end(&waiter);
}

// Checks how many issuing threads enter before the waiting one.
static void observe(int expected) {
    static int received;
    int before = 0;
    struct counter refused = counter_start("heddle_refused_tries");
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, 1, MESSAGE, inside.comm, &inside.requests[MESSAGE]));
    for (int i = 0; i < ISSUERS; i++) prepare(i);
    hold_while(direct);
    CHECK_OK(MPI_Waitall(ISSUERS, inside.requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(counter_end(&refused), 0);
    for (int i = 0; i < ISSUERS; i++) before += place_of(i) < place_of(MESSAGE);
    CHECK_EQ(before, expected);
    for (int i = 1; i < ISSUERS; i++) CHECK(place_of(i - 1) < place_of(i));
    if (atomic_load(&check_failures)) print_entries();
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided, unit;
    MPI_Aint size;
    MPI_Win shared;
    atomic_int *flags;
    // In a strict order, unless the variant is about another one.
    CHECK_EQ(setenv("HEDDLE_ARBITRATION", "strict-mcs", 0), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    CHECK_OK(MPI_Win_allocate_shared(check_rank == 0 ? 2 * (MPI_Aint)sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                                     &flags, &shared));
    CHECK_OK(MPI_Win_shared_query(shared, 0, &size, &unit, &flags));
    wanted = &flags[0];
    sent = &flags[1];
    if (check_rank == 0) atomic_init(wanted, 0), atomic_init(sent, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    inside_begin(MPI_COMM_WORLD);
    if (check_rank == 0) {
        // The waiting thread has come first, and the thread that stays inside is the first that passes it.
        observe(strcmp(variant, "pair") == 0 ? ISSUERS : strcmp(variant, "bound") == 0 ? 1 : 0);
    } else {
        while (!atomic_load(wanted)) look_again_soon();
        CHECK_OK(MPI_Send(&unit, 1, MPI_INT, 0, MESSAGE, inside.comm));
        atomic_store(sent, 1);
    }
    inside_end();
    CHECK_OK(MPI_Win_free(&shared));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
