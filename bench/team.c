/* The team of threads of a rank, and the repetitions. */
#define _GNU_SOURCE
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The part of the slices that may be disturbed without changing the calm value. */
#define CALM_PART 0.9

/* All threads of all ranks meet; rank 0 says when the interval opens. CLOCK_MONOTONIC is one clock for a machine. */
static void repetition_begin(struct worker *w) {
    struct bench *b = w->bench;
    gate_wait(&b->gate);
    if (w->id == 0) {
        MPI_Barrier(participants);
        int64_t open = now_ns() + (int64_t)(b->opt.warm * 1e9);
        MPI_Bcast(&open, 1, MPI_INT64_T, 0, participants);
        b->open_ns = open;
    }
    gate_wait(&b->gate);
    struct histogram *times = w->meter.times;
    if (times) memset(times, 0, sizeof *times);
    w->meter = (struct meter){.open_ns = b->open_ns,
                              .close_ns = b->open_ns + (int64_t)(b->opt.seconds * 1e9),
                              .all_units = w->meter.all_units,
                              .times = times};
    if (b->rank == 0 && b->opt.threads == 1 && b->ranks <= 2 && b->ranks <= allowed_cpus()) {
        b->slices.count = 0;
        b->slices.units = b->slices.busy_ns = 0;
        w->meter.slices = &b->slices;
    }
    if (b->rank == 0 && w->id == 0) lab_report(true);
}

/* A worker's report to rank 0 about a repetition. */
struct told {
    double units, busy_ns, longest_ns;
};
#define TOLD_FIELDS 3

/* Turns what `count` measuring workers told into the repetition's figures. */
static void conclude(struct bench *b, int rep, const struct told *all, int count) {
    double units = 0, squares = 0, busy = 0, low = INFINITY, high = 0, longest = 0;
    int workers = 0;
    for (int i = 0; i < count; i++) {
        /* A worker whose part it is to do something else. */
        if (all[i].busy_ns < 0) continue;
        workers++;
        units += all[i].units;
        squares += all[i].units * all[i].units;
        busy += all[i].busy_ns;
        low = all[i].units < low ? all[i].units : low;
        high = all[i].units > high ? all[i].units : high;
        longest = all[i].longest_ns > longest ? all[i].longest_ns : longest;
    }
    b->values[rep] = b->subject->value(b, units, busy, b->opt.seconds * 1e9);
    b->share_min[rep] = units > 0 ? low * workers / units : 0;
    b->share_max[rep] = units > 0 ? high * workers / units : 0;
    b->jain[rep] = squares > 0 ? units * units / (workers * squares) : NAN;
    b->longest_us[rep] = longest / 1000;
    double calm = b->workers[0].meter.slices ? quantile(b->slices.rates, b->slices.count, CALM_PART) : NAN;
    b->calm[rep] = isnan(calm) ? NAN : b->subject->value(b, calm, 1, 1);
}

/* Brings the times of all measuring workers together in rank 0. */
static void gather_times(struct bench *b, int measuring) {
    static struct histogram mine;
    memset(&mine, 0, sizeof mine);
    for (int t = 0; b->rank < measuring && t < b->opt.threads; t++) histogram_merge(&mine, b->workers[t].meter.times);
    MPI_Reduce(mine.counts, b->times->counts, TIME_CLASSES, MPI_UINT64_T, MPI_SUM, 0, participants);
    MPI_Reduce(&mine.longest_ns, &b->times->longest_ns, 1, MPI_INT64_T, MPI_MAX, 0, participants);
    if (b->rank == 0) histogram_merge(b->all_times, b->times);
}

static int measuring_ranks(const struct bench *b) {
    return b->subject->all_measure ? b->ranks : b->subject->half_measures ? b->ranks / 2 : 1;
}

