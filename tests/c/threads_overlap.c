// Threads complete what other threads began: arrays of requests of several communicators and of other threads, waited for in
// different forms at the same time, while the main thread makes and frees communicators.
// ranks: 1 2
// levels: multiple
#include "threads.h"

enum { THREADS = 6, ROUNDS = 30, EACH = 16, LONG = 70000 };

struct slot {
    MPI_Request requests[2 * EACH];
    int *in[EACH], *out[EACH];
};

static struct slot slots[THREADS];
static MPI_Comm comms[3];
static pthread_barrier_t barrier;

static int length_of(int i) { return i % 5 == 4 ? LONG : i * 3 + 1; }

static void begin(int owner, int round) {
    struct slot *s = &slots[owner];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < EACH; i++) {
        MPI_Comm comm = comms[i % 3];
        int tag = (round * THREADS + owner) * EACH + i, n = length_of(i);
        for (int k = 0; k < n; k++) s->out[i][k] = tag + k + check_rank;
        memset(s->in[i], -1, sizeof(int) * (size_t)n);
        CHECK_OK(MPI_Irecv(s->in[i], n, MPI_INT, from, tag, comm, &s->requests[2 * i]));
        if (i % 4 == 3) CHECK_OK(MPI_Issend(s->out[i], n, MPI_INT, to, tag, comm, &s->requests[2 * i + 1]));
        else CHECK_OK(MPI_Isend(s->out[i], n, MPI_INT, to, tag, comm, &s->requests[2 * i + 1]));
    }
}

// Completes all of `s` in one of the forms.
static void end(struct slot *s, int form) {
    int flag = 0, index = 0, count = 0, indices[2 * EACH];
    switch (form % 6) {
    case 0: CHECK_OK(MPI_Waitall(2 * EACH, s->requests, MPI_STATUSES_IGNORE)); break;
    case 1:
        while (!flag) CHECK_OK(MPI_Testall(2 * EACH, s->requests, &flag, MPI_STATUSES_IGNORE));
        break;
    case 2:
        for (;;) {
            CHECK_OK(MPI_Waitany(2 * EACH, s->requests, &index, MPI_STATUS_IGNORE));
            if (index == MPI_UNDEFINED) break;
        }
        break;
    case 3:
        for (;;) {
            CHECK_OK(MPI_Waitsome(2 * EACH, s->requests, &count, indices, MPI_STATUSES_IGNORE));
            if (count == MPI_UNDEFINED) break;
        }
        break;
    case 4:
        for (int i = 2 * EACH - 1; i >= 0; i--) CHECK_OK(MPI_Wait(&s->requests[i], MPI_STATUS_IGNORE));
        break;
    default:
        for (int i = 0; i < 2 * EACH; i++) {
            flag = 0;
            while (!flag) CHECK_OK(MPI_Test(&s->requests[i], &flag, MPI_STATUS_IGNORE));
        }
    }
}

static void body(int index, void *shared) {
    (void)shared;
    int from = (check_rank + check_size - 1) % check_size;
    for (int round = 0; round < ROUNDS; round++) {
        begin(index, round);
        pthread_barrier_wait(&barrier);
        int owner = (index + 1 + round) % THREADS, wrong = 0;
        end(&slots[owner], index + round);
        for (int i = 0; i < EACH; i++) {
            int tag = (round * THREADS + owner) * EACH + i;
            for (int k = 0; k < length_of(i); k++) wrong += slots[owner].in[i][k] != tag + k + from;
        }
        CHECK_EQ(wrong, 0);
        pthread_barrier_wait(&barrier);
    }
}

static void *others(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm, half;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        CHECK_OK(MPI_Comm_split(comm, check_rank % 2, -check_rank, &half));
        CHECK_OK(MPI_Barrier(half));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Comm_free(&half));
    }
    return NULL;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    pthread_t creator;
    comms[0] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < EACH; i++) {
            slots[t].in[i] = check_alloc(sizeof(int) * LONG);
            slots[t].out[i] = check_alloc(sizeof(int) * LONG);
        }
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_create(&creator, NULL, others, NULL);
    threads_run(THREADS, body, NULL);
    pthread_join(creator, NULL);
    CHECK_OK(MPI_Comm_free(&comms[1]));
    CHECK_OK(MPI_Comm_free(&comms[2]));
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < EACH; i++) free(slots[t].in[i]), free(slots[t].out[i]);
    }
    return check_finish();
}
