// Collective operations on the memory that processes share: no message is sent there, blocking, nonblocking and persistent
// ones mix, none waits for a reader that is late, and disagreements are found. tests/c/coll_messages.c does the same by
// messages.
// ranks: 2-8
// heddle: only
#include "check.h"

#ifdef BY_MESSAGES
enum { ON_BLACKBOARD = 0 };
#else
enum { ON_BLACKBOARD = 1 };
#endif

enum { EARLY = 8 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle messages;

static void begin_to_count(void) {
    int provided, index = -1, count = 0;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("heddle_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &messages, &count));
    CHECK_OK(MPI_T_pvar_start(session, messages));
}

static long long unexpected(void) {
    unsigned long long value = 0;
    CHECK_OK(MPI_T_pvar_read(session, messages, &value));
    return (long long)value;
}

// The first operations of a communicator send messages, whatever comes later.
static MPI_Comm fresh(void) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

// Rank 1 finds what rank 0 has broadcast before: as unexpected messages, or not.
static void counted(MPI_Comm comm) {
    int number = 0;
    long long before = unexpected();
    CHECK_OK(MPI_Barrier(comm));
    if (check_rank == 1) CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < EARLY; i++) {
        number = check_rank == 0 ? i : -1;
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
        CHECK_EQ(number, i);
    }
    if (check_rank == 0) CHECK_OK(MPI_Send(&number, 1, MPI_INT, 1, 1, comm));
    long long found = unexpected() - before;
    if (check_rank == 1) CHECK(ON_BLACKBOARD ? found < EARLY : found >= EARLY);
    CHECK_OK(MPI_Barrier(comm));
}

// Forms and sizes alternate; the results tell whose data came.
static void mixed(MPI_Comm comm) {
    enum { MOST = 40000 };
    static const int counts[] = {1, 6, 7, 200, 256, 257, 4000, 4096, 4097, 20000, MOST};
    double *out = check_alloc(MOST * sizeof *out), *in = check_alloc(MOST * sizeof *in), sum = 0, ranks = 0;
    double small = check_rank, small_sum = 0;
    MPI_Request kept[2];
    for (int r = 0; r < check_size; r++) ranks += r;
    CHECK_OK(MPI_Allreduce_init(&small, &small_sum, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &kept[0]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &kept[1]));
    for (int round = 0; round < 200; round++) {
        int n = counts[round % (int)(sizeof counts / sizeof *counts)], root = round % check_size, wrong = 0;
        MPI_Request requests[3];
        for (int i = 0; i < n; i++) out[i] = check_rank * 1000.0 + i % 100 + round, in[i] = -1;
        CHECK_OK(MPI_Start(&kept[round % 2]));
        CHECK_OK(MPI_Iallreduce(out, in, n, MPI_DOUBLE, MPI_SUM, comm, &requests[0]));
        CHECK_OK(MPI_Ibarrier(comm, &requests[1]));
        CHECK_OK(MPI_Start(&kept[1 - round % 2]));
        CHECK_OK(MPI_Ireduce(&small, &sum, 1, MPI_DOUBLE, MPI_SUM, root, comm, &requests[2]));
        if (round % 3 == 0) CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(2, kept, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++) wrong += in[i] != ranks * 1000.0 + check_size * (i % 100 + round);
        CHECK_EQ(wrong, 0);
        CHECK(small_sum == ranks && (check_rank != root || sum == ranks));
        CHECK_OK(MPI_Reduce(check_rank == root ? MPI_IN_PLACE : out, out, n, MPI_DOUBLE, MPI_MAX, root, comm));
        for (int i = 0; i < n && check_rank == root; i++) wrong += out[i] != (check_size - 1) * 1000.0 + i % 100 + round;
        CHECK_EQ(wrong, 0);
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&kept[i]));
    free(out);
    free(in);
}

static void disagreements(MPI_Comm comm) {
    char data[16] = "";
    int error;
    MPI_Request request;
    // Another number of bytes. Not every rank has its message from rank 0.
    error = MPI_Bcast(data, check_rank == 0 ? 8 : 4, MPI_CHAR, 0, comm);
    if (ON_BLACKBOARD || check_rank <= 1) CHECK_EQ(error == MPI_SUCCESS, check_rank == 0);
    if (ON_BLACKBOARD) {
        // Another operation: messages would wait for ever.
        error = check_rank == 0 ? MPI_Bcast(data, 1, MPI_CHAR, 0, comm) : MPI_Barrier(comm);
        CHECK_EQ(error == MPI_SUCCESS, check_rank == 0);
        if (check_rank != 0) CHECK_CLASS(error, MPI_ERR_OTHER);
        error = check_rank == 0 ? MPI_Ibcast(data, 1, MPI_CHAR, 0, comm, &request) : MPI_Ibarrier(comm, &request);
        CHECK_OK(error);
        CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, check_rank == 0);
    }
    // The communicator goes on.
    CHECK_OK(MPI_Barrier(comm));
    counted(comm);
}

int main(int argc, char **argv) {
#ifdef BY_MESSAGES
    setenv("HEDDLE_BLACKBOARDS", "off", 1);
#endif
    check_start(argc, argv);
    begin_to_count();
    MPI_Comm comm = fresh();
    counted(comm);
    mixed(comm);
    disagreements(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    // Communicators come and go, while some processes are ahead of others.
    for (int i = 0; i < 50; i++) {
        comm = fresh();
        int number = check_rank == 0 ? i : -1;
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
        CHECK_EQ(number, i);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
