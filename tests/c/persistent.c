// Persistent requests in all modes: started one by one and all together, inactive ones, mixed with others.
#include "check.h"

typedef int (*init_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int to, from;

static void rounds(init_function init, int n) {
    unsigned char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CHECK_OK(MPI_Recv_init(in, n, MPI_BYTE, from, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(init(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, &requests[1]));
    for (unsigned i = 0; i < 4; i++) {
        pattern_fill(out, (size_t)n, i * 64 + (unsigned)check_rank);
        memset(in, 0, (size_t)n);
        if (init == MPI_Rsend_init) {
            CHECK_OK(MPI_Start(&requests[0]));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Start(&requests[1]));
        } else if (i % 2) {
            CHECK_OK(MPI_Startall(2, requests));
        } else {
            CHECK_OK(MPI_Start(&requests[1]));
            CHECK_OK(MPI_Start(&requests[0]));
        }
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
        CHECK_PATTERN(in, (size_t)n, i * 64 + (unsigned)from);
        CHECK_EQ(statuses[0].MPI_SOURCE, from);
        CHECK_EQ(statuses[0].MPI_TAG, 2);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    free(out);
    free(in);
}

static void inactive(void) {
    MPI_Request request;
    MPI_Status status;
    int value = 0, flag = 0, index = 0, count = -1;
    CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &request));
    memset(&status, 0x77, sizeof status);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Waitany(1, &request, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Testany(1, &request, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK_OK(MPI_Waitsome(1, &request, &count, &index, &status));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Request_free(&request));
}

static void buffered(void) {
    enum { BYTES = 5000, ROUNDS = 10 };
    static unsigned char out[BYTES], in[BYTES];
    int size = 2 * (BYTES + MPI_BSEND_OVERHEAD), got = 0;
    void *room = check_alloc((size_t)size), *back = NULL;
    MPI_Request request;
    CHECK_OK(MPI_Buffer_attach(room, size));
    CHECK_OK(MPI_Bsend_init(out, BYTES, MPI_BYTE, to, 4, MPI_COMM_WORLD, &request));
    for (unsigned i = 0; i < ROUNDS; i++) {
        pattern_fill(out, BYTES, i + (unsigned)check_rank * 16);
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        memset(out, 0, BYTES);
        CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, BYTES, i + (unsigned)from * 16);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Buffer_detach(&back, &got));
    free(room);
}

// A persistent send is received by an ordinary receive and the other way round; one of two may be started.
static void mixed(void) {
    int out[2] = {0, 0}, in[2];
    MPI_Request sends[2], receive;
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Send_init(&out[i], 1, MPI_INT, to, 5 + i, MPI_COMM_WORLD, &sends[i]));
    for (int round = 0; round < 6; round++) {
        int i = round % 2, index = -1;
        out[i] = check_rank * 100 + round;
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, 5 + i, MPI_COMM_WORLD, &receive));
        CHECK_OK(MPI_Start(&sends[i]));
        CHECK_OK(MPI_Waitany(2, sends, &index, MPI_STATUS_IGNORE));
        CHECK_EQ(index, i);
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK_EQ(in[i], from * 100 + round);
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&sends[i]));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    static const int sizes[] = {0, 1, 100, 10000, 100000, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        rounds(MPI_Send_init, sizes[s]);
        rounds(MPI_Ssend_init, sizes[s]);
        rounds(MPI_Rsend_init, sizes[s]);
    }
    inactive();
    buffered();
    mixed();
    return check_finish();
}
