// The schedule, derived from the seed alone, so that all ranks and threads agree without communication.
//
// A program is rounds of steps. Every thread of every rank walks through the steps of a round in order and does its
// part in each. A step needs nothing from a later step, and a thread completes unfinished operations of a step later.
// So the unfinished step with the smallest number can always go on: no schedule deadlocks, whatever the library
// buffers.
#ifndef HEDDLE_TEST_SCHEDULE_H
#define HEDDLE_TEST_SCHEDULE_H

#include "layout.h"

struct dice {
    uint64_t state;
};

static uint64_t roll(struct dice *d) {
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// A number in 0..n.
static int pick(struct dice *d, int n) {
    return (int)(roll(d) % (uint64_t)n);
}

static struct dice dice_for(uint64_t seed, uint64_t a, uint64_t b) {
    struct dice d = {seed * 0xD6E8FEB86659FD93u ^ a << 32 ^ b};
    roll(&d);
    return d;
}

enum kind { MESSAGE, EXCHANGE, READY, FAN_IN, COLLECTIVE, DUPLICATE, CANCEL, PARTITIONED };

enum send_form { SEND, SSEND, BSEND, ISEND, ISSEND, IBSEND, SEND_INIT, SSEND_INIT, ISEND_FREED, SEND_FORMS };

enum receive_form { RECV, IRECV, IRECV_LATER, IRECV_TEST, PROBE, IPROBE, MPROBE, IMPROBE, RECV_INIT, RECEIVE_FORMS };

enum wildcard { ANY_SOURCE, ANY_TAG, ANY_BOTH, WILDCARDS };

enum collective { BARRIER, BCAST, ALLREDUCE, ALLTOALL, ALLGATHER, GATHER, SCAN, COLLECTIVES };

// A thread of a rank.
struct endpoint {
    int rank, thread;
};

struct step {
    enum kind kind;
    struct endpoint from, to;
    int comm, tag;
    struct layout out, in; // the same signature, perhaps unlike maps
    struct layout back;    // the other direction of an exchange
    enum send_form send;
    enum receive_form receive;
    enum wildcard wildcard;
    bool replace;
    unsigned seed; // of the payload
    int part;      // COLLECTIVE, DUPLICATE, CANCEL: which thread of each rank; FAN_IN: how many messages
    enum collective collective;
    uint64_t inner; // seed of details that only this step needs
};

struct plan {
    uint64_t seed;
    int ranks, threads, steps, rounds;
};

enum { COMMS = 5, TAGS = 3, FAN_TAGS = 4, BUFFERED_AT_MOST = 20000 };

// Tags tell the pair of threads apart: between two threads the order of the steps is the order of the messages.
static int tag_of(const struct plan *p, struct endpoint from, struct endpoint to, int k) {
    return ((to.thread * p->threads) + from.thread) * TAGS + k;
}

// Above those: the tags of messages to wildcard receives of a thread, and of signals.
static int fan_tag(const struct plan *p, struct endpoint to, int k) {
    return p->threads * p->threads * TAGS + to.thread * FAN_TAGS + k;
}

static int signal_tag(const struct plan *p, struct endpoint from, struct endpoint to) {
    return p->threads * (p->threads * TAGS + FAN_TAGS) + to.thread * p->threads + from.thread;
}

static int some_bytes(struct dice *d) {
    static const int up_to[] = {1, 8, 33, 48, 72, 256, 1024, 4200, 17000, 70000, 300000, 2000000};
    int class = pick(d, 200);
    if (class < 10) return 0;
    class = class < 100 ? class % 6 : class < 160 ? 5 + class % 3 : class < 190 ? 8 + class % 2 : class < 198 ? 10 : 11;
    return pick(d, up_to[class] + 1);
}

static struct layout some_layout(struct dice *d, int base, int n) {
    struct layout l = {.shape = (enum shape)pick(d, SHAPES), .base = base, .n = n, .block = 1 + pick(d, 9)};
    if (pick(d, 3) == 0) l.shape = PLAIN;
    if (l.n / l.block > 4000) l.block = l.n / 4000 + 1;
    return l;
}

static struct endpoint some_endpoint(struct dice *d, const struct plan *p) {
    return (struct endpoint){pick(d, p->ranks), pick(d, p->threads)};
}

static bool same_endpoint(struct endpoint a, struct endpoint b) {
    return a.rank == b.rank && a.thread == b.thread;
}

// Step number i of a round. `fanned` remembers the threads that already have a wildcard receive in this round.
static struct step make_step(const struct plan *p, int round, int i, unsigned char *fanned) {
    struct dice d = dice_for(p->seed, (uint64_t)round + 1, (uint64_t)i);
    struct step s = {.from = some_endpoint(&d, p), .to = some_endpoint(&d, p)};
    int base = pick(&d, BASES), bytes = some_bytes(&d), kind = pick(&d, 100);
    int n = bytes / (int)bases[base].size;
    s.kind = kind < 55 ? MESSAGE : kind < 60 ? PARTITIONED : kind < 70 ? EXCHANGE : kind < 75 ? READY : kind < 85 ? FAN_IN : kind < 95 ? COLLECTIVE : kind < 97 ? DUPLICATE : CANCEL;
    s.comm = pick(&d, COMMS);
    s.out = some_layout(&d, base, n);
    s.in = some_layout(&d, base, n);
    s.replace = pick(&d, 2);
    int base_back = pick(&d, BASES);
    s.back = s.replace ? s.out : some_layout(&d, base_back, some_bytes(&d) / (int)bases[base_back].size);
    s.send = (enum send_form)pick(&d, SEND_FORMS);
    s.receive = (enum receive_form)pick(&d, RECEIVE_FORMS);
    s.wildcard = (enum wildcard)pick(&d, WILDCARDS);
    s.seed = (unsigned)roll(&d);
    s.part = pick(&d, p->threads);
    s.collective = (enum collective)pick(&d, COLLECTIVES);
    s.inner = roll(&d);
    s.tag = tag_of(p, s.from, s.to, pick(&d, TAGS));
    if ((s.send == BSEND || s.send == IBSEND) && bytes > BUFFERED_AT_MOST) s.send = ISEND;
    if (s.kind == EXCHANGE && same_endpoint(s.from, s.to)) s.kind = MESSAGE;
    if (s.kind == FAN_IN) {
        unsigned char *taken = &fanned[s.to.rank * p->threads + s.to.thread];
        if (*taken) {
            s.kind = MESSAGE;
        } else {
            *taken = 1;
            s.part = 1 + pick(&d, 12);
        }
    }
    // A thread that sends to itself posts its receive first and completes it later.
    if (same_endpoint(s.from, s.to)) s.receive = pick(&d, 2) ? IRECV_LATER : RECV_INIT;
    return s;
}

#endif
