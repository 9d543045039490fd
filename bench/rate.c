/* Message rate and bandwidth: a window of messages one way, a 4-byte acknowledgement back.
 *
 * Ranks 0 .. n/2-1 receive and measure, rank r+n/2 sends to rank r. The acknowledgement says whether another window
 * follows, so both sides stop after the same one. The same loop serves threads (two processes, T threads each) and
 * pairs of processes (2n processes of one thread). */
#include "harness.h"

#include <stdlib.h>

struct state {
    unsigned char *bytes; /* one buffer per message of the window */
    MPI_Request *requests;
};

static unsigned char *slot(const struct worker *w, int index) {
    struct state *s = w->state;
    return s->bytes + (size_t)index * w->bench->size;
}

static bool sends(const struct bench *b) { return b->rank >= b->ranks / 2; }

static int partner(const struct bench *b) { return (b->rank + b->ranks / 2) % b->ranks; }

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    s->bytes = buffer_new(b->size * (size_t)b->opt.window);
    s->requests = malloc((size_t)b->opt.window * sizeof *s->requests);
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    w->state = s;
    if (sends(b))
        for (int i = 0; i < b->opt.window; i++) payload_fill(w, slot(w, i), i);
}

static void receive_windows(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int window = b->opt.window, from = partner(b), size = (int)b->size, go;
    int64_t last = now_ns();
    do {
        for (int i = 0; i < window; i++)
            MPI_Irecv(slot(w, i), size, MPI_BYTE, from, w->tag, w->comm, &s->requests[i]);
        MPI_Waitall(window, s->requests, MPI_STATUSES_IGNORE);
        int64_t now = now_ns();
        go = meter_add(&w->meter, last, now, window);
        last = now;
        MPI_Send(&go, 1, MPI_INT, from, w->other_tag, w->comm);
    } while (go);
}

static void send_windows(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int window = b->opt.window, to = partner(b), size = (int)b->size, go;
    bool blocking = op_is(b, "send");
    do {
        if (blocking) {
            for (int i = 0; i < window; i++) MPI_Send(slot(w, i), size, MPI_BYTE, to, w->tag, w->comm);
        } else {
            for (int i = 0; i < window; i++)
                MPI_Isend(slot(w, i), size, MPI_BYTE, to, w->tag, w->comm, &s->requests[i]);
            MPI_Waitall(window, s->requests, MPI_STATUSES_IGNORE);
        }
        MPI_Recv(&go, 1, MPI_INT, to, w->other_tag, w->comm, MPI_STATUS_IGNORE);
    } while (go);
}

static void repeat(struct worker *w) {
    if (sends(w->bench)) send_windows(w);
    else receive_windows(w);
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    if (!sends(b))
        for (int i = 0; i < b->opt.window; i++) payload_check(w, slot(w, i), i);
    free(s->requests);
    free(s->bytes);
    free(s);
}

static double megabytes(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)busy_ns;
    return units * (double)b->size / interval_ns * 1e3;
}

static const char *const ops[] = {"isend", "send", NULL};

const struct subject subject_rate = {
    .name = "rate",
    .summary = "messages a second between two processes, windows of messages one way",
    .unit = "msg/s",
    .ranks = 2,
    .default_window = 128,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
    .half_measures = true,
};

const struct subject subject_bandwidth = {
    .name = "bandwidth",
    .summary = "bytes a second between two processes, windows of big messages one way",
    .unit = "MB/s",
    .ranks = 2,
    .default_window = 8,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = megabytes,
    .half_measures = true,
};

const struct subject subject_pairs = {
    .name = "pairs",
    .summary = "as rate, between n pairs of processes of one thread",
    .unit = "msg/s",
    .ranks = RANKS_EVEN,
    .default_window = 128,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
    .half_measures = true,
};
