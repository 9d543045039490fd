/* The message-rate benchmark of Balaji, Buntinas, Goodell, Gropp and Thakur, "Fine-grained multithreading support for hybrid
 * threaded MPI programming" (IJHPCA 2010, Fig. 2): each of n senders has a receiver of its own, a process of one thread.
 * The receiver posts a window of receives and sends an acknowledgement; only then the sender sends the window, so that no
 * message is unexpected.
 *
 * With n + 1 processes the senders are n threads of rank 0. With 2n processes of one thread they are processes: rank r < n
 * sends to rank r + n; that is what threads are to be compared with.
 *
 * The senders measure. Each says after a run of windows whether another follows. */
#include "harness.h"

#include <stdlib.h>

enum role { SENDER, RECEIVER };

struct state {
    unsigned char *bytes; /* one buffer per message of the window */
    MPI_Request *requests;
    enum role role;
    int peer, tag;
};

/* The pair to which a worker belongs, and its role there. */
static enum role role_of(const struct worker *w, int *pair, int *peer) {
    const struct bench *b = w->bench;
    if (b->opt.threads == 1 && b->ranks % 2 == 0) {
        int senders = b->ranks / 2;
        *pair = b->rank % senders;
        *peer = (b->rank + senders) % b->ranks;
        return b->rank < senders ? SENDER : RECEIVER;
    }
    *pair = b->rank == 0 ? w->id : b->rank - 1;
    *peer = b->rank == 0 ? w->id + 1 : 0;
    return b->rank == 0 ? SENDER : RECEIVER;
}

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    int pair;
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    s->role = role_of(w, &pair, &s->peer);
    s->tag = tag_of(b, pair);
    s->bytes = buffer_new(b->size * (size_t)b->opt.window);
    s->requests = malloc((size_t)b->opt.window * sizeof *s->requests);
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; s->role == SENDER && i < b->opt.window; i++)
        payload_fill(w, s->bytes + (size_t)i * b->size, i);
    w->state = s;
}

static void send_window(struct worker *w, bool blocking) {
    struct state *s = w->state;
    int window = w->bench->opt.window, size = (int)w->bench->size;
    MPI_Recv(NULL, 0, MPI_BYTE, s->peer, s->tag + OTHER_TAGS, w->comm, MPI_STATUS_IGNORE);
    if (blocking) {
        for (int i = 0; i < window; i++)
            MPI_Send(s->bytes + (size_t)i * w->bench->size, size, MPI_BYTE, s->peer, s->tag, w->comm);
        return;
    }
    for (int i = 0; i < window; i++)
        MPI_Isend(s->bytes + (size_t)i * w->bench->size, size, MPI_BYTE, s->peer, s->tag, w->comm, &s->requests[i]);
    MPI_Waitall(window, s->requests, MPI_STATUSES_IGNORE);
}

static void send_runs(struct worker *w) {
    struct state *s = w->state;
    bool blocking = op_is(w->bench, "send");
    int run = 1, stop = 0;
    for (bool more = true; more;) {
        int64_t start = now_ns();
        MPI_Send(&run, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, w->comm);
        for (int i = 0; i < run; i++) send_window(w, blocking);
        int64_t end = now_ns();
        more = meter_add(&w->meter, start, end, (double)run * w->bench->opt.window);
        run = next_run(run, end - start);
    }
    MPI_Send(&stop, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, w->comm);
}

static void receive_runs(struct worker *w) {
    struct state *s = w->state;
    int window = w->bench->opt.window, size = (int)w->bench->size, run;
    for (;;) {
        MPI_Recv(&run, 1, MPI_INT, s->peer, s->tag + OTHER_TAGS, w->comm, MPI_STATUS_IGNORE);
        if (run == 0) return;
        while (run-- > 0) {
            for (int i = 0; i < window; i++)
                MPI_Irecv(s->bytes + (size_t)i * w->bench->size, size, MPI_BYTE, s->peer, s->tag, w->comm,
                          &s->requests[i]);
            MPI_Send(NULL, 0, MPI_BYTE, s->peer, s->tag + OTHER_TAGS, w->comm);
            MPI_Waitall(window, s->requests, MPI_STATUSES_IGNORE);
        }
    }
}

static void repeat(struct worker *w) {
    struct state *s = w->state;
    if (s->role == SENDER) {
        send_runs(w);
        return;
    }
    receive_runs(w);
    w->meter.busy_ns = -1;
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    /* A payload names the thread that sent it; in a process of one thread that is thread 0. */
    struct worker sender = *w;
    sender.id = b->opt.threads == 1 ? 0 : b->rank - 1;
    for (int i = 0; s->role == RECEIVER && i < b->opt.window; i++)
        payload_check(&sender, s->bytes + (size_t)i * b->size, i);
    free(s->requests);
    free(s->bytes);
    free(s);
}

static const char *const ops[] = {"isend", "send", NULL};

const struct subject subject_senders = {
    .name = "senders",
    .summary = "messages a second of n senders, threads of a process or processes, each to a process of its own",
    .unit = "msg/s",
    .ranks = RANKS_SENDERS,
    .default_window = 128,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
    .one_team = true,
    .all_measure = true,
};
