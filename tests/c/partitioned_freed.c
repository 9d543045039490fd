// Requests of partitioned operations that are freed before their first start keep their turn: the others still match in
// the order of the initialisations, whether the two sides have found each other before or not, and to oneself. What freed
// requests have shared with the other side is given back.
// ranks: 1-4
#include "resident.h"

static const MPI_Comm world = MPI_COMM_WORLD;
enum { PARTITIONS = 4, MOST = 6, MANY = 3000 };

static int right(void) { return (check_rank + 1) % check_size; }
static int left(void) { return (check_rank + check_size - 1) % check_size; }

// What each side does, in phases with a barrier between them: `i` makes an operation, `f` frees its request, `s` starts
// it. In each phase the sends are first. In the end all that were started are waited for, and freed.
struct course {
    const char *sends, *receives;
};

static const struct course courses[] = {
    // The receive's request is freed.
    {"i0 i1 s1", "i0 f0 i1 s1"},
    {"i0 i1 s1 |", "| i0 f0 i1 s1"},
    {"| i0 i1 s1", "i0 f0 | i1 s1"},
    {"| i0 i1 s1", "i0 i1 f0 | s1"},
    {"i0 | i1 s1", "i0 | f0 i1 s1"},
    {"| i0 i1 s1", "i0 i1 f0 s1 |"},
    // The send's.
    {"i0 f0 i1 s1", "i0 i1 s1"},
    {"i0 f0 | i1 s1", "| i0 i1 s1"},
    {"i0 | f0 i1 s1", "i0 | i1 s1"},
    {"i0 i1 | f0 s1", "i0 i1 | s1"},
    // Both.
    {"i0 f0 i1 s1", "i0 f0 i1 s1"},
    {"| i0 f0 i1 s1", "i0 f0 | i1 s1"},
    {"i0 f0 | i1 s1", "| i0 f0 i1 s1"},
    {"i0 | f0 i1 s1", "i0 | f0 i1 s1"},
    // Several, in another order than they were made, and behind those that remain.
    {"i0 i1 i2 i3 s3 s1", "i0 i1 i2 i3 f2 f0 s1 s3"},
    {"| i0 i1 i2 i3 s3 s1", "i0 i1 i2 i3 f2 f0 | s3 s1"},
    {"| i0 i1 i2 i3 s3", "i0 i1 i2 i3 f1 f2 f0 | s3"},
    {"| i0 i1 i2 i3 s3", "i0 i1 i2 f2 f1 f0 | i3 s3"},
    {"i0 i1 i2 s2 s1 s0", "i0 i1 i2 s0 s2 s1"},
    {"i0 i1 | s0 i2 i3 s3", "i0 i1 f1 | s0 i2 i3 f2 s3"},
    {"| i0 s0 i1 i2 i3 s3", "i0 i1 f1 i2 f2 i3 | s3 s0"},
    {"i0 i1 i2 i3 i4 i5 f4 f0 s5 s2 |", "| i0 i1 i2 i3 i4 i5 f3 f4 f1 f0 s2 s5"},
};

static void take(const char **step, bool sends, int count, int tag, MPI_Request *requests, int **data, bool *started) {
    for (; **step != '\0' && **step != '|'; (*step)++) {
        if (**step == ' ') continue;
        int which = (*step)[1] - '0', len = PARTITIONS * count;
        MPI_Request *request = &requests[which];
        switch (**step) {
        case 'i':
            data[which] = check_alloc((size_t)len * sizeof(int));
            for (int i = 0; i < len; i++) data[which][i] = sends ? 100 * check_rank + which : -1;
            CHECK_OK(sends ? MPI_Psend_init(data[which], PARTITIONS, count, MPI_INT, right(), tag, world, MPI_INFO_NULL, request)
                           : MPI_Precv_init(data[which], PARTITIONS, count, MPI_INT, left(), tag, world, MPI_INFO_NULL, request));
            break;
        case 'f': CHECK_OK(MPI_Request_free(request)); break;
        case 's':
            CHECK_OK(MPI_Start(request));
            if (sends) CHECK_OK(MPI_Pready_range(0, PARTITIONS - 1, *request));
            started[which] = true;
            break;
        }
        (*step)++;
    }
}

