// Nonblocking and persistent collectives of several threads at once, each on a communicator of its own; then one thread
// with operations on all communicators.
// levels: multiple
#include "threads.h"

enum { THREADS = 5, ROUNDS = 40, DEPTH = 3 };

static MPI_Comm comm[THREADS];

static void collectives(int t, void *shared) {
    (void)shared;
    MPI_Comm on = comm[t];
    int n = t % 2 ? 5000 : 10, wrong = 0;
    int *out[DEPTH], *in[DEPTH], value = 0, sum = 0;
    MPI_Request requests[DEPTH], again;
    for (int d = 0; d < DEPTH; d++) {
        out[d] = check_alloc(sizeof(int) * (size_t)n);
        in[d] = check_alloc(sizeof(int) * (size_t)n);
    }
    CHECK_OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, on, MPI_INFO_NULL, &again));
    for (int round = 0; round < ROUNDS; round++) {
        int salt = t * 100000 + round * 10;
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < n; i++) {
                out[d][i] = check_rank + salt + i + d;
                in[d][i] = d == 1 && check_rank == round % check_size ? salt + i : -1;
            }
        }
        CHECK_OK(MPI_Iallreduce(out[0], in[0], n, MPI_INT, MPI_SUM, on, &requests[0]));
        CHECK_OK(MPI_Ibcast(in[1], n, MPI_INT, round % check_size, on, &requests[1]));
        value = check_rank + round;
        CHECK_OK(MPI_Start(&again));
        CHECK_OK(MPI_Iscan(out[2], in[2], n, MPI_INT, MPI_MAX, on, &requests[2]));
        if (round % 2) CHECK_OK(MPI_Barrier(on));
        CHECK_OK(MPI_Waitall(DEPTH, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++) {
            wrong += in[0][i] != check_size * (salt + i) + check_size * (check_size - 1) / 2;
            wrong += in[1][i] != salt + i;
            wrong += in[2][i] != check_rank + salt + i + 2;
        }
        wrong += sum != check_size * round + check_size * (check_size - 1) / 2;
        if (!CHECK_EQ(wrong, 0)) break;
    }
    CHECK_OK(MPI_Request_free(&again));
    for (int d = 0; d < DEPTH; d++) {
        free(out[d]);
        free(in[d]);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]));
    threads_run(THREADS, collectives, NULL);
    MPI_Request requests[THREADS];
    int out[THREADS], in[THREADS];
    for (int t = 0; t < THREADS; t++) {
        out[t] = check_rank + t;
        CHECK_OK(MPI_Iallreduce(&out[t], &in[t], 1, MPI_INT, MPI_SUM, comm[t], &requests[t]));
    }
    for (int done = 0; done < THREADS; done++) {
        int index = -1;
        CHECK_OK(MPI_Waitany(THREADS, requests, &index, MPI_STATUS_IGNORE));
        if (CHECK(index >= 0 && index < THREADS))
            CHECK_EQ(in[index], check_size * index + check_size * (check_size - 1) / 2);
    }
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_free(&comm[t]));
    return check_finish();
}
