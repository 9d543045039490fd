// The lock of a critical section is the one that was chosen: seen by the order in which threads enter, and by the words on
// which they sleep while one thread stays inside.
// ranks: 1
// levels: multiple
// models: default
// settings ticket: HEDDLE_ARBITRATION=ticket
// settings mcs: HEDDLE_ARBITRATION=mcs
// settings clh: HEDDLE_ARBITRATION=clh
// settings abortable-mcs: HEDDLE_ARBITRATION=abortable-mcs
// settings hmcs: HEDDLE_ARBITRATION=hmcs
// settings strict-ticket: HEDDLE_ARBITRATION=strict-ticket
// settings strict-mcs: HEDDLE_ARBITRATION=strict-mcs
// settings strict-clh: HEDDLE_ARBITRATION=strict-clh
// settings strict-abortable-mcs: HEDDLE_ARBITRATION=strict-abortable-mcs
// settings strict-hmcs: HEDDLE_ARBITRATION=strict-hmcs
// settings pair: HEDDLE_ARBITRATION=p-ticket-mcs
// settings per-vni-ticket: HEDDLE_MODEL=per-vni-ticket
// settings per-vni-mcs: HEDDLE_MODEL=per-vni-mcs
// settings per-vni-clh: HEDDLE_MODEL=per-vni-clh
// settings per-vni-hmcs: HEDDLE_MODEL=per-vni-hmcs
// settings hmcs-usc: HEDDLE_MODEL=hmcs-usc
// settings global-mcs: HEDDLE_MODEL=global-mcs
// settings global-p-mcs-mcs: HEDDLE_MODEL=global-p-mcs-mcs
// settings p-mcs-mcs: HEDDLE_MODEL=p-mcs-mcs
// settings p-hmcs-mcs: HEDDLE_MODEL=p-hmcs-mcs
// settings topc2019-ticket: HEDDLE_MODEL=topc2019-ticket
// settings topc2019-mcs: HEDDLE_MODEL=topc2019-mcs
// settings topc2019-hmcs: HEDDLE_MODEL=topc2019-hmcs
// settings topc2019-p-mcs-mcs: HEDDLE_MODEL=topc2019-p-mcs-mcs
// settings topc2019-p-hmcs-mcs: HEDDLE_MODEL=topc2019-p-hmcs-mcs
// settings ics2019-per-vni: HEDDLE_MODEL=ics2019-per-vni
// settings ics2019-hmcs-usc: HEDDLE_MODEL=ics2019-hmcs-usc
// heddle: only
#include "inside.h"

enum { WAITERS = 4, DOORBELLS_BYTES = 1024, DOORBELL_BYTES = 64, LOCK_BYTES = 4096, STRICT_ROUNDS = 30, MOST_ROUNDS = 3000 };

// The words on which the threads of a queue sleep.
enum words {
    NODES,              // on a word of a node, one for each thread
    DOORBELLS,          // on one of the lock's words
    DOORBELLS_IN_A_ROW, // on the lock's words, one after the other
};

// The order between the thread that was inside, when it comes again, and the threads that wait.
enum order { STRICT, OVERTAKING, IN_CLASSES };

