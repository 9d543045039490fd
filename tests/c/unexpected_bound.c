// Unexpected messages keep within HEDDLE_UNEXPECTED_BYTES, none is lost, and a message that lies behind them is found.
// ranks: 2-4
// settings: HEDDLE_UNEXPECTED_BYTES=1048576
// heddle: only
#include "resident.h"
#include "threads.h"

enum { BOUND = 1 << 20, SMALL = 100000, PLAIN = 1, BEHIND = 2 };

static long long count_of(const char *name) {
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    int index = -1, count = 0;
    unsigned long long value = 0;
    MPI_T_pvar_handle handle;
    if (session == MPI_T_PVAR_SESSION_NULL) CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_OK(MPI_T_pvar_read(session, handle, &value));
    CHECK_OK(MPI_T_pvar_handle_free(session, &handle));
    return (long long)value;
}

// The number of senders on other machines than the last rank.
static int far_senders(void) {
    int here = -1;
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    CHECK_OK(MPI_Comm_size(machine, &here));
    CHECK_OK(MPI_Comm_free(&machine));
    return check_size - here;
}

// The last rank receives nothing while the others send; it looks for a message that comes when they wait.
static void flood(int bytes, int number) {
    int last = check_size - 1, far = far_senders(), go = 1;
    unsigned char *data = check_alloc((size_t)bytes + 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank != last) {
        for (int i = 0; i < number; i++) {
            pattern_fill(data, (size_t)bytes, (unsigned)i);
            CHECK_OK(MPI_Send(data, bytes, MPI_BYTE, last, PLAIN, MPI_COMM_WORLD));
        }
    } else {
        long before = resident_kib();
        long long waiting = 0;
        for (int i = 0; i < 100000; i++) {
            int flag = 1;
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, BEHIND, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK_EQ(flag, 0);
            if (i % 100 != 0) continue;
            long long now = count_of("heddle_unexpected_queue_length");
            if (now > waiting) waiting = now;
        }
        // The bound, an eighth more, and from each sender what its ring holds, or 128 packets from another machine: small
        // messages of 24 bytes and their data share packets of 8 KiB.
        long long each = 100 + (bytes > 40 ? bytes : 0), lap = bytes > 40 ? 256 : 512, packets = 128 * (8192 / (24 + bytes) + 1);
        long long under_way = lap * (last - far) + packets * far;
        CHECK(waiting <= BOUND * 9 / 8 / each + under_way + 10);
        // A table of messages doubles its size when it is full, and rings get their memory when they are used.
        CHECK(resident_kib() - before < 2048 * last + 8 * BOUND / 1024 + under_way * (bytes + (far ? 200 : 0)) / 1024);
        for (int i = 0; i < number; i++) {
            for (int from = 0; from < last; from++) {
                memset(data, 0, (size_t)bytes);
                CHECK_OK(MPI_Recv(data, bytes, MPI_BYTE, from, PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                if (!CHECK_PATTERN(data, (size_t)bytes, (unsigned)i)) break;
            }
        }
    }
    CHECK_OK(MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD));
    free(data);
}

// Nonblocking sends go on beyond the bound, and the message behind them is found first.
static void behind(void) {
    int last = check_size - 1;
    MPI_Request *requests = check_alloc(sizeof(MPI_Request) * SMALL);
    long *values = check_alloc(sizeof(long) * SMALL);
    if (check_rank != last) {
        for (int i = 0; i < SMALL; i++) {
            values[i] = i;
            int tag = i == SMALL - 1 ? BEHIND : PLAIN;
            CHECK_OK(MPI_Isend(&values[i], 1, MPI_LONG, last, tag, MPI_COMM_WORLD, &requests[i]));
        }
        CHECK_OK(MPI_Waitall(SMALL, requests, MPI_STATUSES_IGNORE));
    } else {
        for (int from = 0; from < last; from++) {
            CHECK_OK(MPI_Recv(values, 1, MPI_LONG, from, BEHIND, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(values[0], SMALL - 1);
        }
        for (int i = 0; i < SMALL - 1; i++) {
            for (int from = 0; from < last; from++) {
                CHECK_OK(MPI_Recv(values, 1, MPI_LONG, from, PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                if (!CHECK_EQ(values[0], i)) i = SMALL;
            }
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(requests);
    free(values);
}

// A buffered send returns although the receiver takes no more, and so does a ready send to a receive that is posted.
static void other_modes(void) {
    enum { MESSAGES = 30000 };
    int last = check_size - 1, value = -1, size = MESSAGES * (MPI_BSEND_OVERHEAD + (int)sizeof value);
    if (check_rank == 0) {
        char *room = check_alloc((size_t)size);
        CHECK_OK(MPI_Buffer_attach(room, size));
        for (int i = 0; i < MESSAGES; i++) CHECK_OK(MPI_Bsend(&i, 1, MPI_INT, last, PLAIN, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, last, BEHIND, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Rsend(&value, 1, MPI_INT, last, BEHIND, MPI_COMM_WORLD));
        CHECK_OK(MPI_Buffer_detach(&room, &size));
        free(room);
    } else if (check_rank == last) {
        MPI_Request request;
        int got = 0, out = 77;
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, BEHIND, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, BEHIND, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(got, 77);
        for (int i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, PLAIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (!CHECK_EQ(value, i)) break;
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Self messages beyond the bound stay in the program's buffers.
static void self_messages(void) {
    MPI_Request *requests = check_alloc(sizeof(MPI_Request) * SMALL);
    long *values = check_alloc(sizeof(long) * SMALL), value = -1;
    for (int i = 0; i < SMALL; i++) {
        values[i] = i;
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_LONG, 0, i == SMALL - 1 ? BEHIND : PLAIN, MPI_COMM_SELF, &requests[i]));
    }
    CHECK_OK(MPI_Recv(&value, 1, MPI_LONG, 0, BEHIND, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(value, SMALL - 1);
    for (int i = 0; i < SMALL - 1; i++) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_LONG, 0, PLAIN, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        if (!CHECK_EQ(value, i)) break;
    }
    CHECK_OK(MPI_Waitall(SMALL, requests, MPI_STATUSES_IGNORE));
    free(requests);
    free(values);
}

enum { THREADS = 4, EACH = 20000 };

// The threads of rank 0 flood those of the last rank; each pair of threads has two tags.
static void threads_flood(int t, void *shared) {
    (void)shared;
    int last = check_size - 1;
    for (int i = 0; i < EACH; i++) {
        int tag = 10 + t * 2 + i % 2, value = i;
        if (check_rank == 0) {
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, last, tag, MPI_COMM_WORLD));
        } else {
            value = -1;
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (!CHECK_EQ(value, i)) break;
        }
    }
}

int main(int argc, char **argv) {
    int provided, level;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    check_start(argc, argv);
    flood(8, SMALL);
    flood(0, SMALL);
    flood(100, SMALL / 4);
    flood(20000, 2000);
    behind();
    other_modes();
    self_messages();
    CHECK_OK(MPI_Query_thread(&level));
    if (level == MPI_THREAD_MULTIPLE && (check_rank == 0 || check_rank == check_size - 1)) threads_run(THREADS, threads_flood, NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return check_finish();
}
