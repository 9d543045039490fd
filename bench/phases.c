/* A program of phases: does a library that adapts itself find what is best for each of them soon enough?
 *
 * In each phase threads of rank 1 send windows of messages to threads of rank 0, as in `rate`:
 *
 *   one      one thread in each process
 *   each     T threads, each with a communicator of its own
 *   shared   T threads on one communicator
 *   crowd    as many threads in each process as there are cores, so twice as many as cores, on one communicator
 *
 * The threads of a phase are made for it. They have the warm-up's time to adapt; what lies in the interval behind it counts. Each
 * phase has a further figure, the median over the repetitions, to compare with that of the model which is best for this phase; the
 * subject's figure is the mean of the phases. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PHASES 4

struct phase {
    const char *name;
    int threads;
    bool shared; /* one communicator for all */
};

static void *work(void *arg) {
    struct worker *w = arg;
    subject_rate.prepare(w);
    subject_rate.repeat(w);
    subject_rate.finish(w);
    return NULL;
}

static struct worker worker_of(struct bench *b, const struct phase *phase, int thread) {
    int tag = phase->shared ? thread : 0;
    return (struct worker){
        .bench = b,
        .id = thread,
        .comm = phase->shared ? participants : b->comms[thread],
        .tag = tag,
        .other_tag = OTHER_TAGS + tag,
        .meter = {.open_ns = b->open_ns, .close_ns = b->open_ns + (int64_t)(b->opt.seconds * 1e9)},
    };
}

/* Returns the messages per second that this process has received. The main thread is the first one. */
static double run(struct bench *b, const struct phase *phase) {
    static struct worker workers[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    double units = 0;
    MPI_Barrier(participants);
    b->open_ns = now_ns() + (int64_t)(b->opt.warm * 1e9);
    MPI_Bcast(&b->open_ns, 1, MPI_INT64_T, 0, participants);
    for (int t = 0; t < phase->threads; t++) workers[t] = worker_of(b, phase, t);
    for (int t = 1; t < phase->threads; t++)
        if (pthread_create(&ids[t], NULL, work, &workers[t]) != 0) {
            fprintf(stderr, "mtbench: cannot create thread %d of %d\n", t + 1, phase->threads);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    work(&workers[0]);
    for (int t = 1; t < phase->threads; t++) pthread_join(ids[t], NULL);
    for (int t = 0; t < phase->threads; t++) units += workers[t].meter.units;
    return units / b->opt.seconds;
}

static void phases(struct bench *b) {
    int threads = b->opt.threads, crowd = allowed_cpus() < MAX_THREADS ? allowed_cpus() : MAX_THREADS;
    const struct phase all[PHASES] = {
        {"one", 1, false}, {"each", threads, false}, {"shared", threads, true}, {"crowd", crowd, true}};
    double values[PHASES][MAX_REPS];
    b->size = b->opt.sizes[0];
    pthread_mutex_init(&b->gate.lock, NULL);
    b->comms = calloc((size_t)threads, sizeof *b->comms);
    if (!b->comms) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < threads; t++) MPI_Comm_dup(participants, &b->comms[t]);
    if (b->rank == 0) lab_report(true);
    for (int rep = 0; rep < b->opt.reps; rep++) {
        b->values[rep] = 0;
        for (int p = 0; p < PHASES; p++) b->values[rep] += (values[p][rep] = run(b, &all[p])) / PHASES;
        b->calm[rep] = b->share_min[rep] = b->share_max[rep] = b->jain[rep] = b->longest_us[rep] = NAN;
    }
    if (b->rank == 0) lab_report(false);
    for (int p = 0; p < PHASES; p++) add_figure(b, all[p].name, median(values[p], b->opt.reps));
    b->probe_before_ns = b->probe_after_ns = NAN;
    report_measurement(b);
    for (int t = 0; t < threads; t++) MPI_Comm_free(&b->comms[t]);
    free(b->comms);
    pthread_mutex_destroy(&b->gate.lock);
}

const struct subject subject_phases = {
    .name = "phases",
    .summary = "messages per second of one thread, of T, of T on one communicator, of more than cores",
    .unit = "msg/s",
    .ranks = 2,
    .default_window = 128,
    .threads_beside = true,
    .whole = phases,
};
