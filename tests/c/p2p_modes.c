// The promise of each send mode: a synchronous send waits for its match, a buffered one for nothing, a ready one finds
// its receive.
// ranks: 2-8
#include "check.h"

// Every pair of ranks runs the program, in a communicator of its own.
static MPI_Comm pair;
static int rank;

enum { GO = 100, DONE = 101 };

static void signal_peer(int tag) {
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1 - rank, tag, pair));
}

static void wait_peer(int tag) {
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1 - rank, tag, pair, MPI_STATUS_IGNORE));
}

// An Issend is not complete while no receive has been posted, and is once it has matched.
static void synchronous(int n) {
    unsigned char *buf = check_alloc((size_t)n);
    MPI_Request request;
    int done = 0;
    if (rank == 0) {
        pattern_fill(buf, (size_t)n, 3);
        CHECK_OK(MPI_Issend(buf, n, MPI_BYTE, 1, 1, pair, &request));
        for (int i = 0; i < 2000; i++) {
            CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            if (!CHECK_EQ(done, 0)) break;
        }
        // The peer sees the message by probing; a probe is not a match.
        signal_peer(GO);
        wait_peer(DONE);
        if (!done) CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        CHECK_EQ(done, 0);
        signal_peer(GO);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI_Status status;
        int count = -1;
        wait_peer(GO);
        CHECK_OK(MPI_Probe(0, 1, pair, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_EQ(count, n);
        signal_peer(DONE);
        wait_peer(GO);
        CHECK_OK(MPI_Recv(buf, n, MPI_BYTE, 0, 1, pair, MPI_STATUS_IGNORE));
        CHECK_PATTERN(buf, (size_t)n, 3);
    }
    free(buf);
}

// Buffered sends complete at once before any receive; detach waits for them.
static void buffered(void) {
    enum { MESSAGES = 20, BYTES = 70000 };
    int pack = 0, size = 0;
    CHECK_OK(MPI_Pack_size(BYTES, MPI_BYTE, pair, &pack));
    size = MESSAGES * (pack + MPI_BSEND_OVERHEAD);
    unsigned char *data = check_alloc(BYTES);
    if (rank == 0) {
        void *room = check_alloc((size_t)size), *back = NULL;
        int back_size = 0;
        CHECK_OK(MPI_Buffer_attach(room, size));
        for (int i = 0; i < MESSAGES; i++) {
            pattern_fill(data, BYTES, (unsigned)i);
            if (i % 2) {
                CHECK_OK(MPI_Bsend(data, BYTES - i, MPI_BYTE, 1, 5, pair));
            } else {
                MPI_Request request;
                CHECK_OK(MPI_Ibsend(data, BYTES - i, MPI_BYTE, 1, 5, pair, &request));
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
        }
        memset(data, 0, BYTES);
        signal_peer(GO);
        CHECK_OK(MPI_Buffer_detach(&back, &back_size));
        CHECK(back == room);
        CHECK_EQ(back_size, size);
        free(room);
    } else {
        wait_peer(GO);
        for (int i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, 5, pair, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, (size_t)(BYTES - i), (unsigned)i);
        }
    }
    free(data);
}

// The buffer's room is used again when its messages have left; without room there is an error, not a wait.
static void buffer_room(void) {
    enum { BYTES = 1000 };
    unsigned char data[BYTES];
    if (rank == 0) {
        int size = 2 * (BYTES + MPI_BSEND_OVERHEAD), back_size = 0;
        void *room = check_alloc((size_t)size), *back = NULL;
        CHECK_OK(MPI_Buffer_attach(room, size));
        for (int i = 0; i < 50; i++) {
            pattern_fill(data, BYTES, (unsigned)i);
            CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, 1, 6, pair));
            wait_peer(DONE);
        }
        MPI_Comm quiet;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
        CHECK_OK(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
        unsigned char *large = check_alloc((size_t)size * 2);
        CHECK_CLASS(MPI_Bsend(large, size * 2, MPI_BYTE, 0, 6, quiet), MPI_ERR_BUFFER);
        free(large);
        CHECK_OK(MPI_Comm_free(&quiet));
        CHECK_OK(MPI_Buffer_detach(&back, &back_size));
        free(room);
    } else {
        for (int i = 0; i < 50; i++) {
            CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, 6, pair, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, BYTES, (unsigned)i);
            signal_peer(DONE);
        }
    }
}

static void automatic_buffer(void) {
    unsigned char *data = check_alloc(300000);
    if (rank == 0) {
        void *back = NULL;
        int back_size = -1;
        CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
        for (int i = 0; i < 10; i++) {
            pattern_fill(data, 300000, (unsigned)i);
            CHECK_OK(MPI_Bsend(data, 300000, MPI_BYTE, 1, 7, pair));
        }
        signal_peer(GO);
        CHECK_OK(MPI_Buffer_flush());
        CHECK_OK(MPI_Buffer_detach(&back, &back_size));
        CHECK(back == MPI_BUFFER_AUTOMATIC);
    } else {
        wait_peer(GO);
        for (int i = 0; i < 10; i++) {
            CHECK_OK(MPI_Recv(data, 300000, MPI_BYTE, 0, 7, pair, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, 300000, (unsigned)i);
        }
    }
    free(data);
}

static void ready(int n) {
    unsigned char *buf = check_alloc((size_t)n);
    MPI_Request request;
    if (rank == 0) {
        wait_peer(GO);
        pattern_fill(buf, (size_t)n, 8);
        CHECK_OK(MPI_Rsend(buf, n, MPI_BYTE, 1, 8, pair));
    } else {
        CHECK_OK(MPI_Irecv(buf, n, MPI_BYTE, 0, 8, pair, &request));
        signal_peer(GO);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_PATTERN(buf, (size_t)n, 8);
    }
    free(buf);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    if (!check_pair(&pair, &rank)) return check_finish();
    static const int sizes[] = {0, 1, 40, 1000, 20000, 100000, 3000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        synchronous(sizes[s]);
        ready(sizes[s]);
    }
    buffered();
    buffer_room();
    automatic_buffer();
    CHECK_OK(MPI_Comm_free(&pair));
    return check_finish();
}
