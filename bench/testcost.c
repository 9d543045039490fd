/* The cost of a call of MPI_Test that only has to answer: T threads of rank 0, each with a window of
 * receives from the process itself.
 *
 *   --op done      all are complete: post, send, look until they are, and only then is each tested
 *   --op pending   none can be complete, because there is no message: the receives are tested in turn
 *
 * Rank 1 sleeps: it could send, but it uses no core. The figure is the processor
 * time that a test takes, so that it means the same with more threads than cores. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>


struct state {
    unsigned char *in, *out;
    MPI_Request *requests;
};

static void prepare(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = malloc(sizeof *s);
    if (!s) MPI_Abort(MPI_COMM_WORLD, 1);
    *s = (struct state){buffer_new(b->size * (size_t)b->opt.window), buffer_new(b->size),
                        malloc((size_t)b->opt.window * sizeof *s->requests)};
    if (!s->requests) MPI_Abort(MPI_COMM_WORLD, 1);
    w->state = s;
}

static void post(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    for (int i = 0; i < b->opt.window; i++)
        MPI_Irecv(s->in + (size_t)i * b->size, (int)b->size, MPI_BYTE, b->rank, w->tag, w->comm, &s->requests[i]);
}

static void send_all(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    for (int i = 0; i < b->opt.window; i++) {
        payload_fill(w, s->out, i);
        MPI_Send(s->out, (int)b->size, MPI_BYTE, b->rank, w->tag, w->comm);
    }
}

static _Noreturn void contradiction(const char *what) {
    fprintf(stderr, "mtbench testcost: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void test_done(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    int window = b->opt.window;
    for (bool more = true; more;) {
        post(w);
        send_all(w);
        for (int i = 0; i < window; i++)
            for (int done = 0; !done;) MPI_Request_get_status(s->requests[i], &done, MPI_STATUS_IGNORE);
        int all = 1;
        int64_t start = now_ns(), cpu = thread_cpu_ns();
        for (int i = 0; i < window; i++) {
            int done;
            MPI_Test(&s->requests[i], &done, MPI_STATUS_IGNORE);
            all &= done;
        }
        cpu = thread_cpu_ns() - cpu;
        more = meter_add_busy(&w->meter, start, now_ns(), window, (double)cpu);
        if (!all) contradiction("MPI_Test denies that a request is complete which MPI_Request_get_status affirmed");
    }
}

static void test_pending(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    post(w);
    int window = b->opt.window, any = 0;
    int64_t last = now_ns(), last_cpu = thread_cpu_ns();
    for (bool more = true; more;) {
        for (int i = 0; i < window; i++) {
            int done;
            MPI_Test(&s->requests[i], &done, MPI_STATUS_IGNORE);
            any |= done;
        }
        int64_t now = now_ns(), cpu = thread_cpu_ns();
        more = meter_add_busy(&w->meter, last, now, window, (double)(cpu - last_cpu));
        last = now;
        last_cpu = cpu;
    }
    if (any) contradiction("a receive is complete although nothing was sent");
    send_all(w);
    MPI_Waitall(b->opt.window, s->requests, MPI_STATUSES_IGNORE);
}

static void repeat(struct worker *w) {
    if (w->bench->rank != 0) sleep_out(&w->meter);
    else if (op_is(w->bench, "done")) test_done(w);
    else test_pending(w);
}

static void finish(struct worker *w) {
    struct bench *b = w->bench;
    struct state *s = w->state;
    if (b->rank == 0)
        for (int i = 0; i < b->opt.window; i++) payload_check(w, s->in + (size_t)i * b->size, i);
    free(s->requests);
    free(s->out);
    free(s->in);
    free(s);
}

static const char *const ops[] = {"done", "pending", NULL};

const struct subject subject_testcost = {
    .name = "testcost",
    .summary = "processor time of MPI_Test of a complete and of a pending request",
    .unit = "ns",
    .ranks = 2,
    .default_window = 512,
    .ops = ops,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_ns,
};
