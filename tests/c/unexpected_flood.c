// Ten thousand unexpected messages, and ten thousand receives posted ahead, taken in several orders.
// ranks: 2-8
#include "check.h"

enum { COUNT = 10000 };

static void unexpected(int path) {
    if (check_rank != 0) {
        for (int i = 0; i < COUNT; i++) {
            int value[3] = {check_rank, i, i * 3};
            CHECK_OK(MPI_Send(value, i % 4, MPI_INT, 0, i % 100, MPI_COMM_WORLD));
        }
    }
    // All of them are there before the first is received.
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank != 0) return;
    for (int from = 1; from < check_size; from++) {
        for (int k = 0; k < COUNT; k++) {
            // In order, by tag from the last to the first, or whatever comes.
            int tag = path == 1 ? 99 - k / 100 : k % 100, i = path == 1 ? k % 100 * 100 + tag : k, value[3] = {0, 0, 0}, count = -1;
            MPI_Status status;
            CHECK_OK(MPI_Recv(value, 3, MPI_INT, path == 2 ? MPI_ANY_SOURCE : from, path == 2 ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            if (path == 2) continue;
            if (!CHECK_EQ(status.MPI_TAG, tag) || !CHECK_EQ(count, i % 4)) return;
            if (count > 0 && !CHECK_EQ(value[0], from)) return;
            if (count > 1 && !CHECK_EQ(value[1], i)) return;
        }
    }
}

static void posted(void) {
    if (check_rank == 0) {
        int n = COUNT * (check_size - 1);
        MPI_Request *requests = check_alloc(sizeof(MPI_Request) * (size_t)n);
        int *in = check_alloc(sizeof(int) * (size_t)n);
        for (int i = 0; i < n; i++) {
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 1 + i / COUNT, i % COUNT, MPI_COMM_WORLD, &requests[i]));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++) {
            if (!CHECK_EQ(in[i], i % COUNT * 7)) break;
        }
        free(requests);
        free(in);
    } else {
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = COUNT - 1; i >= 0; i--) {
            int value = i * 7;
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Many outstanding synchronous sends.
static void large_ones(void) {
    enum { MANY = 40, BYTES = 300000 };
    unsigned char *buf = check_alloc((size_t)MANY * BYTES);
    MPI_Request requests[MANY];
    if (check_rank == 1) {
        for (int i = 0; i < MANY; i++) {
            pattern_fill(buf + i * BYTES, BYTES, (unsigned)i);
            CHECK_OK(MPI_Isend(buf + i * BYTES, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
        }
        CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else if (check_rank == 0) {
        for (int i = 0; i < MANY; i++) {
            int which = i * 7 % MANY;
            CHECK_OK(MPI_Recv(buf + which * BYTES, BYTES, MPI_BYTE, 1, which, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(buf + which * BYTES, BYTES, (unsigned)which);
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(buf);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int path = 0; path < 3; path++) unexpected(path);
    posted();
    large_ones();
    return check_finish();
}
