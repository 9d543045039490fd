// Many threads on one communicator with a tag each, on communicators of their own, and with wildcards.
// levels: multiple
#include "threads.h"

enum { THREADS = 6, ROUNDS = 60 };

static MPI_Comm own[THREADS];
static int to, from;

static const int sizes[] = {0, 1, 10, 100, 5000, 40000};
enum { SIZES = sizeof sizes / sizeof *sizes };

// A ring of equal threads: thread t of a rank sends to thread t of the next.
static void ring(int t, MPI_Comm comm, int tag) {
    int *out = check_alloc(sizeof(int) * 40000), *in = check_alloc(sizeof(int) * 40000);
    for (int round = 0; round < ROUNDS; round++) {
        int n = sizes[(round + t) % SIZES], count = -1;
        size_t bytes = sizeof(int) * (size_t)n;
        unsigned seed = (unsigned)(round * 64 + t * 8);
        MPI_Request requests[2];
        MPI_Status status;
        pattern_fill(out, bytes, seed + (unsigned)check_rank);
        switch (round % 4) {
        case 0:
            CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, tag, in, n, MPI_INT, from, tag, comm, &status));
            break;
        case 1:
            CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, tag, comm, &requests[0]));
            CHECK_OK(MPI_Issend(out, n, MPI_INT, to, tag, comm, &requests[1]));
            CHECK_OK(MPI_Wait(&requests[0], &status));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            break;
        case 2: {
            int done = 0;
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to, tag, comm, &requests[1]));
            CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, tag, comm, &requests[0]));
            while (!done) CHECK_OK(MPI_Test(&requests[0], &done, &status));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            break;
        }
        default: {
            MPI_Message message;
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to, tag, comm, &requests[1]));
            CHECK_OK(MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Mrecv(in, n, MPI_INT, &message, &status));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            break;
        }
        }
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_EQ(count, n);
        CHECK_EQ(status.MPI_SOURCE, from);
        CHECK_EQ(status.MPI_TAG, tag);
        CHECK_PATTERN(in, bytes, seed + (unsigned)from);
    }
    free(out);
    free(in);
}

static void tag_each(int t, void *shared) {
    (void)shared;
    ring(t, MPI_COMM_WORLD, 100 + t);
}

static void comm_each(int t, void *shared) {
    (void)shared;
    ring(t, own[t], 7);
}

// Half the threads send, the other half receive whatever comes; all totals are right in the end.
struct totals {
    _Atomic long long count, sum;
};

enum { EACH = 300 };

static void anything(int t, void *shared) {
    struct totals *totals = shared;
    if (t < THREADS / 2) {
        for (int i = 0; i < EACH; i++) {
            long long value = (long long)check_rank * 1000000 + t * 10000 + i;
            CHECK_OK(MPI_Send(&value, 1, MPI_LONG_LONG, (check_rank + i) % check_size, 1 + (i % 5), MPI_COMM_WORLD));
        }
    } else {
        for (int i = 0; i < EACH; i++) {
            long long value = -1;
            MPI_Status status;
            CHECK_OK(MPI_Recv(&value, 1, MPI_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_EQ(value / 1000000, status.MPI_SOURCE);
            CHECK_EQ(status.MPI_TAG, 1 + value % 10000 % 5);
            totals->count++;
            totals->sum += value;
        }
    }
}

static void check_totals(const struct totals *totals) {
    // Every rank receives and sends the same number of messages; the sums agree over the world.
    long long want = 0, mine[2] = {totals->count, totals->sum}, all[2];
    CHECK_EQ(totals->count, (long long)EACH * (THREADS / 2));
    for (int r = 0; r < check_size; r++) {
        for (int t = 0; t < THREADS / 2; t++) {
            for (int i = 0; i < EACH; i++) want += (long long)r * 1000000 + t * 10000 + i;
        }
    }
    CHECK_OK(MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all[1], want);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[t]));
    threads_run(THREADS, tag_each, NULL);
    threads_run(THREADS, comm_each, NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // The number sent to each rank is the same when EACH is a multiple of the number of ranks.
    struct totals totals = {0, 0};
    if (EACH % check_size == 0) {
        threads_run(THREADS, anything, &totals);
        check_totals(&totals);
    }
    for (int t = 0; t < THREADS; t++) CHECK_OK(MPI_Comm_free(&own[t]));
    return check_finish();
}
