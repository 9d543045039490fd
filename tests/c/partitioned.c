// Partitioned messages: divisions that differ on the two sides, small and large partitions, gaps, rounds, order of
// matching, every completing call, MPI_PROC_NULL, and what is refused.
#include "check.h"

static const MPI_Comm world = MPI_COMM_WORLD;

// A division of one message: of the sender, and of the receiver.
struct division {
    int sends, send_count, receives, receive_count;
};

static int right(void) { return (check_rank + 1) % check_size; }
static int left(void) { return (check_rank + check_size - 1) % check_size; }

static void around(struct division by, int rounds, int order) {
    size_t len = (size_t)by.sends * (size_t)by.send_count, room = (size_t)by.receives * (size_t)by.receive_count;
    char *out = check_alloc(len), *in = check_alloc(room);
    MPI_Request requests[2];
    CHECK_OK(MPI_Psend_init(out, by.sends, by.send_count, MPI_CHAR, right(), 5, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, by.receives, by.receive_count, MPI_CHAR, left(), 5, world, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < rounds; round++) {
        MPI_Status statuses[2];
        int bytes = -1, flag = 0;
        pattern_fill(out, len, (unsigned)(check_rank * 100 + round));
        memset(in, 0x55, room);
        CHECK_OK(order % 2 ? MPI_Start(&requests[0]) : MPI_Startall(2, requests));
        for (int i = 0; i < by.sends / 2; i++) CHECK_OK(MPI_Pready(order % 3 ? by.sends - 1 - i : i, requests[0]));
        if (order % 2) CHECK_OK(MPI_Start(&requests[1]));
        for (int i = by.sends / 2; i < by.sends; i++) CHECK_OK(MPI_Pready(order % 3 ? by.sends - 1 - i : i, requests[0]));
        // A partition that has arrived may be read at once.
        int partition = by.receives / 2;
        size_t first = (size_t)partition * (size_t)by.receive_count;
        while (order % 2 == 0 && by.receives != 0 && !flag) CHECK_OK(MPI_Parrived(requests[1], partition, &flag));
        for (size_t i = first; flag && i < first + (size_t)by.receive_count; i++)
            if (in[i] != (char)pattern_byte((unsigned)(left() * 100 + round), i)) {
                CHECK_EQ(i, -1);
                break;
            }
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK_PATTERN(in, len, (unsigned)(left() * 100 + round));
        CHECK_EQ(statuses[1].MPI_SOURCE, left());
        CHECK_EQ(statuses[1].MPI_TAG, 5);
        CHECK_OK(MPI_Get_count(&statuses[1], MPI_CHAR, &bytes));
        CHECK_EQ(bytes, len);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    free(out);
    free(in);
}

static void divisions(void) {
    static const struct division all[] = {
        {1, 8, 1, 8},        {16, 8, 16, 8},          {16, 6, 4, 24},        {4, 24, 16, 6},     {7, 15, 5, 21},
        {12, 0, 12, 0},      {3, 0, 1, 0},            {0, 4, 0, 4},          {1, 5, 5, 1},       {4, 9000, 4, 9000},
        {6, 20000, 8, 15000}, {8, 15000, 6, 20000},   {1, 300000, 10, 30000}, {64, 8192, 1, 524288}, {4, 100, 6, 100},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) around(all[i], 4, (int)i);
}

// Every second int, in both directions, small and large.
static void gaps(int count) {
    enum { PARTITIONS = 5 };
    size_t elements = (size_t)PARTITIONS * (size_t)count;
    int *out = check_alloc(2 * elements * sizeof(int)), *in = check_alloc(2 * elements * sizeof(int)), wrong = 0;
    MPI_Datatype type;
    MPI_Request requests[2];
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Precv_init(in, PARTITIONS, count, type, left(), 1, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(out, PARTITIONS, count, type, right(), 1, world, MPI_INFO_NULL, &requests[1]));
    // The requests keep the datatype.
    CHECK_OK(MPI_Type_free(&type));
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 2 * elements; i++) out[i] = (int)i + check_rank + round, in[i] = -1;
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(1, PARTITIONS - 1, requests[1]));
        CHECK_OK(MPI_Pready_list(1, (int[]){0}, requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (size_t i = 0; i < 2 * elements; i++) wrong += in[i] != (i % 2 ? -1 : (int)i + left() + round);
    }
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
    free(out);
    free(in);
}

// Operations with one tag match in the order in which they were made, whichever is started first, and never a message.
static void order(void) {
    enum { OPERATIONS = 3 };
    int out[OPERATIONS], in[OPERATIONS], message = -1;
    MPI_Request sends[OPERATIONS], receives[OPERATIONS], plain;
    CHECK_OK(MPI_Irecv(&message, 1, MPI_INT, left(), 9, world, &plain));
    for (int i = 0; i < OPERATIONS; i++) {
        out[i] = 10 * check_rank + i, in[i] = -1;
        CHECK_OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right(), 9, world, MPI_INFO_NULL, &sends[i]));
        CHECK_OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left(), 9, world, MPI_INFO_NULL, &receives[i]));
    }
    for (int i = OPERATIONS - 1; i >= 0; i--) {
        CHECK_OK(MPI_Start(&sends[i]));
        CHECK_OK(MPI_Pready(0, sends[i]));
    }
    CHECK_OK(MPI_Startall(OPERATIONS, receives));
    CHECK_OK(MPI_Waitall(OPERATIONS, receives, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(OPERATIONS, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < OPERATIONS; i++) CHECK_EQ(in[i], 10 * left() + i);
    CHECK_EQ(message, -1);
    CHECK_OK(MPI_Barrier(world));
    CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right(), 9, world));
    CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    CHECK_EQ(message, left());
    for (int i = 0; i < OPERATIONS; i++) {
        CHECK_OK(MPI_Request_free(&sends[i]));
        CHECK_OK(MPI_Request_free(&receives[i]));
    }
}

