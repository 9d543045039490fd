/* Completion by MPI_Test and its kin, which never block. That they scale is the open problem at the end of Amer, Guo,
 * Raffenetti, Si, Balaji et al., "Software Combining to Mitigate Multithreaded MPI Contention" (ICS 2019).
 *
 * Thread t of rank 1 sends windows to thread t of rank 0, as in `rate`, but neither ever waits: with --op test each looks
 * at every request of its window in turn, again and again, until all are complete; with testany, testsome and testall
 * a call looks at the whole window. Messages a second, and how many calls of rank 0 a completion takes (`tests_each`). */
#include "harness.h"

#include <stdlib.h>

typedef int64_t poll_until_complete(MPI_Request *requests, int count);

struct state {
    unsigned char *bytes;
    MPI_Request *requests;
    int64_t tests, completions;
};

/* Sums over the workers of a rank. */
struct totals {
    poll_until_complete *poll;
    int64_t tests, completions;
};

/* Each returns how many calls it made. */
static int64_t by_test(MPI_Request *requests, int count) {
    int64_t tests = 0;
    for (int left = count; left > 0;)
        for (int i = 0; i < count; i++) {
            int done;
            if (requests[i] == MPI_REQUEST_NULL) continue;
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            tests++;
            left -= done != 0;
        }
    return tests;
}

static int64_t by_testany(MPI_Request *requests, int count) {
    int64_t tests = 0;
    for (int left = count; left > 0; tests++) {
        int index, done;
        MPI_Testany(count, requests, &index, &done, MPI_STATUS_IGNORE);
        left -= done != 0;
    }
    return tests;
}

static int64_t by_testsome(MPI_Request *requests, int count) {
    int64_t tests = 0;
    int *indices = malloc((size_t)count * sizeof *indices);
    if (!indices) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int left = count; left > 0; tests++) {
        int done;
        MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
    }
    free(indices);
    return tests;
}

static int64_t by_testall(MPI_Request *requests, int count) {
    int64_t tests = 0;
    for (int done = 0; !done; tests++) MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    return tests;
}

static void open_totals(struct bench *b) {
    struct totals *t = malloc(sizeof *t);
    if (!t) MPI_Abort(MPI_COMM_WORLD, 1);
    *t = (struct totals){.poll = by_test};
    if (op_is(b, "testany")) t->poll = by_testany;
    if (op_is(b, "testsome")) t->poll = by_testsome;
    if (op_is(b, "testall")) t->poll = by_testall;
    b->state = t;
}

static void close_totals(struct bench *b) {
    struct totals *t = b->state;
    if (t->completions > 0) add_figure(b, "tests_each", (double)t->tests / (double)t->completions);
    free(t);
}

static unsigned char *slot(const struct worker *w, int index) {
    struct state *s = w->state;
    return s->bytes + (size_t)index * w->bench->size;
}

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){buffer_new(b->size * (size_t)b->opt.window),
                        malloc((size_t)b->opt.window * sizeof *s->requests), 0, 0};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    w->state = s;
    if (b->rank == 1)
        for (int i = 0; i < b->opt.window; i++) payload_fill(w, slot(w, i), i);
}

static void receive_windows(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    poll_until_complete *poll = ((const struct totals *)b->state)->poll;
    int window = b->opt.window, size = (int)b->size, go;
    int64_t last = now_ns();
    do {
        for (int i = 0; i < window; i++)
            MPI_Irecv(slot(w, i), size, MPI_BYTE, 1, w->tag, w->comm, &s->requests[i]);
        s->tests += poll(s->requests, window);
        s->completions += window;
        int64_t now = now_ns();
        go = meter_add(&w->meter, last, now, window);
        last = now;
        MPI_Request sent;
        MPI_Isend(&go, 1, MPI_INT, 1, w->other_tag, w->comm, &sent);
        by_test(&sent, 1);
    } while (go);
}

static void send_windows(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    poll_until_complete *poll = ((const struct totals *)b->state)->poll;
    int window = b->opt.window, size = (int)b->size, go;
    do {
        MPI_Request told;
        MPI_Irecv(&go, 1, MPI_INT, 0, w->other_tag, w->comm, &told);
        for (int i = 0; i < window; i++)
            MPI_Isend(slot(w, i), size, MPI_BYTE, 0, w->tag, w->comm, &s->requests[i]);
        poll(s->requests, window);
        by_test(&told, 1);
    } while (go);
}

static void repeat(struct worker *w) {
    if (w->bench->rank == 0) receive_windows(w);
    else send_windows(w);
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    struct totals *t = b->state;
    if (b->rank == 0)
        for (int i = 0; i < b->opt.window; i++) payload_check(w, slot(w, i), i);
    pthread_mutex_lock(&b->gate.lock);
    t->tests += s->tests;
    t->completions += s->completions;
    pthread_mutex_unlock(&b->gate.lock);
    free(s->requests);
    free(s->bytes);
    free(s);
}

static const char *const ops[] = {"test", "testany", "testsome", "testall", NULL};

const struct subject subject_testing = {
    .name = "testing",
    .summary = "messages a second between two processes, completed by tests that do not block",
    .unit = "msg/s",
    .ranks = 2,
    .default_window = 64,
    .ops = ops,
    .open = open_totals,
    .close = close_totals,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
};
