/* Collective operations: all ranks take part, in every thread on a communicator of its own. The figure is the mean time
 * of an operation in rank 0; with several threads, the mean over all of them.
 *
 * In a stream of broadcasts rank 0 waits for nobody, and the others may fall far behind; with the roots in turns ("-turns")
 * each rank waits for the others.
 *
 * Every batch begins with a broadcast by which rank 0 says how many operations follow; 0 ends the repetition. Its part in
 * the time is small, and the same for all libraries. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* A batch lasts about this long. */
#define BATCH_NS 200000.0
#define LONGEST_BATCH 4096

struct state {
    double *out, *in;
    /* Of "alltoallv": the elements for and from each rank, and where they begin. */
    int *counts, *starts;
    /* Of the operations in turns: the next root. */
    int root;
    MPI_Request request;
};

static int elements(const struct bench *b) { return b->size < sizeof(double) ? 1 : (int)(b->size / sizeof(double)); }

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    /* The operations among all send and receive a block for each rank. */
    size_t bytes = (size_t)elements(b) * sizeof(double) * (size_t)b->ranks;
    size_t lists = sizeof(int) * (size_t)b->ranks;
    *s = (struct state){buffer_new(bytes), buffer_new(bytes), buffer_new(lists), buffer_new(lists), 0, MPI_REQUEST_NULL};
    for (int rank = 0; rank < b->ranks; rank++) {
        s->counts[rank] = elements(b);
        s->starts[rank] = rank * elements(b);
    }
#if MPI_VERSION >= 4
    if (op_is(b, "persistent-allreduce"))
        MPI_Allreduce_init(s->out, s->in, elements(b), MPI_DOUBLE, MPI_SUM, w->comm, MPI_INFO_NULL, &s->request);
#endif
    w->state = s;
}

static void operate(struct worker *w, struct state *s) {
    const struct bench *b = w->bench;
    int n = elements(b);
    if (op_is(b, "allreduce")) {
        MPI_Allreduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm);
    } else if (op_is(b, "barrier")) {
        MPI_Barrier(w->comm);
    } else if (op_is(b, "bcast")) {
        MPI_Bcast(s->in, n, MPI_DOUBLE, 0, w->comm);
    } else if (op_is(b, "reduce")) {
        MPI_Reduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, 0, w->comm);
    } else if (op_is(b, "bcast-turns")) {
        MPI_Bcast(s->in, n, MPI_DOUBLE, s->root++ % b->ranks, w->comm);
    } else if (op_is(b, "reduce-turns")) {
        MPI_Reduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, s->root++ % b->ranks, w->comm);
    } else if (op_is(b, "allgather")) {
        MPI_Allgather(s->out, n, MPI_DOUBLE, s->in, n, MPI_DOUBLE, w->comm);
    } else if (op_is(b, "alltoall")) {
        MPI_Alltoall(s->out, n, MPI_DOUBLE, s->in, n, MPI_DOUBLE, w->comm);
    } else if (op_is(b, "alltoallv")) {
        MPI_Alltoallv(s->out, s->counts, s->starts, MPI_DOUBLE, s->in, s->counts, s->starts, MPI_DOUBLE, w->comm);
    } else if (op_is(b, "scan")) {
        MPI_Scan(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm);
    } else if (op_is(b, "reduce-scatter")) {
        MPI_Reduce_scatter_block(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm);
    } else if (op_is(b, "gather")) {
        MPI_Gather(s->out, n, MPI_DOUBLE, s->in, n, MPI_DOUBLE, 0, w->comm);
    } else if (op_is(b, "scatter")) {
        MPI_Scatter(s->out, n, MPI_DOUBLE, s->in, n, MPI_DOUBLE, 0, w->comm);
    } else if (op_is(b, "iallreduce")) {
        MPI_Request request;
        MPI_Iallreduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Start(&s->request);
        MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    }
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    bool leads = w->bench->rank == 0;
    int batch = 1;
    int64_t last = now_ns();
    for (;;) {
        MPI_Bcast(&batch, 1, MPI_INT, 0, w->comm);
        if (batch == 0) break;
        for (int i = 0; i < batch; i++) operate(w, s);
        if (!leads) continue;
        int64_t now = now_ns();
        double ns = (double)(now - last) / batch, fit = BATCH_NS / ns;
        bool more = meter_add(&w->meter, last, now, batch);
        batch = !more ? 0 : fit < 1 ? 1 : fit > LONGEST_BATCH ? LONGEST_BATCH : (int)fit;
        last = now;
    }
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    if (s->request != MPI_REQUEST_NULL) MPI_Request_free(&s->request);
    free(s->out);
    free(s->in);
    free(s->counts);
    free(s->starts);
    free(s);
}

static const char *const ops[] = {"allreduce",   "barrier",     "bcast",          "reduce",  "allgather", "alltoall",
                                  "alltoallv",   "reduce-scatter", "gather",      "scatter", "scan",      "iallreduce",
                                  "bcast-turns", "reduce-turns", "persistent-allreduce", NULL};

const struct subject subject_collective = {
    .name = "collective",
    .summary = "time of a collective operation of all ranks, in threads each on a communicator of its own",
    .unit = "us",
    .ranks = RANKS_ANY,
    .default_window = 1,
    .ops = ops,
    .own_comms = true,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_us,
};