static const struct lock {
    const char *variant;
    enum words words;
    enum order order;
} locks[] = {
    {"ticket", DOORBELLS_IN_A_ROW, OVERTAKING},
    {"mcs", NODES, OVERTAKING},
    {"clh", DOORBELLS, OVERTAKING},
    {"abortable-mcs", DOORBELLS, OVERTAKING},
    {"hmcs", NODES, OVERTAKING},
    {"strict-ticket", DOORBELLS_IN_A_ROW, STRICT},
    {"strict-mcs", NODES, STRICT},
    {"strict-clh", DOORBELLS, STRICT},
    {"strict-abortable-mcs", DOORBELLS, STRICT},
    {"strict-hmcs", NODES, STRICT},
    {"pair", DOORBELLS_IN_A_ROW, IN_CLASSES},
    {"per-vni-ticket", DOORBELLS_IN_A_ROW, OVERTAKING},
    {"per-vni-mcs", NODES, OVERTAKING},
    {"per-vni-clh", DOORBELLS, OVERTAKING},
    {"per-vni-hmcs", NODES, OVERTAKING},
    {"hmcs-usc", NODES, OVERTAKING},
    {"global-mcs", NODES, OVERTAKING},
    {"global-p-mcs-mcs", NODES, IN_CLASSES},
    {"p-mcs-mcs", NODES, IN_CLASSES},
    {"p-hmcs-mcs", NODES, IN_CLASSES},
    {"topc2019-ticket", DOORBELLS_IN_A_ROW, STRICT},
    {"topc2019-mcs", NODES, STRICT},
    {"topc2019-hmcs", NODES, STRICT},
    {"topc2019-p-mcs-mcs", NODES, IN_CLASSES},
    {"topc2019-p-hmcs-mcs", NODES, IN_CLASSES},
    {"ics2019-per-vni", NODES, STRICT},
    {"ics2019-hmcs-usc", NODES, STRICT},
};

static struct actor waiters[WAITERS];
static uintptr_t words[WAITERS];

// The waiters come one by one, each when those before it sleep.
static void direct(int index) {
    (void)index;
    line_up(waiters, WAITERS, enter, words);
    for (int i = 0; i < WAITERS; i++) CHECK(words[i] != 0);
    let_in(waiters, WAITERS);
}

// Returns true if the thread that was inside entered again before a waiter.
static bool is_overtaken(void) {
    for (int i = 0; i < WAITERS; i++) prepare(i);
    hold_while(direct);
    CHECK_OK(MPI_Waitall(WAITERS, inside.requests, MPI_STATUSES_IGNORE));
    // Every queue is served in order.
    for (int i = 1; i < WAITERS; i++) CHECK(place_of(i - 1) < place_of(i));
    return place_of(AGAIN) < place_of(WAITERS - 1);
}

static bool are_near(int i, int j) {
    return (words[i] > words[j] ? words[i] - words[j] : words[j] - words[i]) < LOCK_BYTES;
}

static bool next_doorbell(int i) { return (words[i + 1] - words[i]) % DOORBELLS_BYTES == DOORBELL_BYTES; }

// The first waiter may sleep elsewhere, since it is the head of the queue.
static void check_words(const struct lock *lock) {
    switch (lock->words) {
    case NODES:
        CHECK(!are_near(1, 2) && !are_near(2, 3));
        break;
    case DOORBELLS:
        CHECK(are_near(1, 2) && are_near(2, 3));
        if (lock->order == OVERTAKING) CHECK(words[0] != words[1] && words[0] != words[2] && words[0] != words[3]);
        break;
    case DOORBELLS_IN_A_ROW:
        CHECK(next_doorbell(1) && next_doorbell(2));
        CHECK_EQ(next_doorbell(0), lock->order == STRICT);
    }
}

static void check_order(enum order order) {
    int overtaken = 0, rounds = 0;
    if (order == STRICT) {
        uintptr_t first = 0;
        bool moves = false;
        while (rounds++ < STRICT_ROUNDS) {
            overtaken += is_overtaken();
            moves |= first && first != words[0];
            first = words[0];
        }
        CHECK_EQ(overtaken, 0);
        // Behind a word that a running thread may take again, the head of the queue would always sleep on the same one.
        CHECK(moves);
    } else if (order == OVERTAKING) {
        while (!overtaken && rounds++ < MOST_ROUNDS) overtaken += is_overtaken();
        CHECK(overtaken > 0);
    }
}

int main(int argc, char **argv) {
    const struct lock *lock = locks;
    int provided;
    while (strcmp(lock->variant, argv[argc - 1]) != 0) lock++;
    // The thread inside shall hold the lock, not enter by a bias.
    CHECK_EQ(setenv("HEDDLE_BIAS", "none", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    inside_begin(MPI_COMM_SELF);
    is_overtaken();
    check_words(lock);
    check_order(lock->order);
    if (atomic_load(&check_failures)) print_entries();
    inside_end();
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
