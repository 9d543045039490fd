// levels: multiple
// Partitioned messages by many threads: each hands over its own partitions, while others look for those that arrive.
#include "threads.h"

enum { THREADS = 6, PARTITIONS = 48, ROUNDS = 12 };

struct job {
    int count, round;
    unsigned char *out, *in;
    MPI_Request send, receive;
    MPI_Comm comm;
};

static unsigned seed(int rank, int round, int partition) { return (unsigned)(rank * 1000 + round * 100 + partition); }

static int left(void) { return (check_rank + check_size - 1) % check_size; }

static void work(int index, void *shared) {
    struct job *job = shared;
    size_t len = (size_t)job->count;
    // Odd threads look for partitions first, even ones compute and hand over.
    if (index % 2 == 0) {
        for (int p = index / 2; p < PARTITIONS; p += THREADS / 2) {
            pattern_fill(job->out + (size_t)p * len, len, seed(check_rank, job->round, p));
            CHECK_OK(MPI_Pready(p, job->send));
        }
        return;
    }
    for (int p = index / 2; p < PARTITIONS; p += THREADS / 2) {
        int flag = 0;
        while (!flag) CHECK_OK(MPI_Parrived(job->receive, p, &flag));
        CHECK_PATTERN(job->in + (size_t)p * len, len, seed(left(), job->round, p));
    }
}

static void rounds(int count) {
    struct job job = {.count = count};
    job.out = check_alloc((size_t)count * PARTITIONS);
    job.in = check_alloc((size_t)count * PARTITIONS);
    CHECK_OK(MPI_Psend_init(job.out, PARTITIONS, count, MPI_CHAR, (check_rank + 1) % check_size, 0, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &job.send));
    CHECK_OK(MPI_Precv_init(job.in, PARTITIONS, count, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_INFO_NULL, &job.receive));
    for (job.round = 0; job.round < ROUNDS; job.round++) {
        MPI_Request both[2] = {job.send, job.receive};
        CHECK_OK(MPI_Startall(2, both));
        threads_run(THREADS, work, &job);
        CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&job.send));
    CHECK_OK(MPI_Request_free(&job.receive));
    free(job.out);
    free(job.in);
}

// Each thread has operations of its own, waits in MPI for the receive, and is woken by another process's thread.
static void own(int index, void *shared) {
    struct job *job = shared;
    int out[4] = {0}, in[4];
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, 4, 1, MPI_INT, (check_rank + 1) % check_size, index, job->comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, left(), index, job->comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 4 * ROUNDS; round++) {
        CHECK_OK(MPI_Startall(2, requests));
        for (int p = 0; p < 4; p++) {
            out[p] = check_rank * 1000 + index * 100 + round + p;
            CHECK_OK(MPI_Pready(p, requests[0]));
        }
        CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        for (int p = 0; p < 4; p++) CHECK_EQ(in[p], left() * 1000 + index * 100 + round + p);
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    rounds(8);
    rounds(1000);
    rounds(20000);
    struct job job = {.count = 0};
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &job.comm));
    threads_run(THREADS, own, &job);
    CHECK_OK(MPI_Comm_free(&job.comm));
    return check_finish();
}
