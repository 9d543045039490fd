/* Collective operations: all ranks take part, in every thread on a communicator of its own. The figure is the mean time
 * of an operation in rank 0; with several threads, the mean over all of them.
 *
 * Each operation has a blocking form, a nonblocking one ("i") and a persistent one ("persistent_"); the latter two are
 * started and waited for.
 *
 * In a stream of broadcasts rank 0 waits for nobody, and the others may fall far behind; with the roots in turns ("_turns")
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
    int block; /* elements for a rank */
    /* Of the operations with counts: the elements for and from each rank, and where they begin. */
    int *counts, *starts;
    int root, ranks;
    MPI_Request request;
    /* One operation, of a persistent request its start. */
    void (*call)(struct state *s, MPI_Comm comm);
};

#define OUT s->out, s->block, MPI_DOUBLE
#define IN s->in, s->block, MPI_DOUBLE
#define OUT_BY_COUNTS s->out, s->counts, s->starts, MPI_DOUBLE
#define IN_BY_COUNTS s->in, s->counts, s->starts, MPI_DOUBLE
#define SUM s->out, s->in, s->block, MPI_DOUBLE, MPI_SUM

/* Each operation: our name, the functions of its forms, and their arguments before the communicator. */
#define OPERATIONS(FORM)                                                               \
    FORM(allreduce, MPI_Allreduce, MPI_Iallreduce, (SUM,))                             \
    FORM(barrier, MPI_Barrier, MPI_Ibarrier, ())                                       \
    FORM(bcast, MPI_Bcast, MPI_Ibcast, (IN, s->root,))                                 \
    FORM(reduce, MPI_Reduce, MPI_Ireduce, (SUM, s->root,))                             \
    FORM(allgather, MPI_Allgather, MPI_Iallgather, (OUT, IN,))                         \
    FORM(allgatherv, MPI_Allgatherv, MPI_Iallgatherv, (OUT, IN_BY_COUNTS,))            \
    FORM(alltoall, MPI_Alltoall, MPI_Ialltoall, (OUT, IN,))                            \
    FORM(alltoallv, MPI_Alltoallv, MPI_Ialltoallv, (OUT_BY_COUNTS, IN_BY_COUNTS,))     \
    FORM(reduce_scatter, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, (SUM,))  \
    FORM(gather, MPI_Gather, MPI_Igather, (OUT, IN, s->root,))                         \
    FORM(gatherv, MPI_Gatherv, MPI_Igatherv, (OUT, IN_BY_COUNTS, s->root,))            \
    FORM(scatter, MPI_Scatter, MPI_Iscatter, (OUT, IN, s->root,))                      \
    FORM(scatterv, MPI_Scatterv, MPI_Iscatterv, (OUT_BY_COUNTS, IN, s->root,))         \
    FORM(scan, MPI_Scan, MPI_Iscan, (SUM,))                                            \
    FORM(exscan, MPI_Exscan, MPI_Iexscan, (SUM,))

#define INSIDE(...) __VA_ARGS__
#define DEFINE_BLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) \
    static void NAME(struct state *s, MPI_Comm comm) { (void)s, FUNCTION(INSIDE ARGUMENTS comm); }
#define DEFINE_NONBLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) \
    static void i##NAME(struct state *s, MPI_Comm comm) { IFUNCTION(INSIDE ARGUMENTS comm, &s->request); }
#define DEFINE_PERSISTENT(NAME, FUNCTION, IFUNCTION, ARGUMENTS) \
    static void init_##NAME(struct state *s, MPI_Comm comm) { FUNCTION##_init(INSIDE ARGUMENTS comm, MPI_INFO_NULL, &s->request); }
OPERATIONS(DEFINE_BLOCKING)
OPERATIONS(DEFINE_NONBLOCKING)
#if MPI_VERSION >= 4
OPERATIONS(DEFINE_PERSISTENT)
#endif

static void next_root(struct state *s) { s->root = (s->root + 1) % s->ranks; }
static void bcast_turns(struct state *s, MPI_Comm comm) { bcast(s, comm), next_root(s); }
static void reduce_turns(struct state *s, MPI_Comm comm) { reduce(s, comm), next_root(s); }
static void gather_turns(struct state *s, MPI_Comm comm) { gather(s, comm), next_root(s); }
static void scatter_turns(struct state *s, MPI_Comm comm) { scatter(s, comm), next_root(s); }

#define NAME_BLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) #NAME,
#define NAME_NONBLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) "i" #NAME,
#define NAME_PERSISTENT(NAME, FUNCTION, IFUNCTION, ARGUMENTS) "persistent_" #NAME,
#define CALL_BLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) NAME,
#define CALL_NONBLOCKING(NAME, FUNCTION, IFUNCTION, ARGUMENTS) i##NAME,
#define CALL_PERSISTENT(NAME, FUNCTION, IFUNCTION, ARGUMENTS) init_##NAME,
/* The names of all forms, and their functions in the same order. */
static const char *const ops[] = {
    OPERATIONS(NAME_BLOCKING) "bcast_turns", "reduce_turns", "gather_turns", "scatter_turns", OPERATIONS(NAME_NONBLOCKING)
#if MPI_VERSION >= 4
    OPERATIONS(NAME_PERSISTENT)
#endif
    NULL};
static void (*const calls[])(struct state *s, MPI_Comm comm) = {
    OPERATIONS(CALL_BLOCKING) bcast_turns, reduce_turns, gather_turns, scatter_turns, OPERATIONS(CALL_NONBLOCKING)
#if MPI_VERSION >= 4
    OPERATIONS(CALL_PERSISTENT)
#endif
};

static void start(struct state *s, MPI_Comm comm) { (void)comm, MPI_Start(&s->request); }

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    int block = b->size < sizeof(double) ? 1 : (int)(b->size / sizeof(double));
    /* The operations among all send and receive a block for each rank. */
    size_t bytes = (size_t)block * sizeof(double) * (size_t)b->ranks;
    size_t lists = sizeof(int) * (size_t)b->ranks;
    *s = (struct state){.out = buffer_new(bytes),
                        .in = buffer_new(bytes),
                        .block = block,
                        .counts = buffer_new(lists),
                        .starts = buffer_new(lists),
                        .ranks = b->ranks,
                        .request = MPI_REQUEST_NULL};
    for (int rank = 0; rank < b->ranks; rank++) {
        s->counts[rank] = block;
        s->starts[rank] = rank * block;
    }
    int form = 0;
    while (!op_is(b, ops[form])) form++;
    s->call = calls[form];
    if (strncmp(b->opt.op, "persistent", strlen("persistent")) == 0) {
        s->call(s, w->comm);
        s->call = start;
    }
    w->state = s;
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    bool leads = w->bench->rank == 0;
    bool waits = w->bench->opt.op[0] == 'i' || s->request != MPI_REQUEST_NULL;
    int batch = 1;
    int64_t last = now_ns();
    for (;;) {
        MPI_Bcast(&batch, 1, MPI_INT, 0, w->comm);
        if (batch == 0) break;
        for (int i = 0; i < batch; i++) {
            s->call(s, w->comm);
            if (waits) MPI_Wait(&s->request, MPI_STATUS_IGNORE);
        }
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
