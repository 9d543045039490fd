/* One-sided operations in windows of MPI_Win_allocate, within one MPI_Win_lock_all.
 *
 * put: rank 0's threads put to rank 1 (or get from it, or accumulate), windows of 64 operations and a flush; rank 1 does
 *     nothing, or waits in MPI_Recv (--target waits). With one-flush only thread 0 flushes.
 * putlatency: the same with a flush after each operation; also MPI_Fetch_and_op, of 8 bytes.
 * fetchop: every rank adds to a number of rank 0 (MPI_Fetch_and_op), with a flush after each.
 * winlock: every rank locks and unlocks rank 0's window, and does nothing inside. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_BETWEEN_CHECKS 64
#define CELL 64 /* bytes between the places of two threads */

static MPI_Win window;

static void open_window(struct bench *b) {
    size_t largest = 0;
    for (int i = 0; i < b->opt.size_count; i++) largest = b->opt.sizes[i] > largest ? b->opt.sizes[i] : largest;
    MPI_Aint bytes = (MPI_Aint)((largest + CELL) * (size_t)b->opt.threads);
    void *memory;
    MPI_Info hints = hints_of(&b->opt);
    MPI_Win_allocate(bytes, 1, hints, participants, &memory, &window);
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    memset(memory, 0, (size_t)bytes);
    MPI_Barrier(participants);
}

static void close_window(struct bench *b) {
    (void)b;
    MPI_Win_free(&window);
}

static void open_epoch(struct bench *b) {
    open_window(b);
    MPI_Win_lock_all(0, window);
}

static void close_epoch(struct bench *b) {
    MPI_Win_unlock_all(window);
    close_window(b);
}

static void prepare(struct worker *w) { w->state = buffer_new(w->bench->size + CELL); }

static void finish(struct worker *w) { free(w->state); }

enum kind { PUT, GET, ACCUMULATE, REPLACE, FETCH };

static enum kind kind_of(const struct bench *b) {
    return op_is(b, "get") ? GET : op_is(b, "accumulate") ? ACCUMULATE : op_is(b, "replace") ? REPLACE : op_is(b, "fetch") ? FETCH : PUT;
}

static void operate(enum kind kind, void *data, int size, MPI_Aint place) {
    switch (kind) {
    case PUT: MPI_Put(data, size, MPI_BYTE, 1, place, size, MPI_BYTE, window); break;
    case GET: MPI_Get(data, size, MPI_BYTE, 1, place, size, MPI_BYTE, window); break;
    case ACCUMULATE: MPI_Accumulate(data, size / 8, MPI_INT64_T, 1, place, size / 8, MPI_INT64_T, MPI_SUM, window); break;
    case REPLACE: MPI_Accumulate(data, size / 8, MPI_INT64_T, 1, place, size / 8, MPI_INT64_T, MPI_REPLACE, window); break;
    case FETCH: MPI_Fetch_and_op(data, (char *)data + size, MPI_INT64_T, 1, place, MPI_SUM, window); break;
    }
}

/* The target's part in a repetition: its program sleeps outside of MPI, or waits in MPI for rank 0's end. */
static void be_target(struct worker *w) {
    if (w->bench->opt.target_waits) MPI_Recv(NULL, 0, MPI_BYTE, 0, w->other_tag, w->comm, MPI_STATUS_IGNORE);
    else sleep_out(&w->meter);
}

static void release_target(struct worker *w) {
    if (w->bench->opt.target_waits) MPI_Send(NULL, 0, MPI_BYTE, 1, w->other_tag, w->comm);
}

/* Windows of `count` operations, and a flush after each window if `flushes`. */
static void put_windows_of(struct worker *w, int count, bool flushes) {
    struct bench *b = w->bench;
    if (b->rank != 0) {
        be_target(w);
        return;
    }
    int size = (int)b->size;
    MPI_Aint place = (MPI_Aint)((b->size + CELL) * (size_t)w->id);
    enum kind kind = kind_of(b);
    int64_t last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < count; i++) operate(kind, w->state, size, place);
        if (flushes) MPI_Win_flush(1, window);
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, count);
        last = now;
    }
    release_target(w);
}

static void put_windows(struct worker *w) {
    struct bench *b = w->bench;
    put_windows_of(w, b->opt.window, w->id == 0 || !op_is(b, "one-flush"));
}

static void put_alone(struct worker *w) {
    struct bench *b = w->bench;
    if (b->rank != 0) {
        be_target(w);
        return;
    }
    int size = (int)b->size;
    MPI_Aint place = (MPI_Aint)((b->size + CELL) * (size_t)w->id);
    enum kind kind = kind_of(b);
    int64_t last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < CALLS_BETWEEN_CHECKS; i++) {
            operate(kind, w->state, size, place);
            MPI_Win_flush(1, window);
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, CALLS_BETWEEN_CHECKS);
        last = now;
    }
    release_target(w);
}

static void fetch(struct worker *w) {
    int64_t one = 1, before, last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < CALLS_BETWEEN_CHECKS; i++) {
            MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
            MPI_Win_flush(0, window);
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, CALLS_BETWEEN_CHECKS);
        last = now;
    }
}

static void lock(struct worker *w) {
    struct bench *b = w->bench;
    bool mixed = op_is(b, "mixed"), exclusive = op_is(b, "exclusive");
    int64_t last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < CALLS_BETWEEN_CHECKS; i++) {
            bool writes = exclusive || (mixed && i % 10 == 0);
            MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, window);
            MPI_Win_unlock(0, window);
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, CALLS_BETWEEN_CHECKS);
        last = now;
    }
}

static const char *const put_ops[] = {"put", "get", "accumulate", "replace", "fetch", "one-flush", NULL};
static const char *const latency_ops[] = {"put", "get", "accumulate", "fetch", NULL};
static const char *const fetch_ops[] = {"add", NULL};
static const char *const lock_ops[] = {"exclusive", "shared", "mixed", NULL};

const struct subject subject_put = {
    .name = "put",
    .summary = "puts, gets or accumulates a second from one process to another, windows and a flush",
    .unit = "op/s",
    .ranks = 2,
    .default_window = 64,
    .ops = put_ops,
    .open = open_epoch,
    .close = close_epoch,
    .prepare = prepare,
    .repeat = put_windows,
    .finish = finish,
    .value = units_a_second,
};

const struct subject subject_putlatency = {
    .name = "putlatency",
    .summary = "time of a put, get, accumulate or fetch-and-add and its flush",
    .unit = "us",
    .ranks = 2,
    .ops = latency_ops,
    .open = open_epoch,
    .close = close_epoch,
    .prepare = prepare,
    .repeat = put_alone,
    .finish = finish,
    .value = mean_us,
};

const struct subject subject_fetchop = {
    .name = "fetchop",
    .summary = "additions a second of all processes to one number, a flush after each",
    .unit = "op/s",
    .ranks = RANKS_ANY,
    .ops = fetch_ops,
    .open = open_epoch,
    .close = close_epoch,
    .prepare = prepare,
    .repeat = fetch,
    .finish = finish,
    .value = units_a_second,
    .all_measure = true,
};

const struct subject subject_winlock = {
    .name = "winlock",
    .summary = "window locks a second of all processes at one target, nothing inside",
    .unit = "lock/s",
    .ranks = RANKS_ANY,
    .ops = lock_ops,
    .open = open_window,
    .close = close_window,
    .prepare = prepare,
    .repeat = lock,
    .finish = finish,
    .value = units_a_second,
    .all_measure = true,
};
