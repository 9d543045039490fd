/* The benchmarks of the RMA locks' paper (HPDC 2016, section 5) on window locks: all ranks lock rank 0's window for reading or
 * writing.
 *
 * ecsb: nothing inside. sob: one access inside, a put or a get. wcsb: an access to a counter and 1 to 4 us of work inside.
 * warb: nothing inside, and 1 to 4 us of work after the release. lb: as ecsb; the figure is the time of lock and unlock.
 * Behind a hyphen stands F_W, the percentage of acquisitions for writing; without one all are. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN_CHECKS 16
#define WORK_LOW_NS 1000
#define WORK_NS 3000 /* more at most */

static MPI_Win window;

enum workload { EMPTY, SINGLE_ACCESS, WORK_INSIDE, WORK_AFTER };

static void open_window(struct bench *b) {
    int64_t *memory;
    MPI_Info hints = hints_of(&b->opt);
    MPI_Win_allocate(sizeof *memory, 1, hints, participants, &memory, &window);
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    *memory = 0;
    MPI_Barrier(participants);
}

static void close_window(struct bench *b) {
    (void)b;
    MPI_Win_free(&window);
}

static uint64_t drawn(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void work(uint64_t *random) {
    for (int64_t end = now_ns() + WORK_LOW_NS + (int64_t)(drawn(random) % WORK_NS); now_ns() < end;) {}
}

static enum workload workload_of(const char *op) {
    if (strncmp(op, "sob", 3) == 0) return SINGLE_ACCESS;
    if (strncmp(op, "wcsb", 4) == 0) return WORK_INSIDE;
    return strncmp(op, "warb", 4) == 0 ? WORK_AFTER : EMPTY;
}

/* F_W in thousandths. */
static uint64_t writers_of(const char *op) {
    const char *hyphen = strchr(op, '-');
    return hyphen ? (uint64_t)(strtod(hyphen + 1, NULL) * 10 + 0.5) : 1000;
}

static void inside(enum workload workload, bool writes, uint64_t *random) {
    int64_t value = 1;
    if (workload != SINGLE_ACCESS && workload != WORK_INSIDE) return;
    if (workload == WORK_INSIDE || !writes) MPI_Get(&value, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window);
    if (workload == WORK_INSIDE) {
        MPI_Win_flush(0, window);
        value++;
    }
    if (writes) MPI_Put(&value, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window);
    if (workload == WORK_INSIDE) work(random);
}

static void lock_in_turn(struct worker *w) {
    struct bench *b = w->bench;
    enum workload workload = workload_of(b->opt.op);
    uint64_t writers = writers_of(b->opt.op), random = 88172645463325252u + (uint64_t)b->rank * 7919u;
    int64_t last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < BETWEEN_CHECKS; i++) {
            bool writes = drawn(&random) % 1000 < writers;
            MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, window);
            inside(workload, writes, &random);
            MPI_Win_unlock(0, window);
            if (workload == WORK_AFTER) work(&random);
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, BETWEEN_CHECKS);
        last = now;
    }
}

static void nothing(struct worker *w) { (void)w; }

static const char *const load_ops[] = {"ecsb", "ecsb-5", "ecsb-2", "ecsb-0.2", "sob",  "sob-5",  "sob-2",  "sob-0.2",
                                       "wcsb", "wcsb-5", "wcsb-2", "wcsb-0.2", "warb", "warb-5", "warb-2", "warb-0.2", NULL};
static const char *const latency_ops[] = {"lb", "lb-5", "lb-2", "lb-0.2", NULL};

const struct subject subject_lockload = {
    .name = "lockload",
    .summary = "window locks a second of all processes at one target, with the workloads of the RMA locks' paper",
    .unit = "lock/s",
    .ranks = RANKS_ANY,
    .ops = load_ops,
    .open = open_window,
    .close = close_window,
    .prepare = nothing,
    .repeat = lock_in_turn,
    .finish = nothing,
    .value = units_a_second,
    .all_measure = true,
};

const struct subject subject_locklatency = {
    .name = "locklatency",
    .summary = "time of a window lock and its unlock, while all processes lock one target",
    .unit = "us",
    .ranks = RANKS_ANY,
    .ops = latency_ops,
    .open = open_window,
    .close = close_window,
    .prepare = nothing,
    .repeat = lock_in_turn,
    .finish = nothing,
    .value = mean_us,
    .all_measure = true,
};
