/* The common parts of all subjects of the benchmark: options, a team of threads, a meter, a report.
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
#define MAX_PVARS 16
#define MAX_HINTS 8

/* Which communicators the threads use. */
enum comms {
    COMMS_SHARED,     /* one, and tags per thread */
    COMMS_PER_THREAD, /* each its own */
    COMMS_HINTED,     /* one, and tags per thread, of which the library is told that no receive is a wildcard */
};

struct options {
    const char *subject;
    size_t sizes[MAX_SIZES];
    int size_count;
    int threads;
    int window;
    int reps;
    double seconds;     /* length of one repetition's interval */
    double warm;        /* time that flows before the interval opens */
    enum comms comms;
    int level;          /* the thread level asked for */
    bool pin;           /* every rank on its own core */
    bool no_probe;      /* the machine's own speed is not measured */
    const char *op;     /* which of the subject's forms, the first if none was named */
    const char *pvars[MAX_PVARS]; /* performance variables to report */
    int pvar_count;
    bool misses;        /* report cache misses */
    const char *hints[MAX_HINTS]; /* of windows: KEY=VALUE */
    int hint_count;
    bool target_waits;  /* the target of one-sided operations waits in MPI */
    int onlookers;      /* ranks, the last ones, that take no part */
    int beside_processes, beside_threads; /* that compute beside each process */
    int64_t launched_ns; /* CLOCK_MONOTONIC when mpiexec was started, 0 if unknown */
};

/* Counts the work that falls into the interval of the current repetition. */
struct meter {
    int64_t open_ns, close_ns;
    double units; /* units of work inside the interval */
    double busy_ns; /* time inside the interval that those units took; negative: this worker does not measure */
    double all_units; /* units of work of all repetitions, in their intervals and beside */
    int64_t longest_ns; /* the longest addition that lies inside the interval, at least in part */
    struct slices *slices; /* where the repetition's speed is kept in short slices, or NULL */
    struct histogram *times; /* where the time of each unit is kept, or NULL; the subject fills it */
};

/* How often something took how long: 32 classes an octave, so that a quantile is known within 3 %. */
#define CLASSES_AN_OCTAVE 32
#define TIME_CLASSES (40 * CLASSES_AN_OCTAVE)
struct histogram {
    uint64_t counts[TIME_CLASSES];
    int64_t longest_ns;
};

/* A repetition cut into slices of about half a millisecond. On a machine that others use, most slices of a run with
 * no more threads than cores are still undisturbed, while its mean is not. */
struct slices {
    double units, busy_ns; /* of the slice that is not full yet */
    int count;
    double rates[4096]; /* units a nanosecond */
};

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
    int tag, other_tag; /* this worker's own; see tag_of() */
    struct meter meter;
    void *state; /* the subject's own */
};

/* Ranks that a subject needs, where it is not a fixed number. */
#define RANKS_ANY 0
#define RANKS_THREADS_AND_ONE (-1)
#define RANKS_EVEN (-2)
#define RANKS_SENDERS (-3) /* one more than threads, or with one thread an even number */

/* One subject: what a worker does, in every rank alike; `repeat` runs until the meter says that it is over. */
struct subject {
    const char *name;
    const char *summary;
    const char *unit;
    int ranks;     /* ranks it needs: exactly n, or one of the above */
    int default_window;
    const char *const *ops; /* its forms, ended by NULL; NULL if there is only one */
    int least_threads;      /* threads that it needs, if not one */
    bool own_comms;         /* makes sense only with a communicator per thread */
    bool any_tag;           /* receives MPI_ANY_TAG */
    bool threads_beside;    /* makes threads of its own: even one worker needs MPI_THREAD_MULTIPLE */
    bool times;             /* keeps the time of each unit in `meter.times` */
    /* In the main thread, before the team is made and after it has ended, either may be NULL; `close` may add
     * figures with `add_figure`. */
    void (*open)(struct bench *b);
    void (*close)(struct bench *b);
    void (*prepare)(struct worker *w);
    void (*repeat)(struct worker *w);
    void (*finish)(struct worker *w);
    /* Turns a repetition's sums over all measuring workers into the reported value. */
    double (*value)(const struct bench *b, double units, double busy_ns, double interval_ns);
    bool one_team;      /* of rank 0; the other ranks have one worker */
    bool half_measures; /* the lower half of the ranks measures, else rank 0 alone */
    bool all_measure;   /* all ranks measure */
    /* For subjects with another course than repetitions (start-up): replaces all of the above. */
    void (*whole)(struct bench *b);
};

#define MAX_MORE (10 + MAX_PVARS)

struct bench {
    struct options opt;
    const struct subject *subject;
    int rank, ranks, provided;
    size_t size; /* of the message, in this measurement */
    struct gate gate;
    int64_t open_ns; /* of the current repetition */
    struct slices slices;
    void *state; /* the subject's own, of all workers */
    struct worker *workers;
    MPI_Comm *comms;
    char library[160];
    /* results on rank 0 */
    double values[MAX_REPS];
    double calm[MAX_REPS]; /* the value of the faster slices, NAN where it is not known */
    double share_min[MAX_REPS], share_max[MAX_REPS];
    double jain[MAX_REPS];       /* Jain's index of the workers' shares: 1 is fair, 1/n is all for one of n */
    double longest_us[MAX_REPS]; /* the longest that a worker waited for a unit of work */
    struct histogram *times;     /* of the current repetition, all measuring workers together, or NULL */
    struct histogram *all_times; /* of all repetitions */
    struct {
        const char *name;
        double value;
    } more[MAX_MORE]; /* further figures */
    int more_count;
    double probe_before_ns, probe_after_ns;
    int64_t wrong_bytes; /* payload that did not arrive as sent */
};

