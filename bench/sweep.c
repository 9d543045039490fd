/* Transport sweeps, the pattern of communication of the proxy application SNAP in Amer, Lu, Balaji, Chabbi, Wei, Hammond and
 * Matsuoka, "Lock Contention Management in Multithreaded MPI" (ACM TOPC 2019, section 5.3), without its physics: the
 * processes are a grid; every thread of a process has an energy group, and sweeps it over the grid in chunks. A chunk's
 * input comes from two neighbors, its output goes to the two others, and a thread has at most two sends in flight.
 *
 * A sweep goes from the corner of rank 0 to the opposite one; the next comes back. Rank 0's threads measure the time of a
 * chunk, over both. Each message of the way there says whether the threads come back for another. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define CHUNKS 8
/* Floating-point operations on a chunk, one after the other: a few microseconds. */
#define WORK 2000

enum { LOW_Y, LOW_Z, HIGH_Y, HIGH_Z, NEIGHBORS };

struct state {
    unsigned char *in[2], *out[2];
    int neighbors[NEIGHBORS]; /* MPI_PROC_NULL at the grid's border */
    double value;
};

static void find_neighbors(const struct bench *b, int neighbors[NEIGHBORS]) {
    int shape[2] = {0, 0};
    MPI_Dims_create(b->ranks, 2, shape);
    int y = b->rank / shape[1], z = b->rank % shape[1];
    neighbors[LOW_Y] = y > 0 ? b->rank - shape[1] : MPI_PROC_NULL;
    neighbors[HIGH_Y] = y + 1 < shape[0] ? b->rank + shape[1] : MPI_PROC_NULL;
    neighbors[LOW_Z] = z > 0 ? b->rank - 1 : MPI_PROC_NULL;
    neighbors[HIGH_Z] = z + 1 < shape[1] ? b->rank + 1 : MPI_PROC_NULL;
}

static void prepare(struct worker *w) {
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    find_neighbors(w->bench, s->neighbors);
    for (int i = 0; i < 2; i++) {
        s->in[i] = buffer_new(w->bench->size);
        s->out[i] = buffer_new(w->bench->size);
    }
    s->value = 1;
    w->state = s;
}

static void compute(struct state *s) {
    for (int i = 0; i < WORK; i++) s->value = s->value * 0.999999 + 0.5;
}

/* One sweep over this process's part, from the neighbors `from` and `from + 1` to `to` and `to + 1`. Each message out says
 * `more`; where this process `asks`, it takes that from the messages in. */
static bool sweep(struct worker *w, int from, int to, bool more, bool asks) {
    struct state *s = w->state;
    int size = (int)w->bench->size;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        MPI_Request requests[2];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(s->in[i], size, MPI_BYTE, s->neighbors[from + i], w->tag, w->comm, &requests[i]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (asks) more = s->in[s->neighbors[from] == MPI_PROC_NULL][0];
        compute(s);
        for (int i = 0; i < 2; i++) {
            s->out[i][0] = more;
            MPI_Isend(s->out[i], size, MPI_BYTE, s->neighbors[to + i], w->tag, w->comm, &requests[i]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return more;
}

static void repeat(struct worker *w) {
    bool first = w->bench->rank == 0, more = true, last = false;
    while (more) {
        int64_t start = now_ns();
        more = sweep(w, LOW_Y, HIGH_Y, !last, !first);
        sweep(w, HIGH_Y, LOW_Y, more, false);
        /* Rank 0 decides after each pair of sweeps whether the next pair is the last, and says so in that one. */
        if (first) last = !meter_add(&w->meter, start, now_ns(), 2 * CHUNKS);
    }
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    /* Nothing is checked: a message's first byte has said whether another sweep follows, or a thread would still wait. */
    for (int i = 0; i < 2; i++) {
        free(s->in[i]);
        free(s->out[i]);
    }
    free(s);
}

const struct subject subject_sweep = {
    .name = "sweep",
    .summary = "time of a chunk of work that threads sweep over a grid of processes",
    .unit = "us",
    .ranks = RANKS_ANY,
    .default_window = 2,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_us,
};
