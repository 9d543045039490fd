/* Ping-pong between two processes: blocking send and receive, there and back.
 *
 * Reading the clock costs a fifth of a small ping-pong, so they run in batches between two readings; rank 0 announces
 * each batch's length (0 ends the repetition) by a message with a tag of its own, outside of the measured time. */
#include "harness.h"

#include <stdlib.h>

#define BATCH_MAX 4096
#define BATCH_SHORT_NS 200000
#define BATCH_LONG_NS 1000000

struct state {
    unsigned char *out, *in;
    int batch;
};

static void prepare(struct worker *w) {
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){buffer_new(w->bench->size), buffer_new(w->bench->size), 1};
    payload_fill(w, s->out, w->bench->rank);
    w->state = s;
}

static void initiate(struct worker *w) {
    struct state *s = w->state;
    int size = (int)w->bench->size, data = w->tag, control = w->other_tag;
    for (bool more = true; more;) {
        int batch = s->batch;
        MPI_Send(&batch, 1, MPI_INT, 1, control, w->comm);
        int64_t start = now_ns();
        for (int i = 0; i < batch; i++) {
            MPI_Send(s->out, size, MPI_BYTE, 1, data, w->comm);
            MPI_Recv(s->in, size, MPI_BYTE, 1, data, w->comm, MPI_STATUS_IGNORE);
        }
        int64_t end = now_ns();
        more = meter_add(&w->meter, start, end, batch);
        if (end - start < BATCH_SHORT_NS && batch < BATCH_MAX) s->batch = batch * 2;
        else if (end - start > BATCH_LONG_NS && batch > 1) s->batch = batch / 2;
    }
    int stop = 0;
    MPI_Send(&stop, 1, MPI_INT, 1, control, w->comm);
}

static void respond(struct worker *w) {
    struct state *s = w->state;
    int size = (int)w->bench->size, data = w->tag, control = w->other_tag;
    for (;;) {
        int batch;
        MPI_Recv(&batch, 1, MPI_INT, 0, control, w->comm, MPI_STATUS_IGNORE);
        if (batch == 0) return;
        for (int i = 0; i < batch; i++) {
            MPI_Recv(s->in, size, MPI_BYTE, 0, data, w->comm, MPI_STATUS_IGNORE);
            MPI_Send(s->out, size, MPI_BYTE, 0, data, w->comm);
        }
    }
}

static void repeat(struct worker *w) {
    if (w->bench->rank == 0) initiate(w);
    else respond(w);
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    payload_check(w, s->in, 1 - w->bench->rank);
    free(s->out);
    free(s->in);
    free(s);
}

/* Mean time one way, in microseconds. */
static double value(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)b, (void)interval_ns;
    return busy_ns / units / 2 / 1000;
}

const struct subject subject_latency = {
    .name = "latency",
    .summary = "ping-pong between two processes, time one way",
    .unit = "us",
    .ranks = 2,
    .default_window = 1,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = value,
};
