// A step for wildcards.
#ifndef HEDDLE_TEST_FAN_IN_H
#define HEDDLE_TEST_FAN_IN_H

#include "message.h"

// Several messages from anywhere to one thread's wildcard receives. The payload says who sent it and as which one.
enum { FAN_AT_MOST = 16, FAN_BYTES = 40000 };

struct fan {
    struct endpoint from;
    int tag, bytes;
    enum send_form send;
};

static void make_fan(const struct step *s, struct fan *fan) {
    struct dice d = dice_for(s->inner, 1, 1);
    int tag = fan_tag(&plan, s->to, pick(&d, FAN_TAGS));
    for (int i = 0; i < s->part; i++) {
        int bytes = some_bytes(&d);
        fan[i] = (struct fan){.from = some_endpoint(&d, &plan), .bytes = 8 + bytes % FAN_BYTES, .tag = tag};
        if (s->wildcard != ANY_SOURCE) fan[i].tag = fan_tag(&plan, s->to, pick(&d, FAN_TAGS));
        if (s->wildcard == ANY_TAG) fan[i].from.rank = s->from.rank;
        fan[i].send = (enum send_form)pick(&d, SEND_FORMS);
        bool blocks = fan[i].send == SEND || fan[i].send == SSEND || fan[i].send == BSEND || fan[i].send == IBSEND;
        if (same_endpoint(fan[i].from, s->to) && blocks) fan[i].send = ISSEND;
        if (fan[i].bytes > BUFFERED_AT_MOST && (fan[i].send == BSEND || fan[i].send == IBSEND)) fan[i].send = SEND;
    }
}

static void check_fan(const struct fan *fan, const struct step *s, bool *seen, unsigned char *buf, const MPI_Status *status) {
    int id = -1, count = -1;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    for (int i = 0; i < s->part && id < 0; i++) {
        if (!seen[i] && fan[i].bytes == count && buf[0] == pattern_byte(s->seed + (unsigned)i, 0) && pattern_differs(buf, (size_t)count, s->seed + (unsigned)i) < 0) id = i;
    }
    if (!CHECK(id >= 0)) return;
    seen[id] = true;
    CHECK_EQ(status->MPI_SOURCE, fan[id].from.rank);
    CHECK_EQ(status->MPI_TAG, fan[id].tag);
    // Those of one thread come in the order it sent them.
    for (int i = 0; i < id; i++) CHECK(seen[i] || !same_endpoint(fan[i].from, fan[id].from));
}

static void do_fan_in(struct worker *w, const struct step *s) {
    struct fan fan[FAN_AT_MOST];
    make_fan(s, fan);
    MPI_Comm comm = wild[s->to.thread];
    for (int i = 0; i < s->part; i++) {
        struct layout plain = {.shape = PLAIN, .base = 0, .n = fan[i].bytes, .block = 1};
        if (is_me(w, fan[i].from)) send_one(w, &plain, s->seed + (unsigned)i, fan[i].send, s->to.rank, fan[i].tag, comm);
    }
    if (!is_me(w, s->to)) return;
    struct dice d = dice_for(s->inner, 2, 2);
    size_t room = FAN_BYTES + 8;
    unsigned char *bufs = check_alloc(room * FAN_AT_MOST);
    int source = s->wildcard == ANY_TAG ? s->from.rank : MPI_ANY_SOURCE, tag = s->wildcard == ANY_SOURCE ? fan[0].tag : MPI_ANY_TAG;
    bool seen[FAN_AT_MOST] = {false};
    MPI_Request requests[FAN_AT_MOST];
    MPI_Status statuses[FAN_AT_MOST];
    bool all_posted = pick(&d, 2);
    for (int i = 0; i < s->part; i++) {
        unsigned char *buf = bufs + room * (size_t)i;
        MPI_Message message;
        if (all_posted) {
            CHECK_OK(MPI_Irecv(buf, (int)room, MPI_BYTE, source, tag, comm, &requests[i]));
            continue;
        }
        switch (pick(&d, 3)) {
        case 0: CHECK_OK(MPI_Recv(buf, (int)room, MPI_BYTE, source, tag, comm, &statuses[i])); break;
        case 1:
            CHECK_OK(MPI_Probe(source, tag, comm, &statuses[i]));
            CHECK_OK(MPI_Recv(buf, (int)room, MPI_BYTE, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, comm, &statuses[i]));
            break;
        default:
            CHECK_OK(MPI_Mprobe(source, tag, comm, &message, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Mrecv(buf, (int)room, MPI_BYTE, &message, &statuses[i]));
        }
    }
    if (all_posted) CHECK_OK(MPI_Waitall(s->part, requests, statuses));
    for (int i = 0; i < s->part; i++) check_fan(fan, s, seen, bufs + room * (size_t)i, &statuses[i]);
    free(bufs);
}

#endif
