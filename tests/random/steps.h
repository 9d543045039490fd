// The steps between two threads, and the one that a thread takes alone.
#ifndef HEDDLE_TEST_STEPS_H
#define HEDDLE_TEST_STEPS_H

#include "message.h"

static void do_message(struct worker *w, const struct step *s) {
    int from = rank_in(s->comm, s->from.rank), to = rank_in(s->comm, s->to.rank);
    if (is_me(w, s->to)) receive_one(w, &s->in, s->seed, s->receive, from, s->tag, comms[s->comm]);
    if (is_me(w, s->from)) send_one(w, &s->out, s->seed, s->send, to, s->tag, comms[s->comm]);
}

// Both threads send and receive at once: `out` goes in one direction, `back` in the other.
static void do_exchange(struct worker *w, const struct step *s) {
    bool first = is_me(w, s->from);
    if (!first && !is_me(w, s->to)) return;
    struct endpoint peer = first ? s->to : s->from;
    struct layout out = first ? s->out : s->back, in = first ? s->back : s->in;
    if (s->replace) in = out = s->out;
    int other = rank_in(s->comm, peer.rank);
    struct endpoint me = first ? s->from : s->to;
    int out_tag = tag_of(&plan, me, peer, 0), in_tag = tag_of(&plan, peer, me, 0);
    unsigned out_seed = s->seed + (first ? 0 : 1), in_seed = s->seed + (first ? 1 : 0);
    unsigned char *sent = layout_filled(&out, out_seed);
    struct mapped mo = layout_map(&out), mi = layout_map(&in);
    MPI_Status status;
    if (s->replace) {
        CHECK_OK(MPI_Sendrecv_replace(sent, mo.count, mo.type, other, out_tag, other, in_tag, comms[s->comm], &status));
        check_message(&in, sent, in_seed, &status, other, in_tag);
    } else {
        unsigned char *got = layout_blank(&in);
        CHECK_OK(MPI_Sendrecv(sent, mo.count, mo.type, other, out_tag, got, mi.count, mi.type, other, in_tag, comms[s->comm], &status));
        check_message(&in, got, in_seed, &status, other, in_tag);
        free(got);
    }
    layout_unmap(&mo);
    layout_unmap(&mi);
    free(sent);
}

// The receiver posts, says so, and the sender sends in ready mode.
static void do_ready(struct worker *w, const struct step *s) {
    int from = rank_in(s->comm, s->from.rank), to = rank_in(s->comm, s->to.rank), signal = signal_tag(&plan, s->to, s->from);
    MPI_Comm comm = comms[s->comm];
    bool alone = same_endpoint(s->from, s->to);
    if (is_me(w, s->to)) {
        receive_one(w, &s->in, s->seed, IRECV_LATER, from, s->tag, comm);
        if (!alone) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, from, signal, comm));
    }
    if (is_me(w, s->from)) {
        if (!alone) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, to, signal, comm, MPI_STATUS_IGNORE));
        unsigned char *buf = layout_filled(&s->out, s->seed);
        struct mapped m = layout_map(&s->out);
        CHECK_OK(MPI_Rsend(buf, m.count, m.type, to, s->tag, comm));
        layout_unmap(&m);
        free(buf);
    }
}

// A receive that no message fits is taken back.
static void do_cancel(struct worker *w, const struct step *s) {
    if (!is_me(w, s->from)) return;
    int value = -1, cancelled = 0, last = plan.threads * (plan.threads * TAGS + FAN_TAGS + plan.threads);
    MPI_Request request;
    MPI_Status status;
    int source = s->comm == NO_ANY_SOURCE ? 0 : MPI_ANY_SOURCE;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, source, last + w->me, comms[s->comm], &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled && value == -1);
}

#endif
