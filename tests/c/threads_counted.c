// MPI_T: critical sections entered, requests and messages are counted exactly, for sessions of several threads at once.
// ranks: 2
#include "threads.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle started(MPI_T_pvar_session in, const char *name) {
    int index = -1, count = 0;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(in, index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    CHECK_OK(MPI_T_pvar_start(in, handle));
    return handle;
}

static long long value(MPI_T_pvar_session in, MPI_T_pvar_handle handle) {
    unsigned long long count = 0;
    CHECK_OK(MPI_T_pvar_read(in, handle, &count));
    return (long long)count;
}

// The name of the value of a variable of the model.
static void chosen(const char *variable, char *name, int room) {
    int index = -1, count = 0, item = -1, value_of_item = -1;
    MPI_T_cvar_handle handle;
    MPI_T_enum items;
    CHECK_OK(MPI_T_cvar_get_index(variable, &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &item));
    CHECK_OK(MPI_T_enum_get_item(items, item, &value_of_item, name, &room));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
}

enum { THREADS = 4, MESSAGES = 500 };

// Each thread has a session, which counts from its own zero.
static void counts(int t, void *shared) {
    (void)shared;
    MPI_T_pvar_session own;
    CHECK_OK(MPI_T_pvar_session_create(&own));
    MPI_T_pvar_handle requests = started(own, "heddle_requests_allocated");
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request;
        int in = -1, out = i;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, t, MPI_COMM_SELF, &request));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, t, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
        CHECK(value(own, requests) >= i + 1);
    }
    CHECK_OK(MPI_T_pvar_stop(own, requests));
    long long at_end = value(own, requests);
    // Where sends are posted, a send has a request, too.
    CHECK(at_end >= MESSAGES && at_end <= 2 * MESSAGES * THREADS);
    CHECK_EQ(value(own, requests), at_end);
    CHECK_OK(MPI_T_pvar_session_free(&own));
}

enum { PARTITIONS = 64 };

static void hand_over(int t, void *shared) {
    for (int p = t; p < PARTITIONS; p += THREADS) CHECK_OK(MPI_Pready(p, *(MPI_Request *)shared));
}

// A partition that is ready enters no critical section, whatever its size and whichever thread has it.
static void partitions(MPI_T_pvar_handle entered, int bytes, bool threads) {
    char *out = check_alloc((size_t)(PARTITIONS * bytes)), *in = check_alloc((size_t)(PARTITIONS * bytes));
    MPI_Request both[2];
    CHECK_OK(MPI_Psend_init(out, PARTITIONS, bytes, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &both[0]));
    CHECK_OK(MPI_Precv_init(in, PARTITIONS, bytes, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &both[1]));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Startall(2, both));
        CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        if (threads) {
            threads_run(THREADS, hand_over, &both[0]);
        } else {
            for (int t = 0; t < THREADS; t++) hand_over(t, &both[0]);
        }
        CHECK_EQ(value(session, entered), 0);
        CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&both[i]));
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    int provided, level = -1;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle entered = started(session, "heddle_acquisitions"), productive = started(session, "heddle_productive_main");
    MPI_T_pvar_handle requests = started(session, "heddle_requests_allocated"), freed = started(session, "heddle_requests_freed");
    MPI_T_pvar_handle unexpected = started(session, "heddle_unexpected_messages");
    char granularity[64], execution[64], with_requests[64];
    chosen("heddle_granularity", granularity, sizeof granularity);
    chosen("heddle_execution", execution, sizeof execution);
    chosen("heddle_requests", with_requests, sizeof with_requests);
    bool global = strcmp(granularity, "global") == 0, offloaded = strcmp(execution, "offload") == 0;
    // Then a nonblocking send has a request, and enters the critical sections of requests and counts, too.
    bool always = strcmp(with_requests, "always") == 0;
    // Where another thread sends, there are always two, and the sender has a request to wait for.
    bool multiple = level == MPI_THREAD_MULTIPLE || offloaded;
    // A small send to another process.
    int sections = multiple && strcmp(granularity, "lock-free") != 0;

    // Table 1 of the fine-grained paper: a send to MPI_PROC_NULL, and one that is received at once.
    int in = -1, out = 7;
    CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    // The other thread may count what came before a moment after it was complete.
    bool exact = !offloaded;
    if (exact) CHECK_EQ(value(session, entered), multiple && global);
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK_EQ(value(session, requests), 1);
    if (exact) CHECK_EQ(value(session, freed), 0);
    // From here on the ring from one to the other is there, with room for all that follows.
    for (int round = 0; round < 2; round++) {
        if (check_rank == 0) CHECK_OK(MPI_Ssend(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        else CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    for (int round = 0; round < 100; round++) {
        if (check_rank == 1) {
            for (int message = 0; message < 2; message++)
                CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            continue;
        }
        CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        if (exact) CHECK_EQ(value(session, entered), sections);
        if (exact) CHECK_EQ(value(session, productive), sections);
        CHECK_EQ(value(session, requests), offloaded);
        // The same for a nonblocking send: it is complete at once, unless another thread sends.
        CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        MPI_Request started;
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &started));
        if (exact && !always) CHECK_EQ(value(session, entered), sections);
        CHECK_OK(MPI_Wait(&started, MPI_STATUS_IGNORE));
        CHECK_EQ(value(session, requests), offloaded || always);
        CHECK_EQ(value(session, unexpected), 0);
    }
    CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
    CHECK_EQ(value(session, unexpected), 1);
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    // An offload thread has sections of its own to enter at any time.
    if (exact) {
        partitions(entered, 8, level == MPI_THREAD_MULTIPLE);
        partitions(entered, 1000, level == MPI_THREAD_MULTIPLE);
        partitions(entered, 50000, level == MPI_THREAD_MULTIPLE);
    }

    if (multiple) {
        CHECK_OK(MPI_T_pvar_reset(session, requests));
        threads_run(THREADS, counts, NULL);
        // Threads that have ended are counted, too. Each receive has a request, and a send where it is posted.
        CHECK(value(session, requests) >= THREADS * MESSAGES);
        CHECK(value(session, requests) <= 2 * THREADS * MESSAGES);
        CHECK(value(session, entered) >= 2 * THREADS * MESSAGES);
    }
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
