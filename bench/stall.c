/* One thread of T leaves MPI for a while: do the others still get on?
 *
 * Thread 0 of rank 0 exchanges messages with rank 1 on its own communicator; when the interval opens it stops and computes
 * until it closes. The other threads are clients, each of a server thread of its own in rank 1: a request on the client's
 * communicator, then a synchronous message to rank 0, whose receive the client has posted beforehand, then the reply on
 * the client's communicator. A synchronous send ends only when rank 0 has matched it:
 *
 *   --op stall   it goes over the communicator of the thread that computes: another thread has to poll there, although
 *                all that clients wait for is on their own
 *   --op own     it goes over the client's communicator: the same messages and the same load, and no thread needs help
 *
 * Its figure is the 99th percentile of the clients' times from request to reply (`p50_us`, `max_us`: half of them, the
 * longest). When all is over, thread 0 goes back to MPI until every server has said goodbye, so that the benchmark ends
 * even where no thread polls; the longest time is then that of the stall. */
#include "harness.h"

#include <stdlib.h>

#define REQUEST 0 /* tags on the client's communicator */
#define LAST 1
#define MATCHED 2
#define PING 0 /* tags on thread 0's communicator; a client's messages have its number more than the last */
#define GOODBYE 1
#define FIRST_CLIENT 2
#define ROUNDS_BETWEEN_CHECKS 4096

struct state {
    unsigned char *out, *in, *matched;
    MPI_Comm comm; /* of the synchronous messages, and their tag */
    int tag;
};

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    bool own = op_is(b, "own");
    *s = (struct state){.out = buffer_new(b->size),
                        .in = buffer_new(b->size),
                        .matched = buffer_new(b->size),
                        .comm = own ? w->comm : b->comms[0],
                        .tag = own ? MATCHED : FIRST_CLIENT + w->id};
    payload_fill(w, s->out, 0);
    w->state = s;
}

/* Work that no compiler leaves out. */
static void compute_until(int64_t end_ns) {
    volatile uint64_t x = 1;
    while (now_ns() < end_ns)
        for (int i = 0; i < ROUNDS_BETWEEN_CHECKS; i++) x = x * 6364136223846793005u + 1442695040888963407u;
}

static void stall(struct worker *w) {
    struct bench *b = w->bench;
    int go;
    do {
        go = now_ns() < w->meter.open_ns;
        MPI_Send(&go, 1, MPI_INT, 1, PING, w->comm);
        MPI_Recv(&go, 1, MPI_INT, 1, PING, w->comm, MPI_STATUS_IGNORE);
    } while (go);
    compute_until(w->meter.close_ns);
    for (int left = b->opt.threads - 1; left > 0; left--)
        MPI_Recv(NULL, 0, MPI_BYTE, 1, GOODBYE, w->comm, MPI_STATUS_IGNORE);
    w->meter.busy_ns = -1;
}

static void partner(struct worker *w) {
    int go;
    do {
        MPI_Recv(&go, 1, MPI_INT, 0, PING, w->comm, MPI_STATUS_IGNORE);
        MPI_Send(&go, 1, MPI_INT, 0, PING, w->comm);
    } while (go);
    sleep_out(&w->meter);
}

static void client(struct worker *w) {
    struct state *s = w->state;
    struct meter *m = &w->meter;
    int size = (int)w->bench->size;
    for (bool more = true; more;) {
        MPI_Request matched;
        int64_t start = now_ns();
        MPI_Irecv(s->matched, size, MPI_BYTE, 1, s->tag, s->comm, &matched);
        MPI_Send(s->out, size, MPI_BYTE, 1, REQUEST, w->comm);
        MPI_Recv(s->in, size, MPI_BYTE, 1, REQUEST, w->comm, MPI_STATUS_IGNORE);
        int64_t end = now_ns();
        MPI_Wait(&matched, MPI_STATUS_IGNORE);
        if (start >= m->open_ns && start < m->close_ns) histogram_add(m->times, end - start);
        more = meter_add(m, start, end, 1);
    }
    MPI_Send(s->out, size, MPI_BYTE, 1, LAST, w->comm);
}

static void server(struct worker *w) {
    struct state *s = w->state;
    struct bench *b = w->bench;
    int size = (int)b->size;
    for (;;) {
        MPI_Status status;
        MPI_Recv(s->in, size, MPI_BYTE, 0, MPI_ANY_TAG, w->comm, &status);
        if (status.MPI_TAG == LAST) break;
        MPI_Ssend(s->out, size, MPI_BYTE, 0, s->tag, s->comm);
        MPI_Send(s->in, size, MPI_BYTE, 0, REQUEST, w->comm);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, GOODBYE, b->comms[0]);
}

static void repeat(struct worker *w) {
    bool measures = w->bench->rank == 0;
    if (w->id == 0) (measures ? stall : partner)(w);
    else (measures ? client : server)(w);
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    if (w->bench->rank == 0 && w->id != 0) {
        payload_check(w, s->in, 0);
        payload_check(w, s->matched, 0);
    }
    free(s->matched);
    free(s->in);
    free(s->out);
    free(s);
}

static double value(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)units, (void)busy_ns, (void)interval_ns;
    return histogram_quantile(b->times, 0.99) / 1000;
}

static void add_quantiles(struct bench *b) {
    add_figure(b, "p50_us", histogram_quantile(b->all_times, 0.5) / 1000);
    add_figure(b, "max_us", histogram_quantile(b->all_times, 1) / 1000);
}

static const char *const ops[] = {"stall", "own", NULL};

const struct subject subject_stall = {
    .name = "stall",
    .summary = "99th percentile of T-1 client threads' requests while one thread computes",
    .unit = "us",
    .ranks = 2,
    .least_threads = 2,
    .default_window = 1,
    .ops = ops,
    .own_comms = true,
    .times = true,
    .close = add_quantiles,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = value,
};
