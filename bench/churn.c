/* Threads that come and go: in both ranks, T at a time make thread after thread, each of which exchanges a few messages
 * with its counterpart in the other rank and ends. The figure is the mean time from one thread to the next, and
 * `growth_bytes` what the larger process has grown in resident memory for each thread, after a first repetition in
 * which pools fill: what a library keeps for a thread it must take back. `made` is the number of threads in rank 0.
 *
 * The first message says whether another thread follows. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXCHANGES 8
#define ENOUGH 100 /* with fewer threads, growth cannot be attributed to them */

struct state {
    unsigned char *out, *in;
    int64_t made, made_before; /* threads, and those of the first repetition */
    int repetitions;
    double resident_before; /* MiB, when it had ended (worker 0) */
};

/* The work of one short-lived thread. */
struct errand {
    struct worker *worker;
    int go;
};

static void prepare(struct worker *w) {
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){.out = buffer_new(w->bench->size), .in = buffer_new(w->bench->size)};
    payload_fill(w, s->out, 0);
    w->state = s;
}

static void *run_errand(void *arg) {
    struct errand *e = arg;
    struct worker *w = e->worker;
    struct state *s = w->state;
    int other = 1 - w->bench->rank, size = (int)w->bench->size, go = e->go;
    if (w->bench->rank == 0) MPI_Send(&go, 1, MPI_INT, other, w->other_tag, w->comm);
    else MPI_Recv(&e->go, 1, MPI_INT, other, w->other_tag, w->comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < EXCHANGES; i++)
        MPI_Sendrecv(s->out, size, MPI_BYTE, other, w->tag, s->in, size, MPI_BYTE, other, w->tag, w->comm,
                     MPI_STATUS_IGNORE);
    return NULL;
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    if (s->repetitions++ == 1) {
        s->made_before = s->made;
        if (w->id == 0) s->resident_before = resident("Rss");
    }
    struct errand e = {w, 1};
    int64_t last = now_ns();
    do {
        pthread_t id;
        if (w->bench->rank == 0) e.go = now_ns() < w->meter.close_ns;
        if (pthread_create(&id, NULL, run_errand, &e) != 0) {
            fprintf(stderr, "mtbench churn: cannot create a thread after %lld\n", (long long)s->made);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        pthread_join(id, NULL);
        int64_t now = now_ns();
        meter_add(&w->meter, last, now, 1);
        last = now;
        s->made++;
    } while (e.go);
}

struct totals {
    int64_t made, made_before;
    double resident_before;
};

static void open_totals(struct bench *b) {
    struct totals *t = malloc(sizeof *t);
    if (!t) MPI_Abort(MPI_COMM_WORLD, 1);
    *t = (struct totals){0, 0, resident("Rss")};
    b->state = t;
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    struct totals *t = b->state;
    payload_check(w, s->in, 0);
    pthread_mutex_lock(&b->gate.lock);
    t->made += s->made;
    t->made_before += s->made_before;
    if (w->id == 0 && s->repetitions > 1) t->resident_before = s->resident_before;
    pthread_mutex_unlock(&b->gate.lock);
    free(s->out);
    free(s->in);
    free(s);
}

static void close_totals(struct bench *b) {
    struct totals *t = b->state;
    double grown = (resident("Rss") - t->resident_before) * 1048576, most = grown;
    MPI_Reduce(&grown, &most, 1, MPI_DOUBLE, MPI_MAX, 0, participants);
    int64_t counted = t->made - t->made_before;
    add_figure(b, "growth_bytes", counted >= ENOUGH ? most / (double)counted : NAN);
    add_figure(b, "made", (double)t->made);
    free(t);
}

static const char *const ops[] = {"sendrecv", NULL};

const struct subject subject_churn = {
    .name = "churn",
    .summary = "time of a short-lived thread that exchanges a few messages, T at a time; memory that stays behind",
    .unit = "us",
    .ranks = 2,
    .default_window = EXCHANGES,
    .ops = ops,
    .threads_beside = true,
    .open = open_totals,
    .close = close_totals,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_us,
};
