/* The latency-oriented benchmark of Amer, Lu, Balaji, Chabbi, Wei, Hammond and Matsuoka, "Lock Contention Management
 * in Multithreaded MPI" (ACM TOPC 2019, section 3.4.2): T client threads in rank 0, each with one request at a time, and a
 * single-threaded server in rank 1 that answers them one by one.
 *
 * A request's tag is the thread's first tag, the thread's last message carries the second one and is not answered.
 * With one communicator the server receives with MPI_ANY_TAG; with a communicator per thread it keeps one receive
 * posted in each and waits for any. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define CHECK_NS 5000
#define CHECK_MAX 64

struct state {
    unsigned char *out, *in;
};

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    /* The server answers all threads from worker 0 and needs a buffer for each. */
    size_t bytes = b->rank == 0 ? b->size : b->size * (size_t)b->opt.threads;
    *s = (struct state){buffer_new(bytes), buffer_new(bytes)};
    if (b->rank == 0) payload_fill(w, s->out, 0);
    w->state = s;
}

static void client(struct worker *w) {
    struct state *s = w->state;
    int size = (int)w->bench->size, between_checks = 1;
    int64_t last = now_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < between_checks; i++) {
            MPI_Request send, receive;
            MPI_Irecv(s->in, size, MPI_BYTE, 1, w->tag, w->comm, &receive);
            MPI_Isend(s->out, size, MPI_BYTE, 1, w->tag, w->comm, &send);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        }
        int64_t now = now_ns();
        more = meter_add(&w->meter, last, now, between_checks);
        if (now - last < CHECK_NS && between_checks < CHECK_MAX) between_checks *= 2;
        else if (now - last > 8 * CHECK_NS) between_checks = 1;
        last = now;
    }
    MPI_Send(s->out, size, MPI_BYTE, 1, w->other_tag, w->comm);
}

static void serve_one_communicator(struct worker *w) {
    struct state *s = w->state;
    int size = (int)w->bench->size;
    for (int left = w->bench->opt.threads; left > 0;) {
        MPI_Status status;
        MPI_Recv(s->in, size, MPI_BYTE, 0, MPI_ANY_TAG, w->comm, &status);
        if (status.MPI_TAG >= OTHER_TAGS) left--;
        else MPI_Send(s->in, size, MPI_BYTE, 0, status.MPI_TAG, w->comm);
    }
}

static void serve_communicators(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int size = (int)b->size, threads = b->opt.threads;
    MPI_Request requests[MAX_THREADS];
    for (int t = 0; t < threads; t++)
        MPI_Irecv(s->in + (size_t)t * b->size, size, MPI_BYTE, 0, MPI_ANY_TAG, b->comms[t], &requests[t]);
    for (int left = threads; left > 0;) {
        MPI_Status status;
        int t;
        MPI_Waitany(threads, requests, &t, &status);
        if (status.MPI_TAG >= OTHER_TAGS) {
            left--;
            continue;
        }
        unsigned char *bytes = s->in + (size_t)t * b->size;
        MPI_Send(bytes, size, MPI_BYTE, 0, status.MPI_TAG, b->comms[t]);
        MPI_Irecv(bytes, size, MPI_BYTE, 0, MPI_ANY_TAG, b->comms[t], &requests[t]);
    }
}

static void repeat(struct worker *w) {
    if (w->bench->rank == 0) client(w);
    else if (w->id != 0) return;
    else if (w->bench->opt.comms == COMMS_PER_THREAD) serve_communicators(w);
    else serve_one_communicator(w);
}

static void finish(struct worker *w) {
    struct state *s = w->state;
    if (w->bench->rank == 0) payload_check(w, s->in, 0);
    free(s->out);
    free(s->in);
    free(s);
}

const struct subject subject_clients = {
    .name = "clients",
    .any_tag = true,
    .summary = "requests a second of T client threads to a single-threaded server process",
    .unit = "req/s",
    .ranks = 2,
    .default_window = 1,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = units_a_second,
};
