// Ranks that let others wait in collective operations, for far longer than it takes until the waiting ones compare what they
// have begun: a program that keeps the rules has no error. A rank that joins late, one that is many operations ahead,
// nonblocking and persistent operations, several communicators by several threads, and communicators made again and again.
// ranks: 2 3 4
// levels: multiple
// heddle: only
#include "check.h"
#include <pthread.h>
#include <unistd.h>

// The ranks ask each other for the first time after 100 ms.
enum { COMPUTES_US = 450 * 1000, THREADS = 3, MANY = 400, COUNT = 3000 };

static void compute(void) { usleep(COMPUTES_US); }

// All operations on one communicator; the rank `late` computes before each third one.
static void all_operations(MPI_Comm comm, int late) {
    int rank, size, step = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *out = calloc((size_t)COUNT * size, sizeof *out), *in = calloc((size_t)COUNT * size, sizeof *in);
    int *counts = calloc(size, sizeof *counts), *starts = calloc(size, sizeof *starts);
    MPI_Request requests[4];
    // Sparse blocks: only neighbours give something.
    for (int i = 0; i < size; i++) counts[i] = i == (rank + 1) % size ? 7 : 0, starts[i] = i * 7;
#define LATE if (step++ % 3 == late % 3 && rank == late) compute()
    LATE; CHECK_OK(MPI_Bcast(out, COUNT, MPI_INT, 0, comm));
    LATE; CHECK_OK(MPI_Gather(out, 5, MPI_INT, in, 5, MPI_INT, size - 1, comm));
    LATE; CHECK_OK(MPI_Scatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, comm));
    LATE; CHECK_OK(MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, comm));
    LATE; CHECK_OK(MPI_Reduce(out, in, 9, MPI_INT, MPI_SUM, 0, comm));
    LATE; CHECK_OK(MPI_Scan(out, in, 9, MPI_INT, MPI_SUM, comm));
    int *back = calloc(size, sizeof *back);
    for (int i = 0; i < size; i++) back[i] = i == (rank + size - 1) % size ? 7 : 0;
    LATE; CHECK_OK(MPI_Alltoallv(out, counts, starts, MPI_INT, in, back, starts, MPI_INT, comm));
    LATE; CHECK_OK(MPI_Allgather(out, 11, MPI_INT, in, 11, MPI_INT, comm));
    // Several are under way at once, and one is late for all of them.
    if (rank == late) compute();
    CHECK_OK(MPI_Ibcast(out, COUNT, MPI_INT, size - 1, comm, &requests[0]));
    CHECK_OK(MPI_Iallreduce(out, in, 5, MPI_INT, MPI_SUM, comm, &requests[1]));
    CHECK_OK(MPI_Ialltoallv(out, counts, starts, MPI_INT, in + COUNT / 2, back, starts, MPI_INT, comm, &requests[2]));
    CHECK_OK(MPI_Ibarrier(comm, &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    // A blocking one while a nonblocking one waits.
    CHECK_OK(MPI_Ibarrier(comm, &requests[0]));
    if (rank == late) compute();
    CHECK_OK(MPI_Bcast(out, 3, MPI_INT, late, comm));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    // Persistent ones, started in an order that the ranks do not share.
    CHECK_OK(MPI_Allgather_init(out, 4, MPI_INT, in, 4, MPI_INT, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Bcast_init(out, COUNT, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]));
    for (int i = 0; i < 2; i++) {
        if (rank == late) compute();
        CHECK_OK(MPI_Start(&requests[rank % 2]));
        CHECK_OK(MPI_Start(&requests[1 - rank % 2]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out), free(in), free(counts), free(starts), free(back);
}

// The root of small broadcasts is far ahead of the last rank, and so may be the others.
static void far_ahead(MPI_Comm comm) {
    int number = 0;
    if (check_rank == check_size - 1) compute();
    for (int i = 0; i < MANY; i++) {
        if (check_rank == 0) number = i;
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
        CHECK_EQ(number, i);
    }
    CHECK_OK(MPI_Barrier(comm));
}

// Each new communicator gets the context of one that was freed, while some ranks are late.
static void again_and_again(void) {
    MPI_Comm comm, part;
    for (int i = 0; i < 6; i++) {
        int number = i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_split(comm, check_rank == i % check_size ? MPI_UNDEFINED : 0, 0, &part));
        if (check_rank == (i + 1) % check_size) usleep(COMPUTES_US / 3);
        if (part != MPI_COMM_NULL) {
            for (int j = 0; j <= i; j++) CHECK_OK(MPI_Bcast(&number, i % 2, MPI_INT, 0, part));
            CHECK_OK(MPI_Comm_free(&part));
        }
        for (int j = 0; j <= i; j++) CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

struct thread {
    pthread_t id;
    MPI_Comm comm;
    int number;
};

static void *run(void *argument) {
    struct thread *thread = argument;
    all_operations(thread->comm, (thread->number + 1) % check_size);
    return NULL;
}

int main(int argc, char **argv) {
    struct thread threads[THREADS];
    check_start(argc, argv);
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i].id, NULL, run, &threads[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i].id, NULL);
    far_ahead(threads[0].comm);
    again_and_again();
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&threads[i].comm));
    return check_finish();
}
