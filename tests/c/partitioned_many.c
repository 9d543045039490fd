// Very many partitions: without data they take neither memory nor time by their number, and arrive when all are ready; a
// hundred thousand with a byte each arrive one by one, before and after the receiver's start; fifty million take no memory
// before they are handed over.
// ranks: 1-4
#include "check.h"
#include "resident.h"
#include <limits.h>

static const MPI_Comm world = MPI_COMM_WORLD;
enum { MOST = INT_MAX - 1, MANY = 100000 };

static int right(void) { return (check_rank + 1) % check_size; }
static int left(void) { return (check_rank + check_size - 1) % check_size; }

static void init(MPI_Request *requests, int sends, int receives, int tag) {
    static char nothing[1];
    CHECK_OK(MPI_Psend_init(nothing, sends, 0, MPI_INT, right(), tag, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(nothing, receives, 0, MPI_INT, left(), tag, world, MPI_INFO_NULL, &requests[1]));
}

static void end(MPI_Request *requests) {
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

// The sender has partitions that its rounds hand over all, the receiver any number.
static void rounds(int sends, int receives) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    init(requests, sends, receives, 1);
    for (int round = 0; round < 3; round++) {
        int flag = 0, count = -1;
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_CLASS(MPI_Pready(sends, requests[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Parrived(requests[1], receives, &flag), MPI_ERR_ARG);
        if (sends > 1) {
            CHECK_OK(MPI_Pready_range(1, sends - 1, requests[0]));
            CHECK_CLASS(MPI_Pready(sends - 1, requests[0]), MPI_ERR_ARG);
        }
        // Not even the first partition of the receiver has come as long as the sender lacks one of its own.
        CHECK_OK(MPI_Barrier(world));
        if (sends > 0) CHECK_OK(MPI_Parrived(requests[1], receives - 1, &flag));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Barrier(world));
        if (sends > 0) CHECK_OK(MPI_Pready(0, requests[0]));
        while (!flag) CHECK_OK(MPI_Parrived(requests[1], receives - 1, &flag));
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
        CHECK_EQ(count, 0);
        CHECK_EQ(statuses[1].MPI_SOURCE, left());
    }
    end(requests);
}

// Data that do not fit into partitions without room.
static void truncated(void) {
    int out[3] = {1, 2, 3}, in = 9;
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, 3, 1, MPI_INT, right(), 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(&in, MOST, 0, MPI_INT, left(), 1, world, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 2, requests[0]));
    CHECK_CLASS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(in, 9);
    end(requests);
}

static void to_nobody(void) {
    char byte = 0;
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(&byte, MOST, 0, MPI_INT, MPI_PROC_NULL, 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(&byte, MOST, 0, MPI_INT, MPI_PROC_NULL, 1, world, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    end(requests);
}

// Bytes of which the sender has all ready, half of them before the receiver starts.
static void bytes(void) {
    char *out = check_alloc(MANY), *in = check_alloc(MANY);
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, MANY, 1, MPI_CHAR, right(), 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, MANY / 4, 4, MPI_CHAR, left(), 1, world, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 4; round++) {
        int flag = 0;
        pattern_fill(out, MANY, (unsigned)(check_rank * 10 + round));
        memset(in, 0x55, MANY);
        CHECK_OK(MPI_Start(&requests[0]));
        for (int i = MANY - 1; i >= MANY / 2; i--) CHECK_OK(MPI_Pready(i, requests[0]));
        CHECK_CLASS(MPI_Pready(MANY - 1, requests[0]), MPI_ERR_ARG);
        CHECK_OK(MPI_Barrier(world));
        CHECK_OK(MPI_Start(&requests[1]));
        while (!flag) CHECK_OK(MPI_Parrived(requests[1], MANY / 4 - 1, &flag));
        CHECK_EQ(in[MANY - 1], (char)pattern_byte((unsigned)(left() * 10 + round), MANY - 1));
        CHECK_OK(MPI_Pready_range(0, MANY / 2 - 1, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_PATTERN(in, MANY, (unsigned)(left() * 10 + round));
    }
    end(requests);
    free(out);
    free(in);
}

// Very many bytes that nobody hands over take no memory.
static void untouched(void) {
    enum { BYTES = 50000000 };
    char *out = malloc(BYTES), *in = malloc(BYTES);
    MPI_Request requests[2];
    CHECK(out != NULL && in != NULL);
    CHECK_OK(MPI_Barrier(world));
    long before = resident_kib(), files_before = files_kib();
    CHECK_OK(MPI_Barrier(world));
    CHECK_OK(MPI_Psend_init(out, BYTES, 1, MPI_CHAR, right(), 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, BYTES, 1, MPI_CHAR, left(), 1, world, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Barrier(world));
    CHECK(resident_kib() - before < 8 << 10);
    CHECK(files_kib() - files_before < 8 << 10);
    CHECK_OK(MPI_Barrier(world));
    end(requests);
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    rounds(1, 1);
    long before = resident_kib();
    MPI_Request requests[2];
    init(requests, MOST, MOST, 2);
    end(requests);
    rounds(1, MOST);
    rounds(3, MOST);
    rounds(0, MOST);
    rounds(MANY, MOST);
    rounds(MANY, 1);
    truncated();
    to_nobody();
    CHECK(resident_kib() - before < 8 << 10);
    bytes();
    untouched();
    return check_finish();
}
