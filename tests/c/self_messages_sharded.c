// Self messages of a communicator use one communication path, until several threads send them by turns; then those of different
// tags use different ones. One wildcard brings them back, in the order in which they were sent. A persistent receive that is started after that can be cancelled. Counters
// tell of how many communicators the messages were sharded, and of how many they were pinned.
// ranks: 1
// levels: multiple
// models: default
// heddle: only
#include "counters.h"
#include "threads.h"

enum { VNIS = 4, MOST_VNIS = 64, TURNS = 400, MESSAGES = 10, WAITING = 3 * VNIS };

static MPI_Comm comm;
static pthread_barrier_t together;

static void exchange(int tag) {
    int out = tag, in = -1;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, tag, comm, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, tag, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(in, out);
}

static void take_turns(int thread, void *shared) {
    (void)shared;
    for (int i = 0; i < TURNS; i++) {
        if (i % 2 == thread) exchange(thread);
        pthread_barrier_wait(&together);
    }
}

// The number of communication paths that messages of all tags use.
static int paths(void) {
    unsigned long long before[MOST_VNIS], after[MOST_VNIS];
    struct counter entries = counter_start("heddle_vni_acquisitions");
    int used = 0;
    if (!CHECK_EQ(entries.elements, MOST_VNIS)) return -1;
    CHECK_OK(MPI_T_pvar_read(entries.session, entries.handle, before));
    for (int i = 0; i < MESSAGES * VNIS; i++) exchange(i % VNIS);
    CHECK_OK(MPI_T_pvar_read(entries.session, entries.handle, after));
    counter_end(&entries);
    // A thread that waits looks at the other paths now and then.
    for (int i = 0; i < VNIS; i++) used += after[i] - before[i] >= MESSAGES;
    return used;
}

// Starts a persistent receive of each tag, and completes it by a message.
static void start_and_send(MPI_Request receives[], int values[]) {
    for (int tag = 0; tag < VNIS; tag++) {
        CHECK_OK(MPI_Recv_init(&values[tag], 1, MPI_INT, 0, tag, comm, &receives[tag]));
        CHECK_OK(MPI_Start(&receives[tag]));
        CHECK_OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, comm));
        CHECK_OK(MPI_Wait(&receives[tag], MPI_STATUS_IGNORE));
        CHECK_EQ(values[tag], tag);
    }
}

// Starts each of them again, and cancels it: no message comes, so it is found where it was started.
static void start_and_cancel(MPI_Request receives[]) {
    for (int tag = 0; tag < VNIS; tag++) {
        MPI_Status status;
        int is_over = 0, is_cancelled = 0;
        CHECK_OK(MPI_Start(&receives[tag]));
        CHECK_OK(MPI_Cancel(&receives[tag]));
        CHECK_OK(MPI_Test(&receives[tag], &is_over, &status));
        if (!CHECK_EQ(is_over, 1)) continue;
        CHECK_OK(MPI_Test_cancelled(&status, &is_cancelled));
        CHECK_EQ(is_cancelled, 1);
        CHECK_OK(MPI_Request_free(&receives[tag]));
    }
}

// Sends and receives a number in one call; returns what it has received.
static int sendrecv(int out, int tag) {
    int in = -1;
    MPI_Status status;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, comm, &status));
    CHECK_EQ(status.MPI_SOURCE, 0);
    CHECK_EQ(status.MPI_TAG, tag);
    return in;
}

// Sends numbers before there are receives, and receives the first of each tag in four ways. Those from VNIS to WAITING stay.
static void leave_waiting(void) {
    int in = -1;
    MPI_Request request;
    for (int i = 0; i < WAITING; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i % VNIS, comm));
    CHECK_EQ(sendrecv(WAITING, 0), 0);
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 1);
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 2, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 2);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Recv(&in, 0, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

// Those that wait come in the order in which they were sent, whatever their tags.
static void receive_in_order(void) {
    for (int i = VNIS; i <= WAITING; i++) {
        int in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
}

int main(int argc, char **argv) {
    int provided, flag = 1, values[VNIS];
    MPI_Request receives[VNIS];
    CHECK_EQ(setenv("HEDDLE_VNIS", "4", 1), 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    struct counter sharded = counter_start("heddle_self_messages_sharded"), pinned = counter_start("heddle_self_messages_pinned");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    pthread_barrier_init(&together, NULL, 2);
    CHECK_EQ(paths(), 1);
    CHECK_EQ(counter_read(&sharded), 0);
    threads_run(2, take_turns, NULL);
    CHECK_EQ(paths(), VNIS);
    CHECK_EQ(counter_read(&sharded), 1);
    CHECK_EQ(counter_read(&pinned), 0);
    for (int tag = 0; tag < VNIS; tag++) CHECK_EQ(sendrecv(tag, tag), tag);
    start_and_send(receives, values);
    leave_waiting();
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    receive_in_order();
    CHECK_EQ(paths(), 1);
    CHECK_EQ(counter_end(&sharded), 1);
    CHECK_EQ(counter_end(&pinned), 1);
    start_and_cancel(receives);
    pthread_barrier_destroy(&together);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