// The sender does not wait for the receiver: it may be over, and free its request, before the receiver starts.
static void sender_first(void) {
    int out[4] = {check_rank, 1, 2, 3}, in[4] = {-1, -1, -1, -1}, flag = 0;
    MPI_Request send, receive;
    CHECK_OK(MPI_Psend_init(out, 4, 1, MPI_INT, right(), 2, world, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Pready_range(0, 3, send));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Barrier(world));
    memset(out, 0x11, sizeof out);
    CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, left(), 2, world, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Start(&receive));
    while (!flag) CHECK_OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    CHECK(in[0] == left() && in[1] == 1 && in[2] == 2 && in[3] == 3);
    CHECK_OK(MPI_Request_free(&receive));
}

static void nobody(void) {
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0, data[3] = {1, 2, 3};
    CHECK_OK(MPI_Psend_init(data, 3, 1, MPI_INT, MPI_PROC_NULL, 0, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(data, 3, 1, MPI_INT, MPI_PROC_NULL, 0, world, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
        CHECK_OK(MPI_Parrived(requests[1], 2, &flag));
        CHECK(flag);
        CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        CHECK_OK(MPI_Pready(2, requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&requests[1], &status));
        CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    CHECK(data[0] == 1 && data[2] == 3);
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void refused(void) {
    int data[4] = {0}, in[4], flag = 0;
    MPI_Request send, receive, plain, none = MPI_REQUEST_NULL;
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, world, info, &send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(data, 1, -1, MPI_INT, 0, 0, world, info, &send), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(data, 0, -1, MPI_INT, 0, 0, world, info, &send), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(data, 1 << 30, (MPI_Count)1 << 60, MPI_INT, 0, 0, world, info, &send), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(NULL, 1, 1, MPI_INT, 0, 0, world, info, &send), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_DATATYPE_NULL, 0, 0, world, info, &send), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, check_size, 0, world, info, &send), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, -5, world, info, &send), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, info, &send), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Psend_init(data, 1, 1, MPI_INT, 0, 0, world, info, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Precv_init(in, -1, 1, MPI_INT, 0, 0, world, info, &receive), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, info, &receive), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_INT, 0, MPI_ANY_TAG, world, info, &receive), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Precv_init(in, 1, 1, MPI_INT, check_size, 0, world, info, &receive), MPI_ERR_RANK);

    CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, right(), 3, world, info, &send));
    CHECK_OK(MPI_Precv_init(in, 4, 1, MPI_INT, left(), 3, world, info, &receive));
    CHECK_OK(MPI_Send_init(data, 1, MPI_INT, right(), 3, world, &plain));
    CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, none), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    // Of a null and of an inactive request all has arrived.
    CHECK_OK(MPI_Parrived(none, 0, &flag));
    CHECK(flag);
    flag = 0;
    CHECK_OK(MPI_Parrived(receive, 3, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Request_free(&plain));

    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Start(&send));
    CHECK_CLASS(MPI_Start(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(4, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(2, 1, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(receive, 4, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(receive, -1, &flag), MPI_ERR_ARG);
    CHECK_OK(MPI_Pready(2, send));
    CHECK_CLASS(MPI_Pready(2, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cancel(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&receive), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&receive), MPI_ERR_REQUEST);
    flag = 1;
    CHECK_OK(MPI_Parrived(receive, 0, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Barrier(world));
    CHECK_OK(MPI_Pready_list(3, (int[]){3, 0, 1}, send));
    CHECK_OK(MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL));
}

// A message that is too long fills the buffer and no more, by slots and by direct writes.
static void truncated(int count) {
    char *out = check_alloc((size_t)count * 4), *in = check_alloc((size_t)count * 4);
    MPI_Request requests[2];
    MPI_Status status;
    int bytes = 0;
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    pattern_fill(out, (size_t)count * 4, (unsigned)check_rank);
    CHECK_OK(MPI_Psend_init(out, 4, count, MPI_CHAR, right(), 3, world, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, 3, count - 1, MPI_CHAR, left(), 3, world, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; round++) {
        memset(in, 0x22, (size_t)count * 4);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(0, 3, requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_CLASS(MPI_Wait(&requests[1], &status), MPI_ERR_TRUNCATE);
        CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &bytes));
        CHECK_EQ(bytes, 3 * (count - 1));
        CHECK_PATTERN(in, (size_t)bytes, (unsigned)left());
        CHECK(in[bytes] == 0x22 && in[4 * count - 1] == 0x22);
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL));
    free(out);
    free(in);
}

// A receive that nobody answers can be freed; so can its sender's request.
static void never_started(void) {
    int data = 0, in = 0;
    MPI_Request send, receive;
    CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left(), 77, world, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Request_free(&receive));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(MPI_Psend_init(&data, 1, 1, MPI_INT, right(), 78, world, MPI_INFO_NULL, &send));
        CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left(), 78, world, MPI_INFO_NULL, &receive));
        CHECK_OK(MPI_Request_free(&send));
        if (i % 2) CHECK_OK(MPI_Barrier(world));
        CHECK_OK(MPI_Request_free(&receive));
        CHECK_OK(MPI_Barrier(world));
    }
}

int main(int argc, char **argv) {
#ifdef WITHOUT_COPIES
    setenv("HEDDLE_SINGLE_COPY", "off", 1);
#endif
    check_start(argc, argv);
    divisions();
    gaps(3);
    gaps(9000);
    order();
    sender_first();
    nobody();
    refused();
    truncated(100);
    truncated(50000);
    never_started();
    return check_finish();
}
