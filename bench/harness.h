/* What every subject of the benchmark shares: options, a team of threads, a meter, a report.
 *
 * A measurement is a number of repetitions. In each, every worker (a thread of a rank) repeats its unit of work
 * (a window, a batch of ping-pongs) without a pause from before the interval opens until after it closes; what
 * lies inside the interval counts, a unit that straddles an end counts by the part of its time that lies inside.
 * So neither a late start nor a straggler changes the figure, and no thread is told to stop while its peer waits.
 */
#ifndef HEDDLE_BENCH_HARNESS_H
#define HEDDLE_BENCH_HARNESS_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_SIZES 32
#define MAX_REPS 64
#define MAX_THREADS 256

struct options {
    const char *subject;
    size_t sizes[MAX_SIZES];
    int size_count;
    int threads;
    int window;
    int reps;
    double seconds;     /* length of one repetition's interval */
    double warm;        /* time that flows before the interval opens */
    bool comm_a_thread; /* a communicator a thread, else one communicator and a tag a thread */
    int level;          /* the thread level asked for */
    bool pin;           /* every rank on its own core */
    bool blocking;      /* MPI_Send where the default is MPI_Isend */
    int64_t launched_ns; /* CLOCK_MONOTONIC when mpiexec was started, 0 if unknown */
};

/* Counts the work that falls into the interval of the current repetition. */
struct meter {
    int64_t open_ns, close_ns;
    double units; /* units of work inside the interval */
    double busy_ns; /* time inside the interval that those units took */
    struct slices *slices; /* where the repetition's speed is kept in short slices, or NULL */
};

/* A repetition cut into slices of about half a millisecond. On a machine that others use, most slices of a run with
 * no more threads than cores are still undisturbed, while its mean is not. */
struct slices {
    double units, busy_ns; /* of the slice that is not full yet */
    int count;
    double rates[4096]; /* units a nanosecond */
};

/* Accounts `units` that took from `from_ns` to `to_ns`; false once the interval is over. */
bool meter_add(struct meter *meter, int64_t from_ns, int64_t to_ns, double units);

int64_t now_ns(void);

/* A barrier whose waiters park, so that they never take a core from those still measuring. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int members, waiting;
    unsigned round;
};

struct bench;

struct worker {
    struct bench *bench;
    int id;
    MPI_Comm comm;
    int tag; /* first of the two tags that are this worker's own */
    struct meter meter;
    void *state; /* the subject's own */
};

/* One subject: what a worker does, in every rank alike; `repeat` runs until the meter says that it is over. */
struct subject {
    const char *name;
    const char *summary;
    const char *unit;
    int ranks;     /* ranks it needs: exactly n, or 0 for any number, or -2 for an even number */
    int default_window;
    void (*prepare)(struct worker *w);
    void (*repeat)(struct worker *w);
    void (*finish)(struct worker *w);
    /* Turns a repetition's sums over all measuring workers into the reported value. */
    double (*value)(const struct bench *b, double units, double busy_ns, double interval_ns);
    bool half_measures; /* the lower half of the ranks measures, else rank 0 alone */
    /* For subjects with another course than repetitions (start-up): replaces all of the above. */
    void (*whole)(struct bench *b);
};

struct bench {
    struct options opt;
    const struct subject *subject;
    int rank, ranks, provided;
    size_t size; /* of the message, in this measurement */
    struct gate gate;
    int64_t open_ns; /* of the current repetition */
    struct slices slices;
    struct worker *workers;
    MPI_Comm *comms;
    char library[160];
    /* results on rank 0 */
    double values[MAX_REPS];
    double calm[MAX_REPS]; /* the value of the faster slices, NAN where it is not known */
    double share_min[MAX_REPS], share_max[MAX_REPS];
    double probe_before_ns, probe_after_ns;
    int64_t wrong_bytes; /* payload that did not arrive as sent */
};

extern const struct subject subject_latency, subject_rate, subject_bandwidth, subject_pairs, subject_self,
    subject_clients, subject_procnull, subject_startup, subject_idle;

/* All of them, ended by NULL. */
extern const struct subject *const subjects[];

/* options.c */
void options_parse(struct options *opt, int argc, char **argv);
const char *level_name(int level);
_Noreturn void usage(const char *complaint);

/* team.c */
void measure(struct bench *b);
void gate_wait(struct gate *gate);
void *buffer_new(size_t bytes);
/* The `value` of subjects whose figure is units of work a second. */
double units_a_second(const struct bench *b, double units, double busy_ns, double interval_ns);

/* affinity.c */
int allowed_cpu(int index); /* the index-th CPU this process may use (modulo their number) */
int allowed_cpus(void);
void pin_to(int cpu);
void unpin(void);

/* probe.c: median round trip of a cache line between the first two cores, in ns; NAN where there is one core. */
double probe(struct bench *b);
int probe_alone(void);

/* report.c */
void report_measurement(const struct bench *b);
void report_single(const struct bench *b, const char *name, const char *what, double value, const char *unit);
double median(const double *values, int count);
double quantile(const double *values, int count, double part);

/* payload.c: the payload of message `slot` of a worker's window, and its check at the receiver, which counts wrong bytes. */
void payload_fill(const struct worker *w, unsigned char *bytes, int slot);
void payload_check(const struct worker *w, const unsigned char *bytes, int slot);

#endif
