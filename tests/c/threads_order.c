// Sends of different threads that the program orders arrive in that order; each thread's own always do.
// ranks: 2-8
// levels: multiple
#include "threads.h"

// Every pair of ranks runs the program, in a communicator of its own.
static MPI_Comm pair;
static int rank;

enum { THREADS = 4, ROUNDS = 200 };

static pthread_barrier_t turn;

// The threads send in turn, a barrier between two sends; the receiver sees the turns in order with every kind of receive.
static void in_turn(int t, void *shared) {
    int comm_size_class = *(int *)shared;
    int *buf = check_alloc(sizeof(int) * 20000);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % THREADS == t) {
            buf[0] = i;
            int n = comm_size_class ? (i % 3 == 0 ? 20000 : i % 3 == 1 ? 1 : 300) : 1;
            CHECK_OK(i % 5 == 4 ? MPI_Ssend(buf, n, MPI_INT, 1, 3, pair) : MPI_Send(buf, n, MPI_INT, 1, 3, pair));
        }
        pthread_barrier_wait(&turn);
    }
    free(buf);
}

static void receive_in_turn(int way) {
    int *buf = check_alloc(sizeof(int) * 20000);
    for (int i = 0; i < ROUNDS; i++) {
        int w = way == 3 ? i % 3 : way;
        CHECK_OK(MPI_Recv(buf, 20000, MPI_INT, w == 1 ? MPI_ANY_SOURCE : 0, w == 2 ? MPI_ANY_TAG : 3, pair, MPI_STATUS_IGNORE));
        if (!CHECK_EQ(buf[0], i)) break;
    }
    free(buf);
}

// Each with its own tag, received with wildcards: the numbers of one tag never go back.
static void own_tag(int t, void *shared) {
    (void)shared;
    for (int i = 0; i < ROUNDS; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, t, pair));
}

static void receive_any(void) {
    int next[THREADS] = {0};
    for (int i = 0; i < ROUNDS * THREADS; i++) {
        MPI_Status status;
        int in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &status));
        if (!CHECK_EQ(in, next[status.MPI_TAG])) break;
        next[status.MPI_TAG]++;
    }
}

// Receives posted in turn by different threads match in that order.
static int posted_in[ROUNDS];
static MPI_Request posted[ROUNDS];

static void post_in_turn(int t, void *shared) {
    (void)shared;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % THREADS == t) {
            int wild = i / THREADS % 3;
            CHECK_OK(MPI_Irecv(&posted_in[i], 1, MPI_INT, wild == 1 ? MPI_ANY_SOURCE : 0, wild == 2 ? MPI_ANY_TAG : 4, pair, &posted[i]));
        }
        pthread_barrier_wait(&turn);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    if (!check_pair(&pair, &rank)) return check_finish();
    pthread_barrier_init(&turn, NULL, THREADS);
    for (int way = 0; way < 4; way++) {
        for (int mixed = 0; mixed < 2; mixed++) {
            CHECK_OK(MPI_Barrier(pair));
            if (rank == 0) {
                threads_run(THREADS, in_turn, &mixed);
            } else {
                receive_in_turn(way);
            }
        }
    }
    CHECK_OK(MPI_Barrier(pair));
    if (rank == 0) {
        threads_run(THREADS, own_tag, NULL);
    } else {
        receive_any();
    }
    if (rank == 1) threads_run(THREADS, post_in_turn, NULL);
    CHECK_OK(MPI_Barrier(pair));
    if (rank == 0) {
        for (int i = 0; i < ROUNDS; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, 4, pair));
    } else {
        CHECK_OK(MPI_Waitall(ROUNDS, posted, MPI_STATUSES_IGNORE));
        for (int i = 0; i < ROUNDS; i++) CHECK_EQ(posted_in[i], i);
    }
    pthread_barrier_destroy(&turn);
    CHECK_OK(MPI_Comm_free(&pair));
    return check_finish();
}
