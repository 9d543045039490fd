// A step between two threads: a message in partitions, which the two sides divide differently.
#ifndef HEDDLE_TEST_PARTITIONED_H
#define HEDDLE_TEST_PARTITIONED_H

#include "message.h"

enum { PARTITIONS_AT_MOST = 20, PARTITIONED_BYTES = 400000 };

// What both sides draw alike.
struct divided {
    int sends, receives, rounds;
    size_t send_bytes, receive_bytes; // of a partition
};

static struct divided divide(const struct step *s) {
    struct dice d = dice_for(s->inner, 3, 3);
    int sends = 1 + pick(&d, PARTITIONS_AT_MOST), receives = 1 + pick(&d, PARTITIONS_AT_MOST);
    size_t unit = (size_t)(some_bytes(&d) % PARTITIONED_BYTES / (sends * receives));
    return (struct divided){sends, receives, 1 + pick(&d, 3), unit * (size_t)receives, unit * (size_t)sends};
}

// Hands over all partitions, in any order.
static void hand_over(struct worker *w, const struct divided *by, MPI_Request request) {
    int order[PARTITIONS_AT_MOST];
    for (int i = 0; i < by->sends; i++) {
        int j = pick(&w->dice, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    int alone = pick(&w->dice, by->sends + 1);
    for (int i = 0; i < alone; i++) CHECK_OK(MPI_Pready(order[i], request));
    CHECK_OK(MPI_Pready_list(by->sends - alone, order + alone, request));
}

static void finish_partitions(struct worker *w, MPI_Request *request) {
    int flag = 0;
    if (pick(&w->dice, 2)) {
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    } else {
        while (!flag) CHECK_OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    }
}

static void do_partitioned(struct worker *w, const struct step *s) {
    bool sends = is_me(w, s->from), receives = is_me(w, s->to);
    if (!sends && !receives) return;
    struct divided by = divide(s);
    size_t bytes = (size_t)by.sends * by.send_bytes;
    MPI_Comm comm = comms[s->comm];
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    unsigned char *out = check_alloc(bytes), *in = check_alloc(bytes);
    int from = rank_in(s->comm, s->from.rank), to = rank_in(s->comm, s->to.rank);
    if (receives)
        CHECK_OK(MPI_Precv_init(in, by.receives, (MPI_Count)by.receive_bytes, MPI_BYTE, from, s->tag, comm, MPI_INFO_NULL, &receive));
    if (sends)
        CHECK_OK(MPI_Psend_init(out, by.sends, (MPI_Count)by.send_bytes, MPI_BYTE, to, s->tag, comm, MPI_INFO_NULL, &send));
    for (int round = 0; round < by.rounds; round++) {
        unsigned seed = s->seed + (unsigned)round;
        if (receives) CHECK_OK(MPI_Start(&receive));
        if (sends) {
            pattern_fill(out, bytes, seed);
            CHECK_OK(MPI_Start(&send));
            hand_over(w, &by, send);
        }
        if (receives) {
            int wanted = pick(&w->dice, by.receives), flag = 0;
            size_t first = (size_t)wanted * by.receive_bytes, wrong = 0;
            while (!flag) CHECK_OK(MPI_Parrived(receive, wanted, &flag));
            for (size_t i = first; i < first + by.receive_bytes; i++) wrong += in[i] != pattern_byte(seed, i);
            CHECK_EQ(wrong, 0);
            finish_partitions(w, &receive);
            CHECK_PATTERN(in, bytes, seed);
            memset(in, 0x5a, bytes);
        }
        if (sends) finish_partitions(w, &send);
    }
    if (receives) CHECK_OK(MPI_Request_free(&receive));
    if (sends) CHECK_OK(MPI_Request_free(&send));
    free(out);
    free(in);
}

#endif
