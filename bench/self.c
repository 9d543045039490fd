/* One process whose threads send to themselves: no other process, no waiting, only the library's own path. */
#include "harness.h"

#include <stdlib.h>

struct state {
    unsigned char *out, *in;
    MPI_Request *requests;
};

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    size_t bytes = b->size * (size_t)b->opt.window;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){buffer_new(bytes), buffer_new(bytes),
                        malloc((size_t)b->opt.window * 2 * sizeof *s->requests)};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < b->opt.window; i++) payload_fill(w, s->out + (size_t)i * b->size, i);
    w->state = s;
}

static void exchange_window(struct worker *w) {
    struct state *s = w->state;
    int window = w->bench->opt.window, me = w->bench->rank, size = (int)w->bench->size;
    for (int i = 0; i < window; i++)
        MPI_Irecv(s->in + (size_t)i * w->bench->size, size, MPI_BYTE, me, w->tag, w->comm, &s->requests[i]);
    for (int i = 0; i < window; i++)
        MPI_Isend(s->out + (size_t)i * w->bench->size, size, MPI_BYTE, me, w->tag, w->comm, &s->requests[window + i]);
    MPI_Waitall(2 * window, s->requests, MPI_STATUSES_IGNORE);
}

static void exchange_singly(struct worker *w) {
    struct state *s = w->state;
    int me = w->bench->rank, size = (int)w->bench->size;
    for (int i = 0; i < w->bench->opt.window; i++) {
        size_t at = (size_t)i * w->bench->size;
        MPI_Sendrecv(s->out + at, size, MPI_BYTE, me, w->tag, s->in + at, size, MPI_BYTE, me, w->tag, w->comm,
                     MPI_STATUS_IGNORE);
    }
}

static void repeat(struct worker *w) {
    void (*exchange)(struct worker *) = op_is(w->bench, "sendrecv") ? exchange_singly : exchange_window;
    bool more;
    int64_t last = now_ns();
    do {
        exchange(w);
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, w->bench->opt.window);
        last = now;
    } while (more);
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    for (int i = 0; i < b->opt.window; i++) payload_check(w, s->in + (size_t)i * b->size, i);
    free(s->requests);
    free(s->in);
    free(s->out);
    free(s);
}

static const char *const ops[] = {"isend", "sendrecv", NULL};

const struct subject subject_self = {
    .name = "self",
    .summary = "messages a second of threads that send to themselves, one process",
    .unit = "msg/s",
    .ranks = 1,
    .default_window = 64,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
};
