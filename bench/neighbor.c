/* The neighbor message-rate benchmark of Goodell, Balaji, Buntinas, Dozsa, Gropp, Kumar, de Supinski and Thakur,
 * "Minimizing MPI Resource Contention in Multithreaded Multicore Environments" (IEEE Cluster 2010, section VI.B): T
 * threads in rank 0, each with a rank of one thread as its neighbor; both post 12 receives and 12 sends and wait for
 * all. Its figure is the messages that rank 0 sends. With messages of 0 bytes, as in the paper, it shows what the
 * library's bookkeeping costs, and the lifetime of objects in particular:
 *
 *   --op predefined   MPI_COMM_WORLD and MPI_BYTE (with --comms per-thread, a communicator per thread)
 *   --op comm         one duplicate of the communicator for all threads
 *   --op type         one derived datatype for all threads that equals MPI_BYTE
 *   --op derived      both
 *   --op one-tag      as predefined, with one tag for all threads: the neighbors alone tell their messages apart
 *
 * Otherwise every message's tag is its thread's own. Rank 0 says after each run of windows whether another follows. */
#include "harness.h"

#include <stdlib.h>

/* The objects that all threads use. */
struct objects {
    MPI_Comm comm; /* MPI_COMM_NULL: each worker's own */
    MPI_Datatype type;
};

struct state {
    unsigned char *out, *in;
    MPI_Request *requests;
    MPI_Comm comm;
    int peer, tag;
    bool active;
};

static void open_objects(struct bench *b) {
    struct objects *o = malloc(sizeof *o);
    if (!o) MPI_Abort(MPI_COMM_WORLD, 1);
    *o = (struct objects){MPI_COMM_NULL, MPI_BYTE};
    if (op_is(b, "comm") || op_is(b, "derived")) MPI_Comm_dup(participants, &o->comm);
    if (op_is(b, "type") || op_is(b, "derived")) {
        MPI_Type_contiguous(1, MPI_BYTE, &o->type);
        MPI_Type_commit(&o->type);
    }
    b->state = o;
}

static void close_objects(struct bench *b) {
    struct objects *o = b->state;
    if (o->comm != MPI_COMM_NULL) MPI_Comm_free(&o->comm);
    if (o->type != MPI_BYTE) MPI_Type_free(&o->type);
    free(o);
}

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    const struct objects *o = b->state;
    size_t bytes = b->size * (size_t)b->opt.window;
    /* Thread t of rank 0 talks to the first thread of rank t + 1, in the communicator and with the tag of the former. */
    int pair = b->rank == 0 ? w->id : b->rank - 1;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){.out = buffer_new(bytes),
                        .in = buffer_new(bytes),
                        .requests = malloc((size_t)b->opt.window * 2 * sizeof *s->requests),
                        .comm = o->comm != MPI_COMM_NULL ? o->comm : b->comms[pair],
                        .peer = b->rank == 0 ? w->id + 1 : 0,
                        .tag = op_is(b, "one-tag") ? 0 : tag_of(b, pair),
                        .active = b->rank == 0 || w->id == 0};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < b->opt.window; i++) payload_fill(w, s->out + (size_t)i * b->size, i);
    w->state = s;
}

static void exchange(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    MPI_Datatype type = ((const struct objects *)b->state)->type;
    int window = b->opt.window, size = (int)b->size;
    for (int i = 0; i < window; i++)
        MPI_Irecv(s->in + (size_t)i * b->size, size, type, s->peer, s->tag, s->comm, &s->requests[i]);
    for (int i = 0; i < window; i++)
        MPI_Isend(s->out + (size_t)i * b->size, size, type, s->peer, s->tag, s->comm, &s->requests[window + i]);
    MPI_Waitall(2 * window, s->requests, MPI_STATUSES_IGNORE);
}

static void lead(struct worker *w) {
    struct state *s = w->state;
    int run = 1;
    for (bool more = true; more;) {
        int64_t start = now_ns();
        MPI_Send(&run, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, s->comm);
        for (int i = 0; i < run; i++) exchange(w);
        int64_t end = now_ns();
        more = meter_add(&w->meter, start, end, (double)run * w->bench->opt.window);
        run = next_run(run, end - start);
    }
    int stop = 0;
    MPI_Send(&stop, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, s->comm);
}

static void follow(struct worker *w) {
    struct state *s = w->state;
    for (;;) {
        int run;
        MPI_Recv(&run, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, s->comm, MPI_STATUS_IGNORE);
        if (run == 0) return;
        for (int i = 0; i < run; i++) exchange(w);
    }
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    if (!s->active) return;
    if (w->bench->rank == 0) lead(w);
    else follow(w);
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    /* Its neighbor's payload is that of the neighbor's first thread. */
    struct worker sender = *w;
    sender.id = b->rank == 0 ? 0 : b->rank - 1;
    for (int i = 0; s->active && i < b->opt.window; i++) payload_check(&sender, s->in + (size_t)i * b->size, i);
    free(s->requests);
    free(s->in);
    free(s->out);
    free(s);
}

static const char *const ops[] = {"predefined", "comm", "type", "derived", "one-tag", NULL};

const struct subject subject_neighbor = {
    .name = "neighbor",
    .summary = "messages a second of T threads of one process, each exchanging with a process of its own",
    .unit = "msg/s",
    .ranks = RANKS_THREADS_AND_ONE,
    .default_window = 12,
    .ops = ops,
    .open = open_objects,
    .close = close_objects,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
};
