// Messages with the same envelope arrive in the order sent, whatever their sizes, modes and wildcards.
// ranks: 2-8
#include "check.h"

enum { COUNT = 300, BIGGEST = 20000 };

static int size_of(int i) {
    static const int classes[] = {1, 3, 9, 50, 300, 5000, BIGGEST};
    return classes[(i * 7 + i / 5) % 7];
}

static void send_all(int to, bool blocking) {
    int *big = check_alloc(sizeof(int) * BIGGEST);
    int *own[COUNT];
    MPI_Request requests[COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++) {
        big[0] = i;
        if (blocking) {
            CHECK_OK(i % 3 == 1 ? MPI_Ssend(big, size_of(i), MPI_INT, to, 1, MPI_COMM_WORLD)
                                : MPI_Send(big, size_of(i), MPI_INT, to, 1, MPI_COMM_WORLD));
        } else {
            own[n] = check_alloc(sizeof(int) * (size_t)size_of(i));
            own[n][0] = i;
            CHECK_OK(i % 3 == 1 ? MPI_Issend(own[n], size_of(i), MPI_INT, to, 1, MPI_COMM_WORLD, &requests[n])
                                : MPI_Isend(own[n], size_of(i), MPI_INT, to, 1, MPI_COMM_WORLD, &requests[n]));
            n++;
        }
    }
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++) free(own[i]);
    free(big);
}

// How rank 0 receives: the exact envelope, one wildcard, both, a mix, receives posted first, probed first.
enum { EXACT, ANY_SOURCE, ANY_TAG, BOTH, MIXED, POSTED, PROBED, WAYS };

static void receive_all(int way, int from) {
    int *in = check_alloc(sizeof(int) * BIGGEST);
    for (int i = 0; i < COUNT; i++) {
        MPI_Status status;
        int count = -1, w = way == MIXED ? i % 4 : way;
        int source = w == ANY_SOURCE || w == BOTH ? MPI_ANY_SOURCE : from, tag = w == ANY_TAG || w == BOTH ? MPI_ANY_TAG : 1;
        if (way == PROBED) {
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_EQ(count, size_of(i));
        }
        CHECK_OK(MPI_Recv(in, BIGGEST, MPI_INT, source, tag, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        if (!CHECK_EQ(in[0], i) || !CHECK_EQ(count, size_of(i))) break;
    }
    free(in);
}

// Receives posted before the messages come match them in the order posted, wildcards among them.
static void receive_posted(int from) {
    int *bufs[COUNT];
    MPI_Request requests[COUNT];
    for (int i = 0; i < COUNT; i++) {
        bufs[i] = check_alloc(sizeof(int) * (size_t)size_of(i));
        int source = i % 4 == 1 || i % 4 == 3 ? MPI_ANY_SOURCE : from, tag = i % 4 >= 2 ? MPI_ANY_TAG : 1;
        CHECK_OK(MPI_Irecv(bufs[i], size_of(i), MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]));
    }
    int go = 1;
    CHECK_OK(MPI_Send(&go, 1, MPI_INT, from, 2, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(bufs[i][0], i);
        free(bufs[i]);
    }
}

// Different tags may be taken in any order.
static void tags_backwards(void) {
    enum { TAGS = 200 };
    int value = 0;
    if (check_rank == 1) {
        for (int t = 0; t < TAGS; t++) CHECK_OK(MPI_Send(&t, 1, MPI_INT, 0, 10 + t, MPI_COMM_WORLD));
    } else if (check_rank == 0) {
        for (int t = TAGS - 1; t >= 0; t--) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 1, 10 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(value, t);
        }
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int blocking = 0; blocking < 2; blocking++) {
        for (int way = 0; way < WAYS; way++) {
            for (int from = 1; from < check_size; from++) {
                CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
                if (check_rank == from) {
                    int go = 0;
                    if (way == POSTED) CHECK_OK(MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                    send_all(0, blocking);
                } else if (check_rank == 0) {
                    if (way == POSTED) {
                        receive_posted(from);
                    } else {
                        receive_all(way, from);
                    }
                }
            }
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    tags_backwards();
    return check_finish();
}