/* Brings the meters of all measuring workers to rank 0. */
static void repetition_end(struct worker *w, int rep) {
    struct bench *b = w->bench;
    gate_wait(&b->gate);
    if (w->id != 0) return;
    if (b->rank == 0) lab_report(false);
    int threads = b->opt.threads, measuring = measuring_ranks(b);
    struct told *mine = malloc((size_t)threads * sizeof *mine);
    struct told *all = b->rank == 0 ? malloc((size_t)(threads * b->ranks) * sizeof *all) : NULL;
    if (!mine || (b->rank == 0 && !all)) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < threads; t++) {
        const struct meter *m = &b->workers[t].meter;
        mine[t] = (struct told){m->units, m->busy_ns, (double)m->longest_ns};
    }
    int fields = threads * TOLD_FIELDS;
    MPI_Gather(mine, fields, MPI_DOUBLE, all, fields, MPI_DOUBLE, 0, participants);
    if (b->times) gather_times(b, measuring);
    if (b->rank == 0) conclude(b, rep, all, threads * measuring);
    free(mine);
    free(all);
}

static void *work(void *arg) {
    struct worker *w = arg;
    struct bench *b = w->bench;
    b->subject->prepare(w);
    for (int rep = 0; rep < b->opt.reps; rep++) {
        repetition_begin(w);
        b->subject->repeat(w);
        repetition_end(w, rep);
    }
    gate_wait(&b->gate);
    b->subject->finish(w);
    return NULL;
}

static struct histogram *histogram_new(void) {
    struct histogram *h = calloc(1, sizeof *h);
    if (!h) MPI_Abort(MPI_COMM_WORLD, 1);
    return h;
}

static void times_new(struct bench *b) {
    if (!b->subject->times) return;
    b->times = histogram_new();
    b->all_times = histogram_new();
    for (int t = 0; t < b->opt.threads; t++) b->workers[t].meter.times = histogram_new();
}

static void times_free(struct bench *b) {
    for (int t = 0; t < b->opt.threads; t++) free(b->workers[t].meter.times);
    free(b->all_times);
    free(b->times);
    b->times = b->all_times = NULL;
}

void measure(struct bench *b) {
    int threads = b->opt.threads, team = b->subject->one_team && b->rank > 0 ? 1 : threads;
    pthread_t ids[MAX_THREADS];
    pthread_mutex_init(&b->gate.lock, NULL);
    pthread_cond_init(&b->gate.opened, NULL);
    b->gate.members = team;
    b->gate.waiting = 0;
    b->wrong_bytes = 0;
    b->more_count = 0;
    b->workers = calloc((size_t)threads, sizeof *b->workers);
    if (!b->workers) MPI_Abort(MPI_COMM_WORLD, 1);
    b->probe_before_ns = b->opt.no_probe ? NAN : probe(b);
    for (int t = 0; t < threads; t++)
        b->workers[t] = (struct worker){
            .bench = b, .id = t, .comm = b->comms[t], .tag = tag_of(b, t), .other_tag = OTHER_TAGS + tag_of(b, t)};
    /* Those that are not made measure nothing. */
    for (int t = team; t < threads; t++) b->workers[t].meter.busy_ns = -1;
    times_new(b);
    if (b->subject->open) b->subject->open(b);
    struct pvars *pvars = pvars_open(b);
    int misses = misses_open(b);
    int64_t began_ns = now_ns();
    double computed = beside_units();
    /* The main thread is worker 0, so that one thread is right at every thread level. */
    for (int t = 1; t < team; t++)
        if (pthread_create(&ids[t], NULL, work, &b->workers[t]) != 0) {
            fprintf(stderr, "mtbench: cannot create thread %d of %d\n", t + 1, threads);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    work(&b->workers[0]);
    for (int t = 1; t < team; t++) pthread_join(ids[t], NULL);
    if (b->opt.beside_processes + b->opt.beside_threads > 0)
        add_figure(b, "computed", (beside_units() - computed) / (double)(now_ns() - began_ns) * 1e9);
    double all_units = 0;
    for (int t = 0; t < threads; t++) all_units += b->workers[t].meter.all_units;
    misses_close(b, misses, all_units);
    pvars_close(b, pvars, all_units);
    b->probe_after_ns = b->opt.no_probe ? NAN : probe(b);
    int64_t wrong = b->wrong_bytes;
    MPI_Reduce(&wrong, &b->wrong_bytes, 1, MPI_INT64_T, MPI_SUM, 0, participants);
    if (b->subject->close) b->subject->close(b);
    times_free(b);
    free(b->workers);
    pthread_cond_destroy(&b->gate.opened);
    pthread_mutex_destroy(&b->gate.lock);
    report_measurement(b);
}
