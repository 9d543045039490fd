/* A message whose parts are computed by T threads: how much of its transfer hides behind the computation?
 *
 * A round: the threads of rank 0 compute a part of the message each, thread 0 twice as much as the others; rank 1 receives
 * the whole and answers.
 *
 *   --op partitions  each thread hands its partition over when it is ready (MPI_Pready)
 *   --op whole       when all are ready, thread 0 sends one message (MPI_Send)
 *   --op messages    each thread sends a message of its own
 *   --op compute     no thread sends anything: what the rest of a round takes
 *
 * The size is that of a part. The figure is the time of a round, as thread 0 of rank 0 sees it. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDER OTHER_TAGS /* tags of rank 0's word whether another round follows, and of the answer */
#define ANSWER (OTHER_TAGS + 1)
/* Open MPI 5 has them, and says that it is MPI 3.1. */
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
#define HAS_PARTITIONS 1
#else
#define HAS_PARTITIONS 0
#endif
/* How often a thread fills its part. */
#define PASSES 4

struct state {
    unsigned char *message; /* of all threads */
    MPI_Request request;
    MPI_Request *receives;
    int more;
};

/* The state of the rank, made by its worker 0. */
static struct state shared;

static void open_rank(struct bench *b) {
    size_t bytes = b->size * (size_t)b->opt.threads;
    shared.message = buffer_new(bytes);
    shared.receives = malloc(sizeof *shared.receives * (size_t)b->opt.threads);
    if (!shared.receives) MPI_Abort(MPI_COMM_WORLD, 1);
    shared.request = MPI_REQUEST_NULL;
    if (!op_is(b, "partitions")) return;
#if HAS_PARTITIONS
    int parts = b->opt.threads, size = (int)b->size;
    if (b->rank == 0)
        MPI_Psend_init(shared.message, parts, size, MPI_BYTE, 1, 0, participants, MPI_INFO_NULL, &shared.request);
    else
        MPI_Precv_init(shared.message, parts, size, MPI_BYTE, 0, 0, participants, MPI_INFO_NULL, &shared.request);
#else
    fprintf(stderr, "mtbench: the library has no partitioned communication\n");
    exit(2);
#endif
}

static void close_rank(struct bench *b) {
    (void)b;
    if (shared.request != MPI_REQUEST_NULL) MPI_Request_free(&shared.request);
    free(shared.receives);
    free(shared.message);
}

static unsigned char *part_of(const struct worker *w) { return shared.message + (size_t)w->id * w->bench->size; }

static void compute(struct worker *w) {
    int passes = w->id == 0 ? 2 * PASSES : PASSES;
    for (int pass = 0; pass < passes; pass++) {
        payload_fill(w, part_of(w), pass == passes - 1 ? 0 : pass + 1);
        __asm__ volatile("" ::: "memory");
    }
}

static void hand_over(struct worker *w) {
    struct bench *b = w->bench;
#if HAS_PARTITIONS
    if (op_is(b, "partitions")) MPI_Pready(w->id, shared.request);
#endif
    if (op_is(b, "messages")) MPI_Send(part_of(w), (int)b->size, MPI_BYTE, 1, w->tag, w->comm);
}

/* The other threads of rank 0. */
static void help(struct worker *w) {
    struct bench *b = w->bench;
    for (;;) {
        gate_wait(&b->gate);
        if (!shared.more) break;
        compute(w);
        hand_over(w);
        gate_wait(&b->gate);
    }
    w->meter.busy_ns = -1;
}

static void lead(struct worker *w) {
    struct bench *b = w->bench;
    int64_t last = now_ns();
    for (shared.more = 1; shared.more;) {
        MPI_Send(&shared.more, 1, MPI_INT, 1, ORDER, participants);
        if (op_is(b, "partitions")) MPI_Start(&shared.request);
        gate_wait(&b->gate);
        compute(w);
        hand_over(w);
        gate_wait(&b->gate);
        if (op_is(b, "partitions")) MPI_Wait(&shared.request, MPI_STATUS_IGNORE);
        if (op_is(b, "whole"))
            MPI_Send(shared.message, (int)b->size * b->opt.threads, MPI_BYTE, 1, 0, participants);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, ANSWER, participants, MPI_STATUS_IGNORE);
        int64_t now = now_ns();
        shared.more = meter_add(&w->meter, last, now, 1);
        last = now;
    }
    MPI_Send(&shared.more, 1, MPI_INT, 1, ORDER, participants);
    gate_wait(&b->gate);
}

static void receive(struct worker *w) {
    struct bench *b = w->bench;
    for (;;) {
        int more;
        MPI_Recv(&more, 1, MPI_INT, 0, ORDER, participants, MPI_STATUS_IGNORE);
        if (!more) return;
        if (op_is(b, "partitions")) {
            MPI_Start(&shared.request);
            MPI_Wait(&shared.request, MPI_STATUS_IGNORE);
        } else if (op_is(b, "whole")) {
            MPI_Recv(shared.message, (int)b->size * b->opt.threads, MPI_BYTE, 0, 0, participants, MPI_STATUS_IGNORE);
        } else if (op_is(b, "messages")) {
            for (int t = 0; t < b->opt.threads; t++)
                MPI_Irecv(shared.message + (size_t)t * b->size, (int)b->size, MPI_BYTE, 0, tag_of(b, t), b->workers[t].comm,
                          &shared.receives[t]);
            MPI_Waitall(b->opt.threads, shared.receives, MPI_STATUSES_IGNORE);
        }
        MPI_Send(NULL, 0, MPI_BYTE, 0, ANSWER, participants);
    }
}

/* The rank's state is all there is. */
static void prepare(struct worker *w) { (void)w; }

static void repeat(struct worker *w) {
    if (w->bench->rank == 1) {
        if (w->id == 0) receive(w);
    } else if (w->id == 0) {
        lead(w);
    } else {
        help(w);
    }
}

static void finish(struct worker *w) {
    if (w->bench->rank == 1 && !op_is(w->bench, "compute")) payload_check(w, part_of(w), 0);
}

static const char *const ops[] = {"partitions", "whole", "messages", "compute", NULL};

const struct subject subject_partitioned = {
    .name = "partitioned",
    .summary = "time of a message whose parts T threads compute",
    .unit = "us",
    .ranks = 2,
    .default_window = 1,
    .ops = ops,
    .open = open_rank,
    .close = close_rank,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_us,
};
