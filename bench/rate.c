/* Message rate and bandwidth: a window of messages one way, a 4-byte acknowledgement back. With "both", a window
 * of messages travels each way at the same time, and all of them are counted.
 *
 * Ranks 0 .. n/2-1 receive and measure, rank r+n/2 sends to rank r. The acknowledgement says whether another window
 * follows, so both sides stop after the same one. The same loop serves threads (two processes, T threads each) and
 * pairs of processes (2n processes of one thread). */
#include "harness.h"

#include <stdlib.h>

struct state {
    unsigned char *out, *in; /* one buffer per message of the window; NULL if there are none that way */
    MPI_Request *requests;
};

static unsigned char *slot(const struct worker *w, unsigned char *bytes, int index) {
    return bytes + (size_t)index * w->bench->size;
}

static bool sends(const struct bench *b) { return b->rank >= b->ranks / 2; }

static int partner(const struct bench *b) { return (b->rank + b->ranks / 2) % b->ranks; }

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    size_t window = (size_t)b->opt.window, bytes = b->size * window;
    bool both = op_is(b, "both");
    *s = (struct state){both || sends(b) ? buffer_new(bytes) : NULL, both || !sends(b) ? buffer_new(bytes) : NULL,
                        malloc(2 * window * sizeof *s->requests)};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    w->state = s;
    for (int i = 0; s->out && i < b->opt.window; i++) payload_fill(w, slot(w, s->out, i), i);
}

static void begin_to_receive(struct worker *w, MPI_Request *requests) {
    struct state *s = w->state;
    for (int i = 0; i < w->bench->opt.window; i++)
        MPI_Irecv(slot(w, s->in, i), (int)w->bench->size, MPI_BYTE, partner(w->bench), w->tag, w->comm, &requests[i]);
}

static void begin_to_send(struct worker *w, MPI_Request *requests) {
    struct state *s = w->state;
    for (int i = 0; i < w->bench->opt.window; i++)
        MPI_Isend(slot(w, s->out, i), (int)w->bench->size, MPI_BYTE, partner(w->bench), w->tag, w->comm, &requests[i]);
}

/* Ends a window. The measuring rank decides whether another one follows; returns true if so. */
static int go_on(struct worker *w, int64_t *last, int messages) {
    int go, from = partner(w->bench);
    if (sends(w->bench)) {
        MPI_Recv(&go, 1, MPI_INT, from, w->other_tag, w->comm, MPI_STATUS_IGNORE);
        return go;
    }
    int64_t now = now_ns();
    go = meter_add(&w->meter, *last, now, messages);
    *last = now;
    MPI_Send(&go, 1, MPI_INT, from, w->other_tag, w->comm);
    return go;
}

static void repeat(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int window = b->opt.window, to = partner(b), size = (int)b->size;
    bool blocking = op_is(b, "send"), both = op_is(b, "both");
    int64_t last = now_ns();
    do {
        int begun = 0;
        if (s->in) begin_to_receive(w, s->requests), begun = window;
        if (s->out && blocking) {
            for (int i = 0; i < window; i++)
                MPI_Send(slot(w, s->out, i), size, MPI_BYTE, to, w->tag, w->comm);
        } else if (s->out) {
            begin_to_send(w, s->requests + begun);
            begun += window;
        }
        MPI_Waitall(begun, s->requests, MPI_STATUSES_IGNORE);
    } while (go_on(w, &last, both ? 2 * window : window));
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    for (int i = 0; s->in && i < b->opt.window; i++) payload_check(w, slot(w, s->in, i), i);
    free(s->requests);
    free(s->out);
    free(s->in);
    free(s);
}

static double megabytes(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)busy_ns;
    return units * (double)b->size / interval_ns * 1e3;
}

static const char *const ops[] = {"isend", "send", "both", NULL};

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
