/* Sends to MPI_PROC_NULL by the threads of any number of processes: what a call costs before anything is communicated
 * (Balaji, Buntinas, Goodell, Gropp and Thakur, "Fine-grained multithreading support for hybrid threaded MPI programming",
 * IJHPCA 2010). */
#include "harness.h"

#include <stdlib.h>

#define CALLS_BETWEEN_CHECKS 1024

struct state {
    unsigned char *bytes;
    MPI_Request *requests;
};

static void prepare(struct worker *w) {
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){buffer_new(w->bench->size), malloc((size_t)w->bench->opt.window * sizeof *s->requests)};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    w->state = s;
}

static void repeat(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int window = b->opt.window, size = (int)b->size;
    bool blocking = op_is(b, "send");
    int64_t last = now_ns();
    for (bool more = true; more;) {
        int calls = 0;
        while (calls < CALLS_BETWEEN_CHECKS) {
            if (blocking) {
                MPI_Send(s->bytes, size, MPI_BYTE, MPI_PROC_NULL, w->tag, w->comm);
                calls++;
                continue;
            }
            for (int i = 0; i < window; i++)
                MPI_Isend(s->bytes, size, MPI_BYTE, MPI_PROC_NULL, w->tag, w->comm, &s->requests[i]);
            MPI_Waitall(window, s->requests, MPI_STATUSES_IGNORE);
            calls += window;
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, calls);
        last = now;
    }
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    free(s->requests);
    free(s->bytes);
    free(s);
}

static const char *const ops[] = {"isend", "send", NULL};

const struct subject subject_procnull = {
    .name = "procnull",
    .summary = "sends a second to MPI_PROC_NULL",
    .unit = "msg/s",
    .ranks = RANKS_ANY,
    .default_window = 64,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
    .all_measure = true,
};
