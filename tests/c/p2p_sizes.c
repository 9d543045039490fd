// Blocking and nonblocking messages of every size class in every mode, with statuses.
#include "check.h"

static const int sizes[] = {0,    1,    7,    8,     39,    40,    41,    63,    64,     65,     255,     256,    1000,
                            4095, 4096, 8192, 16383, 16384, 16385, 32768, 65536, 100001, 262144, 1048576, 4194304};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 4194304 };

static unsigned char *out, *in;

static void check_status_is(const MPI_Status *status, int source, int tag, int bytes) {
    int count = -1;
    CHECK_EQ(status->MPI_SOURCE, source);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
}

typedef int (*send_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

// Even ranks send first, odd ranks answer.
static void blocking(send_function send, int n, int tag, unsigned seed) {
    int peer = check_rank ^ 1;
    if (peer >= check_size) return;
    MPI_Status status;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == check_rank % 2) {
            pattern_fill(out, (size_t)n, seed + (unsigned)check_rank);
            CHECK_OK(send(out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD));
        } else {
            memset(in, 0, (size_t)n + 1);
            in[n] = 0x5a;
            CHECK_OK(MPI_Recv(in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status));
            CHECK_PATTERN(in, (size_t)n, seed + (unsigned)peer);
            CHECK_EQ(in[n], 0x5a);
            check_status_is(&status, peer, tag, n);
        }
    }
}

// Both directions at once; the receive is posted before or after the send.
static void nonblocking(isend_function isend, bool receive_first, int n, int tag, unsigned seed) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    pattern_fill(out, (size_t)n, seed + (unsigned)check_rank);
    memset(in, 0, (size_t)n);
    if (receive_first) {
        CHECK_OK(MPI_Irecv(in, LARGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); // so that a ready send is one
    }
    CHECK_OK(isend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[1]));
    if (!receive_first) CHECK_OK(MPI_Irecv(in, LARGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK_PATTERN(in, (size_t)n, seed + (unsigned)from);
    check_status_is(&statuses[0], from, tag, n);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    out = check_alloc(LARGEST + 1);
    in = check_alloc(LARGEST + 1);
    int room = LARGEST + 4 * MPI_BSEND_OVERHEAD, got = 0;
    void *attached = check_alloc((size_t)room), *detached = NULL;
    CHECK_OK(MPI_Buffer_attach(attached, room));
    for (int s = 0; s < SIZES; s++) {
        unsigned seed = (unsigned)s * 100;
        blocking(MPI_Send, sizes[s], s, seed);
        blocking(MPI_Ssend, sizes[s], s, seed + 10);
        nonblocking(MPI_Isend, false, sizes[s], s, seed + 20);
        nonblocking(MPI_Isend, true, sizes[s], s, seed + 30);
        nonblocking(MPI_Issend, false, sizes[s], s, seed + 40);
        nonblocking(MPI_Issend, true, sizes[s], s, seed + 50);
        nonblocking(MPI_Irsend, true, sizes[s], s, seed + 60);
        blocking(MPI_Bsend, sizes[s], s, seed + 70);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        nonblocking(MPI_Ibsend, false, sizes[s], s, seed + 80);
    }
    CHECK_OK(MPI_Buffer_detach(&detached, &got));
    CHECK(detached == attached);
    CHECK_EQ(got, room);
    free(attached);
    free(out);
    free(in);
    return check_finish();
}
