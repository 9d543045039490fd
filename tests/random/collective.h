// Steps of one thread of each rank together: collectives, and communicators that come and go.
#ifndef HEDDLE_TEST_COLLECTIVE_H
#define HEDDLE_TEST_COLLECTIVE_H

#include "begun.h"

// Calls an operation in the form that the step has drawn.
#define CALL(s, Blocking, nonblocking, ...)                                                                                    \
    do {                                                                                                                       \
        MPI_Request request;                                                                                                   \
        switch ((s)->inner >> 40 & 3) {                                                                                        \
        case 0:                                                                                                                \
            CHECK_OK(MPI_I##nonblocking(__VA_ARGS__, &request));                                                               \
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                   \
            break;                                                                                                             \
        case 1:                                                                                                                \
            CHECK_OK(MPI_##Blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request));                                             \
            CHECK_OK(MPI_Start(&request));                                                                                     \
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                   \
            CHECK_OK(MPI_Request_free(&request));                                                                              \
            break;                                                                                                             \
        default: CHECK_OK(MPI_##Blocking(__VA_ARGS__));                                                                        \
        }                                                                                                                      \
    } while (0)

static void collective_on(MPI_Comm comm, const struct step *s, int n) {
    int p = plan.ranks, me = check_rank, root = (int)(s->inner % (uint64_t)p), wrong = 0, base = (int)(s->seed % 1000);
    int *out = check_alloc(sizeof(int) * (size_t)(n * p)), *in = check_alloc(sizeof(int) * (size_t)(n * p));
    for (int i = 0; i < n * p; i++) out[i] = base + me * 7 + i, in[i] = -1;
    // Every form of each operation: blocking, nonblocking, persistent.
    switch (s->collective) {
    case BARRIER: CALL(s, Barrier, barrier, comm); break;
    case BCAST:
        CALL(s, Bcast, bcast, out, n, MPI_INT, root, comm);
        for (int i = 0; i < n; i++) wrong += out[i] != base + root * 7 + i;
        break;
    case ALLREDUCE:
        CALL(s, Allreduce, allreduce, out, in, n, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < n; i++) wrong += in[i] != p * (base + i) + 7 * (p * (p - 1) / 2);
        break;
    case ALLTOALL:
        CALL(s, Alltoall, alltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
        for (int i = 0; i < n * p; i++) wrong += in[i] != base + i / n * 7 + me * n + i % n;
        break;
    case ALLGATHER:
        CALL(s, Allgather, allgather, out, n, MPI_INT, in, n, MPI_INT, comm);
        for (int i = 0; i < n * p; i++) wrong += in[i] != base + i / n * 7 + i % n;
        break;
    case GATHER:
        CALL(s, Gather, gather, out, n, MPI_INT, in, n, MPI_INT, root, comm);
        for (int i = 0; i < n * p && me == root; i++) wrong += in[i] != base + i / n * 7 + i % n;
        break;
    default:
        CALL(s, Scan, scan, out, in, n, MPI_INT, MPI_MAX, comm);
        for (int i = 0; i < n; i++) wrong += in[i] != base + me * 7 + i;
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

static void do_collective(struct worker *w, const struct step *s) {
    if (s->part == w->me) collective_on(by_part[s->part], s, s->out.n % 20000);
}

static void do_duplicate(struct worker *w, const struct step *s) {
    if (s->part != w->me) return;
    MPI_Comm dup;
    CHECK_OK(MPI_Comm_dup(by_part[s->part], &dup));
    collective_on(dup, s, s->out.n % 200);
    int in = -1, to = (check_rank + 1) % plan.ranks, from = (check_rank + plan.ranks - 1) % plan.ranks;
    CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, dup, MPI_STATUS_IGNORE));
    CHECK_EQ(in, from);
    CHECK_OK(MPI_Comm_free(&dup));
}

#endif
