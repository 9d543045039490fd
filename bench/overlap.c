/* How much of a nonblocking collective operation hides behind a computation of the same length?
 *
 * A round has three parts, which all ranks begin together: the blocking operation; the computation alone; and the
 * nonblocking operation, the computation, and the wait. Rank 0 measures, and after each round it makes the computation a
 * little longer or shorter, until it is as long as the blocking operation. The figure is
 *
 *     (blocking + computation - both) / the shorter of blocking and computation
 *
 * of the medians of a repetition: 1 if all of the operation is hidden, 0 if nothing is, less if both together take longer.
 * The computation is an amount of work, not of time, so a thread that takes its core away counts.
 *
 *   --op iallreduce         the computation calls no function of MPI
 *   --op iallreduce-tested  it calls MPI_Test now and then, as programs do where nothing else makes progress
 *   --op iallreduce-device  it takes place on a device: the thread sleeps as long, and needs no core. Where there are no
 *                           more cores than processes, this shows whether the library makes progress by itself
 */
#define _GNU_SOURCE
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* How often the computation is interrupted by MPI_Test. */
#define TESTS 16

/* The parts of a round. */
enum { BLOCKING, COMPUTATION, BOTH, PARTS };
/* The rounds of a repetition whose times are kept. */
#define MOST_ROUNDS 8192
/* The rounds in which the computation changes quickly. */
#define FIRST_ROUNDS 20

struct state {
    double *out, *in;
    long steps; /* of the computation */
    int rounds; /* since the benchmark began */
    double now_ns[PARTS];
    int count;
    double ns[PARTS][MOST_ROUNDS];
};

/* Rank 0 sends one of these before each round. */
struct order {
    long more, steps;
};

/* The medians of rank 0's worker 0 in the last repetition, for the report. */
static double medians_ns[PARTS];

static int elements(const struct bench *b) { return b->size < sizeof(double) ? 1 : (int)(b->size / sizeof(double)); }

static void prepare(struct worker *w) {
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    size_t bytes = (size_t)elements(w->bench) * sizeof(double);
    s->out = buffer_new(bytes);
    s->in = buffer_new(bytes);
    s->steps = 1000;
    s->rounds = 0;
    /* Sleeps end in time. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    w->state = s;
}

/* Takes a nanosecond per step. */
static void sleep_for(long steps) {
    struct timespec length = {0, steps > 999999999 ? 999999999 : steps};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &length, &length) != 0) {}
}

/* Needs a core, and no memory. */
static void compute(const struct bench *b, long steps) {
    if (op_is(b, "iallreduce-device")) {
        sleep_for(steps);
        return;
    }
    double x = 0.5;
    for (long i = 0; i < steps; i++) x = 3.7 * x * (1 - x);
    /* The compiler must believe that the result is used. */
    if (x == 2) abort();
}

static void compute_and_test(const struct bench *b, long steps, MPI_Request *request) {
    if (!op_is(b, "iallreduce-tested")) {
        compute(b, steps);
        return;
    }
    for (int i = 0; i < TESTS; i++) {
        int flag;
        compute(b, steps / TESTS);
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
}

/* Runs the three parts. */
static void go_round(struct worker *w, struct state *s) {
    int n = elements(w->bench);
    MPI_Request request;
    MPI_Barrier(w->comm);
    int64_t begin = now_ns();
    MPI_Allreduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm);
    s->now_ns[BLOCKING] = (double)(now_ns() - begin);
    MPI_Barrier(w->comm);
    begin = now_ns();
    compute(w->bench, s->steps);
    s->now_ns[COMPUTATION] = (double)(now_ns() - begin);
    MPI_Barrier(w->comm);
    begin = now_ns();
    MPI_Iallreduce(s->out, s->in, n, MPI_DOUBLE, MPI_SUM, w->comm, &request);
    compute_and_test(w->bench, s->steps, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    s->now_ns[BOTH] = (double)(now_ns() - begin);
}

/* The steps of the next computation, which is to be as long as the blocking operation. A round that was disturbed changes
 * them little. */
static long fit(struct state *s) {
    double most = s->rounds++ < FIRST_ROUNDS ? 1.5 : 1.03;
    double ratio = s->now_ns[COMPUTATION] > 0 ? s->now_ns[BLOCKING] / s->now_ns[COMPUTATION] : most;
    ratio = ratio > most ? most : ratio < 1 / most ? 1 / most : ratio;
    long steps = (long)((double)s->steps * ratio);
    return steps < 100 ? 100 : steps;
}

static void keep(struct state *s) {
    if (s->count == MOST_ROUNDS) return;
    for (int part = 0; part < PARTS; part++) s->ns[part][s->count] = s->now_ns[part];
    s->count++;
}

/* The figure of the repetition, as the meter's units and time. */
static void conclude(struct worker *w, struct state *s) {
    double ns[PARTS];
    for (int part = 0; part < PARTS; part++) ns[part] = quantile(s->ns[part], s->count, 0.5);
    w->meter.units = ns[BLOCKING] + ns[COMPUTATION] - ns[BOTH];
    w->meter.busy_ns = ns[BLOCKING] < ns[COMPUTATION] ? ns[BLOCKING] : ns[COMPUTATION];
    if (w->id == 0) memcpy(medians_ns, ns, sizeof ns);
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    struct order order = {1, s->steps};
    int64_t last = now_ns();
    s->count = 0;
    for (;;) {
        MPI_Bcast(&order, 2, MPI_LONG, 0, w->comm);
        if (!order.more) break;
        s->steps = order.steps;
        go_round(w, s);
        if (w->bench->rank != 0) continue;
        if (last >= w->meter.open_ns) keep(s);
        last = now_ns();
        order = (struct order){last < w->meter.close_ns, fit(s)};
    }
    if (w->bench->rank == 0) conclude(w, s);
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    free(s->out);
    free(s->in);
    free(s);
}

static void report_parts(struct bench *b) {
    if (b->rank != 0) return;
    add_figure(b, "blocking_us", medians_ns[BLOCKING] / 1000);
    add_figure(b, "computation_us", medians_ns[COMPUTATION] / 1000);
    add_figure(b, "both_us", medians_ns[BOTH] / 1000);
}

static double part_hidden(const struct bench *b, double hidden_ns, double shorter_ns, double interval_ns) {
    (void)b, (void)interval_ns;
    return hidden_ns / shorter_ns;
}

static const char *const ops[] = {"iallreduce", "iallreduce-tested", "iallreduce-device", NULL};

const struct subject subject_overlap = {
    .name = "overlap",
    .summary = "part of a nonblocking collective operation that hides behind a computation of the same length",
    .unit = "of the operation hidden",
    .ranks = RANKS_ANY,
    .default_window = 1,
    .ops = ops,
    .own_comms = true,
    .close = report_parts,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = part_hidden,
};