static void go(struct course course, int count, int tag) {
    MPI_Request requests[2 * MOST];
    int *data[2 * MOST] = {NULL};
    bool started[2 * MOST] = {false};
    for (int i = 0; i < 2 * MOST; i++) requests[i] = MPI_REQUEST_NULL;
    for (;;) {
        take(&course.sends, true, count, tag, requests, data, started);
        take(&course.receives, false, count, tag, requests + MOST, data + MOST, started + MOST);
        if (*course.sends == '\0' || *course.receives == '\0') break;
        course.sends++, course.receives++;
        CHECK_OK(MPI_Barrier(world));
    }
    CHECK(*course.sends == *course.receives);
    CHECK_OK(MPI_Waitall(2 * MOST, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MOST; i++) {
        if (!started[MOST + i]) continue;
        CHECK_EQ(data[MOST + i][0], 100 * left() + i);
        CHECK_EQ(data[MOST + i][PARTITIONS * count - 1], 100 * left() + i);
    }
    // A receive that was never started may be freed while its send's request exists.
    CHECK_OK(MPI_Barrier(world));
    for (int i = 0; i < 2 * MOST; i++) {
        if (requests[i] != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(&requests[i]));
        free(data[i]);
    }
}

// Very many, which are freed in the order in which they were made, or in the opposite one.
static void many(bool backwards, int tag) {
    static MPI_Request receives[MANY];
    MPI_Request send, last;
    int data[2] = {check_rank, check_rank}, in[2] = {-1, -1};
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Precv_init(in, 2, 1, MPI_INT, left(), tag, world, MPI_INFO_NULL, &receives[i]));
    for (int i = 0; i < MANY; i++) CHECK_OK(MPI_Request_free(&receives[backwards ? MANY - 1 - i : i]));
    CHECK_OK(MPI_Precv_init(in, 2, 1, MPI_INT, left(), tag, world, MPI_INFO_NULL, &last));
    CHECK_OK(MPI_Start(&last));
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Psend_init(data, 2, 1, MPI_INT, right(), tag, world, MPI_INFO_NULL, &send));
        CHECK_OK(MPI_Request_free(&send));
    }
    CHECK_OK(MPI_Psend_init(data, 2, 1, MPI_INT, right(), tag, world, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Pready_range(0, 1, send));
    CHECK_OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_EQ(in[1], left());
    CHECK_OK(MPI_Request_free(&last));
    CHECK_OK(MPI_Request_free(&send));
}

// A communicator may go with turns that nobody uses.
static void communicator(void) {
    int data = 0;
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Request request;
        CHECK_OK(MPI_Comm_dup(world, &comm));
        CHECK_OK(MPI_Precv_init(&data, 1, 1, MPI_INT, left(), 1, comm, MPI_INFO_NULL, &request));
        if (i % 2) CHECK_OK(MPI_Request_free(&request));
        CHECK_OK(MPI_Comm_free(&comm));
        if (i % 2 == 0) CHECK_OK(MPI_Request_free(&request));
        // The next one has no turns of this one.
        MPI_Request requests[2];
        int out = check_rank, in = -1;
        CHECK_OK(MPI_Comm_dup(world, &comm));
        CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right(), 1, comm, MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left(), 1, comm, MPI_INFO_NULL, &requests[1]));
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready(0, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(in, left());
        for (int j = 0; j < 2; j++) CHECK_OK(MPI_Request_free(&requests[j]));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

// Of some hundred rounds each takes no memory for good.
static void flat(int tag) {
    enum { COUNT = 16 << 10, ROUNDS = 300, FIRST = 20, MOST_KIB = 2 << 10 };
    static int out[COUNT], in[COUNT];
    long before = 0;
    int here;
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    CHECK_OK(MPI_Comm_size(machine, &here));
    CHECK_OK(MPI_Comm_free(&machine));
    // Messages between machines lie in memory that comes and goes with them.
    if (here != check_size) return;
    for (int i = 0; i < FIRST + ROUNDS; i++) {
        MPI_Request send, receive;
        if (i == FIRST) before = resident_kib() + files_kib();
        // The send's request goes before the receiver takes the data.
        CHECK_OK(MPI_Psend_init(out, PARTITIONS, COUNT / 16, MPI_INT, right(), tag, world, MPI_INFO_NULL, &send));
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Pready_range(0, PARTITIONS - 1, send));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Barrier(world));
        CHECK_OK(MPI_Precv_init(in, PARTITIONS, COUNT / 16, MPI_INT, left(), tag, world, MPI_INFO_NULL, &receive));
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&receive));
        // Both go before they begin; here the two sides are one process.
        CHECK_OK(MPI_Psend_init(out, PARTITIONS, COUNT / 16, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &send));
        CHECK_OK(MPI_Precv_init(in, PARTITIONS, COUNT / 16, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &receive));
        CHECK_OK(MPI_Request_free(&send));
        CHECK_OK(MPI_Request_free(&receive));
        CHECK_OK(MPI_Barrier(world));
    }
    long grown = resident_kib() + files_kib() - before;
    if (!CHECK(grown < MOST_KIB)) fprintf(stderr, "rank %d grew by %ld KiB\n", check_rank, grown);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int tag = 0;
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        go(courses[i], 1, tag++);
        go(courses[i], 2, tag++);
        go(courses[i], 5000, tag++);
    }
    many(false, tag++);
    many(true, tag++);
    communicator();
    flat(tag++);
    return check_finish();
}
