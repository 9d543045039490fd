// Operations that a thread has begun and not finished, and the calls that finish them.
#ifndef HEDDLE_TEST_BEGUN_H
#define HEDDLE_TEST_BEGUN_H

#include "program.h"

struct begun {
    unsigned char *buf;
    struct layout layout;
    unsigned seed;
    bool receives, persistent;
    int source, tag;
};

struct worker {
    int me; // thread
    struct dice dice;
    int n, room, buffered; // begun operations and room for them; bytes of buffered sends in this round
    MPI_Request *requests;
    struct begun *begun;
    unsigned char **kept; // buffers of sends whose requests were freed, until the end of the round
    int kept_n, kept_room;
};

static void check_message(const struct layout *l, unsigned char *buf, unsigned seed, const MPI_Status *status, int source, int tag) {
    int count = -1;
    CHECK(layout_holds(l, buf, seed));
    CHECK_EQ(status->MPI_SOURCE, source);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(status, bases[l->base].type, &count));
    CHECK_EQ(count, l->n);
}

static void finish(struct begun *b, MPI_Request *request, const MPI_Status *status) {
    if (b->receives) check_message(&b->layout, b->buf, b->seed, status, b->source, b->tag);
    if (b->persistent) CHECK_OK(MPI_Request_free(request));
    CHECK(*request == MPI_REQUEST_NULL);
    free(b->buf);
}

static void begin(struct worker *w, MPI_Request request, struct begun b) {
    if (w->n == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->requests = realloc(w->requests, sizeof *w->requests * (size_t)w->room);
        w->begun = realloc(w->begun, sizeof *w->begun * (size_t)w->room);
    }
    w->requests[w->n] = request;
    w->begun[w->n++] = b;
}

static void drop_finished(struct worker *w, int index, const MPI_Status *status) {
    finish(&w->begun[index], &w->requests[index], status);
    w->n--;
    w->requests[index] = w->requests[w->n];
    w->begun[index] = w->begun[w->n];
}

static int descending(const void *a, const void *b) {
    return *(const int *)b - *(const int *)a;
}

// Completes all operations that were begun, by one of several calls.
static void complete_all(struct worker *w) {
    int way = pick(&w->dice, 6);
    MPI_Status *statuses = check_alloc(sizeof(MPI_Status) * (size_t)(w->n + 1));
    int *indices = check_alloc(sizeof(int) * (size_t)(w->n + 1)), flag = 0, count = 0, index = 0;
    if (way < 2) {
        if (way == 0) CHECK_OK(MPI_Waitall(w->n, w->requests, statuses));
        while (way == 1 && !flag) CHECK_OK(MPI_Testall(w->n, w->requests, &flag, statuses));
        for (int i = 0; i < w->n; i++) finish(&w->begun[i], &w->requests[i], &statuses[i]);
        w->n = 0;
    }
    while (w->n > 0) {
        switch (way) {
        case 2:
            CHECK_OK(MPI_Waitany(w->n, w->requests, &index, statuses));
            drop_finished(w, index, statuses);
            break;
        case 3:
            CHECK_OK(MPI_Testany(w->n, w->requests, &index, &flag, statuses));
            if (flag) drop_finished(w, index, statuses);
            break;
        default: {
            if (way == 4) CHECK_OK(MPI_Waitsome(w->n, w->requests, &count, indices, statuses));
            if (way == 5) CHECK_OK(MPI_Testsome(w->n, w->requests, &count, indices, statuses));
            // From the last to the first, so that dropping one does not move the others; a status goes with its index.
            MPI_Status *of = check_alloc(sizeof(MPI_Status) * (size_t)w->n);
            for (int i = 0; i < count; i++) of[indices[i]] = statuses[i];
            qsort(indices, (size_t)count, sizeof(int), descending);
            for (int i = 0; i < count; i++) drop_finished(w, indices[i], &of[indices[i]]);
            free(of);
        }
        }
    }
    free(indices);
    free(statuses);
}

static void keep_until_round_end(struct worker *w, unsigned char *buf) {
    if (w->kept_n == w->kept_room) {
        w->kept_room = w->kept_room ? 2 * w->kept_room : 16;
        w->kept = realloc(w->kept, sizeof *w->kept * (size_t)w->kept_room);
    }
    w->kept[w->kept_n++] = buf;
}

static bool is_me(const struct worker *w, struct endpoint p) {
    return p.rank == check_rank && p.thread == w->me;
}

#endif
