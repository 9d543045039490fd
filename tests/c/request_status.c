// MPI_Request_get_status in its forms leaves the request in place; MPI_Request_free lets an active send finish by itself.
// ranks: 2-8
#include "check.h"

// Every pair of ranks runs the program, in a communicator of its own.
static MPI_Comm pair;
static int rank;

static void get_status(void) {
    MPI_Request request;
    MPI_Status status;
    int flag = -1, count = -1, value = rank + 5, in = -1, peer = 1 - rank;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, peer, 1, pair, &request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Barrier(pair));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, peer, 1, pair));
    do {
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    } while (!flag);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(status.MPI_SOURCE, peer);
        CHECK_EQ(status.MPI_TAG, 1);
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_EQ(count, 1);
        CHECK_EQ(in, peer + 5);
        memset(&status, 0, sizeof status);
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
        CHECK_EQ(flag, 1);
    }
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, peer);
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
}

static void get_status_of_several(void) {
    enum { N = 6 };
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int in[N], flag = 0, index = -1, count = -1, indices[N], peer = 1 - rank;
    for (int i = 0; i < N; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, peer, i, pair, &requests[i]));
    CHECK_OK(MPI_Barrier(pair));
    CHECK_OK(MPI_Request_get_status_all(N, requests, &flag, statuses));
    CHECK_EQ(flag, 0);
    int three = 3;
    CHECK_OK(MPI_Send(&three, 1, MPI_INT, peer, 3, pair));
    do {
        CHECK_OK(MPI_Request_get_status_any(N, requests, &index, &flag, statuses));
    } while (!flag);
    CHECK_EQ(index, 3);
    CHECK_EQ(statuses[0].MPI_TAG, 3);
    CHECK_OK(MPI_Request_get_status_some(N, requests, &count, indices, statuses));
    CHECK(count == 1 && indices[0] == 3);
    CHECK_OK(MPI_Barrier(pair)); // before it the peer sends no other
    for (int i = 0; i < N; i++) {
        if (i != 3) CHECK_OK(MPI_Send(&i, 1, MPI_INT, peer, i, pair));
    }
    do {
        CHECK_OK(MPI_Request_get_status_all(N, requests, &flag, statuses));
    } while (!flag);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(in[i], i);
        CHECK_EQ(statuses[i].MPI_TAG, i);
        CHECK(requests[i] != MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Waitall(N, requests, MPI_STATUSES_IGNORE));
}

// Freed sends of every size class arrive; a freed receive does too, as another message tells.
static void freed(int n) {
    unsigned char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    int peer = 1 - rank;
    MPI_Request request;
    pattern_fill(out, (size_t)n, (unsigned)rank);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(i == 1 ? MPI_Issend(out, n, MPI_BYTE, peer, 2, pair, &request)
                        : MPI_Isend(out, n, MPI_BYTE, peer, 2, pair, &request));
        CHECK_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 3; i++) {
        memset(in, 0, (size_t)n);
        CHECK_OK(MPI_Recv(in, n, MPI_BYTE, peer, 2, pair, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, (size_t)n, (unsigned)peer);
    }
    // A freed receive gets its message too: nothing but the data tells when.
    memset(in, 0, (size_t)n);
    MPI_Request send;
    CHECK_OK(MPI_Irecv(in, n, MPI_BYTE, peer, 3, pair, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Issend(out, n, MPI_BYTE, peer, 3, pair, &send));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    while (pattern_differs(in, (size_t)n, (unsigned)peer) >= 0) {
        int flag = 0;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, pair, &flag, MPI_STATUS_IGNORE)); // makes progress
    }
    CHECK_OK(MPI_Barrier(pair));
    CHECK_OK(MPI_Barrier(pair));
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    if (!check_pair(&pair, &rank)) return check_finish();
    get_status();
    get_status_of_several();
    static const int sizes[] = {0, 1, 100, 10000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) freed(sizes[s]);
    CHECK_OK(MPI_Comm_free(&pair));
    return check_finish();
}