extern const struct subject subject_latency, subject_rate, subject_bandwidth, subject_pairs, subject_self,
    subject_neighbor, subject_senders, subject_testing, subject_testcost, subject_clients, subject_stall, subject_dup, subject_churn,
    subject_procnull, subject_partitioned, subject_collective, subject_overlap, subject_put, subject_putlatency, subject_fetchop, subject_winlock, subject_lockload, subject_locklatency,
    subject_phases, subject_startup, subject_idle;

/* subjects.c: all of them, ended by NULL. */
extern const struct subject *const subjects[];

/* options.c */
void options_parse(struct options *opt, int argc, char **argv);
_Noreturn void usage(const char *complaint);

/* chosen.c */
const char *comms_name(enum comms comms);
const char *level_name(int level);
/* The thread level of that name, -1 if there is none. */
int level_of(const char *name);
/* An info object of the hints, which the caller frees; MPI_INFO_NULL if there are none. */
MPI_Info hints_of(const struct options *opt);
bool op_is(const struct bench *b, const char *name);

/* clock.c */
int64_t now_ns(void);
/* Processor time of the calling thread; reading it is a system call. */
int64_t thread_cpu_ns(void);

/* meter.c */
/* Accounts `units` that took from `from_ns` to `to_ns`; false once the interval is over. */
bool meter_add(struct meter *meter, int64_t from_ns, int64_t to_ns, double units);
/* The same where they kept the thread busy for another time than passed. */
bool meter_add_busy(struct meter *meter, int64_t from_ns, int64_t to_ns, double units, double busy_ns);

/* The length of the next run of units whose peers are told it before each: twice as long after a short run of that length,
 * half as long after a long one. */
int next_run(int run, int64_t took_ns);
/* Sleeps until the interval is over: for workers that have nothing to do and may not disturb. */
void sleep_out(const struct meter *meter);
/* The `value` of subjects whose figure is units of work a second. */
double units_a_second(const struct bench *b, double units, double busy_ns, double interval_ns);
/* The `value` of subjects whose figure is the mean time of a unit of work. */
double mean_ns(const struct bench *b, double units, double busy_ns, double interval_ns);
double mean_us(const struct bench *b, double units, double busy_ns, double interval_ns);

/* worker.c */
/* The ranks that take part: all but the onlookers. */
extern MPI_Comm participants;
/* The tag of a thread's messages: threads that share a communicator have tags in a row, as programs give them. That of its
 * messages of another kind is OTHER_TAGS more. */
#define OTHER_TAGS MAX_THREADS
int tag_of(const struct bench *b, int thread);
void gate_wait(struct gate *gate);
void *buffer_new(size_t bytes);

/* beside.c */
/* Starts what computes beside this process, before MPI is initialised; and what it has computed so far, in units. */
void beside_start(const struct options *opt);
double beside_units(void);

/* team.c */
void measure(struct bench *b);

/* histogram.c */
void histogram_add(struct histogram *h, int64_t ns);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* In ns, the upper end of the class in which it lies; NAN of none. */
double histogram_quantile(const struct histogram *h, double part);

/* pvars.c: NULL where none were asked for. */
struct pvars *pvars_open(const struct bench *b);
void pvars_close(struct bench *b, struct pvars *p, double units);

/* misses.c: -1 where they were not asked for or there is no counter. */
int misses_open(const struct bench *b);
void misses_close(struct bench *b, int counter, double units);

/* memory.c: a field of /proc/self/smaps_rollup, in MiB. */
double resident(const char *field);

/* affinity.c */
int allowed_cpu(int index); /* the index-th CPU this process may use (modulo their number) */
int allowed_cpus(void);
void pin_to(int cpu);
void unpin(void);

/* The lab's report (docs/lab.md) is of what happens between begin and end; elsewhere they do nothing. */
void lab_report(bool begins);

/* probe.c: median round trip of a cache line between the first two cores, in ns; NAN where there is one core. */
double probe(struct bench *b);
int probe_alone(void);

/* report.c */
/* Adds a further figure to the measurement's report. */
void add_figure(struct bench *b, const char *name, double value);
void report_measurement(const struct bench *b);
void report_single(const struct bench *b, const char *name, const char *what, double value, const char *unit);
double median(const double *values, int count);
double quantile(const double *values, int count, double part);
double largest(const double *values, int count);

/* payload.c: the payload of message `slot` of a worker's window, and its check at the receiver, which counts wrong bytes. */
void payload_fill(const struct worker *w, unsigned char *bytes, int slot);
void payload_check(const struct worker *w, const unsigned char *bytes, int slot);

#endif
