// One message in all forms of sending and receiving.
#ifndef HEDDLE_TEST_MESSAGE_H
#define HEDDLE_TEST_MESSAGE_H

#include "begun.h"

static void send_one(struct worker *w, const struct layout *l, unsigned seed, enum send_form form, int to, int tag, MPI_Comm comm) {
    unsigned char *buf = layout_filled(l, seed);
    struct mapped m = layout_map(l);
    struct begun b = {.buf = buf};
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == BSEND || form == IBSEND) {
        w->buffered += (int)bases[l->base].size * l->n + MPI_BSEND_OVERHEAD + 64;
        if (w->buffered > ROOM) form = ISEND; // the buffer may be full until the round ends
    }
    switch (form) {
    case SEND: CHECK_OK(MPI_Send(buf, m.count, m.type, to, tag, comm)); break;
    case SSEND: CHECK_OK(MPI_Ssend(buf, m.count, m.type, to, tag, comm)); break;
    case BSEND: CHECK_OK(MPI_Bsend(buf, m.count, m.type, to, tag, comm)); break;
    case ISSEND: CHECK_OK(MPI_Issend(buf, m.count, m.type, to, tag, comm, &request)); break;
    case IBSEND: CHECK_OK(MPI_Ibsend(buf, m.count, m.type, to, tag, comm, &request)); break;
    case SEND_INIT: CHECK_OK(MPI_Send_init(buf, m.count, m.type, to, tag, comm, &request)); break;
    case SSEND_INIT: CHECK_OK(MPI_Ssend_init(buf, m.count, m.type, to, tag, comm, &request)); break;
    default: CHECK_OK(MPI_Isend(buf, m.count, m.type, to, tag, comm, &request)); break;
    }
    if (form == SEND_INIT || form == SSEND_INIT) {
        b.persistent = true;
        CHECK_OK(MPI_Start(&request));
    }
    layout_unmap(&m); // the operation keeps the type alive
    if (form == SEND || form == SSEND || form == BSEND) {
        free(buf);
    } else if (form == ISEND_FREED) {
        CHECK_OK(MPI_Request_free(&request));
        keep_until_round_end(w, buf);
    } else {
        begin(w, request, b);
    }
}

static void receive_one(struct worker *w, const struct layout *l, unsigned seed, enum receive_form form, int from, int tag, MPI_Comm comm) {
    unsigned char *buf = layout_blank(l);
    struct mapped m = layout_map(l);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    struct begun b = {.buf = buf, .layout = *l, .seed = seed, .receives = true, .source = from, .tag = tag};
    switch (form) {
    case RECV: CHECK_OK(MPI_Recv(buf, m.count, m.type, from, tag, comm, &status)); break;
    case IRECV:
        CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    case IRECV_TEST:
        CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        while (!flag) CHECK_OK(MPI_Test(&request, &flag, &status));
        break;
    case PROBE:
    case IPROBE: {
        int count = -1;
        if (form == PROBE) CHECK_OK(MPI_Probe(from, tag, comm, &status));
        while (form == IPROBE && !flag) CHECK_OK(MPI_Iprobe(from, tag, comm, &flag, &status));
        CHECK_EQ(status.MPI_SOURCE, from);
        CHECK_EQ(status.MPI_TAG, tag);
        CHECK_OK(MPI_Get_count(&status, bases[l->base].type, &count));
        CHECK_EQ(count, l->n);
        CHECK_OK(MPI_Recv(buf, m.count, m.type, from, tag, comm, &status));
        break;
    }
    case MPROBE:
        CHECK_OK(MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(buf, m.count, m.type, &message, &status));
        break;
    case IMPROBE:
        while (!flag) CHECK_OK(MPI_Improbe(from, tag, comm, &flag, &message, &status));
        CHECK_OK(MPI_Imrecv(buf, m.count, m.type, &message, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    default: // finished later
        if (form == RECV_INIT) {
            b.persistent = true;
            CHECK_OK(MPI_Recv_init(buf, m.count, m.type, from, tag, comm, &request));
            CHECK_OK(MPI_Start(&request));
        } else {
            CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        }
        layout_unmap(&m);
        begin(w, request, b);
        return;
    }
    layout_unmap(&m);
    check_message(l, buf, seed, &status, from, tag);
    free(buf);
}

#endif
