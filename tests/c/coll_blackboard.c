// Collective operations on the memory that processes share: no message is sent there, blocking, nonblocking and persistent
// ones mix, none waits for a reader that is late, and disagreements are found. tests/c/coll_messages.c does the same by
// messages.
// ranks: 2-8
// heddle: only
#define _GNU_SOURCE
#include "counters.h"
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef BY_MESSAGES
enum { ON_BLACKBOARD = 0 };
#else
enum { ON_BLACKBOARD = 1 };
#endif

enum { EARLY = 8 };

static struct counter messages;

static void begin_to_count(void) {
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    messages = counter_start("heddle_unexpected_messages");
}

static long long unexpected(void) { return (long long)counter_read(&messages); }

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

// Messages of collective operations that this rank has received.
static atomic_int received;

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    int plane = 0;
    MPI_T_event_read(instance, 2, &plane);
    if (plane != 0) atomic_fetch_add(&received, 1);
    (void)registration, (void)safety, (void)user_data;
}

// True if each rank can copy from the memory of each other one.
static bool reach_each_other(MPI_Comm comm) {
    struct place {
        long long pid, address;
    } own = {getpid(), 0}, *all = check_alloc((size_t)check_size * sizeof *all);
    int reached = 1, every;
    own.address = (long long)&own.pid;
    CHECK_OK(MPI_Allgather(&own, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, comm));
    for (int r = 0; r < check_size; r++) {
        long long found = 0;
        struct iovec here = {&found, sizeof found}, there = {(void *)all[r].address, sizeof found};
        reached &= process_vm_readv((pid_t)all[r].pid, &here, 1, &there, 1, 0) == sizeof found && found == all[r].pid;
    }
    CHECK_OK(MPI_Allreduce(&reached, &every, 1, MPI_INT, MPI_MIN, comm));
    CHECK_OK(MPI_Barrier(comm));
    free(all);
    return every;
}

enum { OPERATIONS = 13 };

// True if a persistent operation goes by messages: a long gather of two ranks, of which both copy a stage.
static bool takes_messages(int which, int n) {
    bool is_long = n > 1000;
    return is_long && check_size == 2 && which == 4;
}

// One operation with `n` doubles per rank, a persistent one if there is a place for its request.
static void operation(int which, int n, double *out, double *in, MPI_Comm comm, MPI_Request *request) {
    int counts[8], displs[8], total = 0, last = check_size - 1;
    for (int r = 0; r < check_size; r++) counts[r] = n + r, displs[r] = total, total += n + r;
    switch (request ? which : -1) {
    case 0: CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, request)); break;
    case 1: CHECK_OK(MPI_Bcast_init(in, n, MPI_DOUBLE, last, comm, MPI_INFO_NULL, request)); break;
    case 2: CHECK_OK(MPI_Reduce_init(out, in, n, MPI_DOUBLE, MPI_SUM, last, comm, MPI_INFO_NULL, request)); break;
    case 3: CHECK_OK(MPI_Allreduce_init(out, in, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request)); break;
    case 4: CHECK_OK(MPI_Gather_init(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, last, comm, MPI_INFO_NULL, request)); break;
    case 5: CHECK_OK(MPI_Gatherv_init(out, counts[check_rank], MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, last, comm, MPI_INFO_NULL, request)); break;
    case 6: CHECK_OK(MPI_Allgather_init(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, comm, MPI_INFO_NULL, request)); break;
    case 7: CHECK_OK(MPI_Allgatherv_init(out, counts[check_rank], MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, comm, MPI_INFO_NULL, request)); break;
    case 8: CHECK_OK(MPI_Scatter_init(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, last, comm, MPI_INFO_NULL, request)); break;
    case 9: CHECK_OK(MPI_Alltoall_init(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, comm, MPI_INFO_NULL, request)); break;
    case 10: CHECK_OK(MPI_Reduce_scatter_block_init(out, in, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request)); break;
    case 11: CHECK_OK(MPI_Scan_init(out, in, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request)); break;
    case 12: CHECK_OK(MPI_Exscan_init(out, in, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request)); break;
    }
    if (request) return;
    switch (which) {
    case 0: CHECK_OK(MPI_Barrier(comm)); break;
    case 1: CHECK_OK(MPI_Bcast(in, n, MPI_DOUBLE, last, comm)); break;
    case 2: CHECK_OK(MPI_Reduce(out, in, n, MPI_DOUBLE, MPI_SUM, last, comm)); break;
    case 3: CHECK_OK(MPI_Allreduce(out, in, n, MPI_DOUBLE, MPI_SUM, comm)); break;
    case 4: CHECK_OK(MPI_Gather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, last, comm)); break;
    case 5: CHECK_OK(MPI_Gatherv(out, counts[check_rank], MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, last, comm)); break;
    case 6: CHECK_OK(MPI_Allgather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, comm)); break;
    case 7: CHECK_OK(MPI_Allgatherv(out, counts[check_rank], MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, comm)); break;
    case 8: CHECK_OK(MPI_Scatter(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, last, comm)); break;
    case 9: CHECK_OK(MPI_Alltoall(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, comm)); break;
    case 10: CHECK_OK(MPI_Reduce_scatter_block(out, in, n, MPI_DOUBLE, MPI_SUM, comm)); break;
    case 11: CHECK_OK(MPI_Scan(out, in, n, MPI_DOUBLE, MPI_SUM, comm)); break;
    case 12: CHECK_OK(MPI_Exscan(out, in, n, MPI_DOUBLE, MPI_SUM, comm)); break;
    }
}

// Operations receive no message, with short data and, where single copies are allowed, with long data. Of the persistent
// ones the first few of a communicator; and a program that has many communicators has room for shorter data on each.
static void without_messages(MPI_Comm comm) {
    enum { LONG = 20000, PERSISTENT = 7 };
    MPI_Comm other = MPI_COMM_NULL;
    size_t room = (size_t)check_size * (LONG + 8);
    double *out = check_alloc(room * sizeof *out), *in = check_alloc(room * sizeof *in);
    int index, lens[] = {1, 300, LONG}, sizes = reach_each_other(comm) ? 3 : 2;
    MPI_T_event_registration registration;
    for (size_t i = 0; i < room; i++) out[i] = 1;
    CHECK_OK(MPI_T_event_get_index("heddle_message_matched", &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, on_message));
    for (int size = 0; size < sizes; size++)
        for (int which = 0; which < OPERATIONS; which++) {
            int before = atomic_load(&received), found, all = 0;
            char what[64];
            operation(which, lens[size], out, in, comm, NULL);
            found = atomic_load(&received) - before;
            CHECK_OK(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, comm));
            snprintf(what, sizeof what, "operation %d with %d numbers: %d messages", which, lens[size], all);
            if (ON_BLACKBOARD) check_that(all == 0, __FILE__, __LINE__, what);
            if (!ON_BLACKBOARD && size == 0) CHECK(all != 0);
            if (which % PERSISTENT == 0) other = fresh();
            MPI_Request request;
            operation(which, lens[size], out, in, other, &request);
            before = atomic_load(&received);
            for (int start = 0; start < 3; start++) {
                CHECK_OK(MPI_Start(&request));
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            found = atomic_load(&received) - before;
            CHECK_OK(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, other));
            snprintf(what, sizeof what, "persistent operation %d with %d numbers: %d messages", which, lens[size], all);
            if (ON_BLACKBOARD) check_that((all != 0) == takes_messages(which, lens[size]), __FILE__, __LINE__, what);
            if (!ON_BLACKBOARD && size == 0) CHECK(all != 0);
            CHECK_OK(MPI_Request_free(&request));
            if (which % PERSISTENT == PERSISTENT - 1 || which == OPERATIONS - 1) CHECK_OK(MPI_Comm_free(&other));
        }
    CHECK_OK(MPI_T_event_handle_free(registration, NULL, NULL));
    free(out);
    free(in);
}

// A function x -> a * x + b; those of two ranks, one after the other, in their order.
struct function {
    uint64_t a, b;
};

static struct function after(struct function first, struct function then) {
    return (struct function){first.a * then.a, first.a * then.b + first.b};
}

static void compose(void *in, void *inout, int *len, MPI_Datatype *type) {
    struct function *first = in, *then = inout;
    (void)type;
    for (int i = 0; i < *len; i++) then[i] = after(first[i], then[i]);
}

static struct function function_of(int rank, int i) { return (struct function){(uint64_t)rank + 2, (uint64_t)(i % 1000 + rank)}; }

static void fill(struct function *all, int n) {
    for (int i = 0; i < n; i++) all[i] = function_of(check_rank, i);
}

// The functions of the first ranks together.
static void is_composed(const struct function *all, int n, int ranks, int first, const char *what) {
    for (int i = 0; i < n; i++) {
        struct function want = function_of(0, first + i);
        for (int r = 1; r < ranks; r++) want = after(want, function_of(r, first + i));
        if (!check_that(all[i].a == want.a && all[i].b == want.b, __FILE__, __LINE__, what)) return;
    }
}

// An operator that does not commute, on operands that the results replace.
static void in_order(MPI_Comm comm) {
    enum { MOST = 4000 };
    static const int counts[] = {1, 30, 600, MOST};
    struct function *all = check_alloc(MOST * sizeof *all);
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    CHECK_OK(MPI_Type_contiguous(2, MPI_UINT64_T, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Op_create(compose, 0, &op));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int n = counts[c], share = n / check_size;
        for (int root = 0; root < check_size; root++) {
            fill(all, n);
            CHECK_OK(MPI_Reduce(check_rank == root ? MPI_IN_PLACE : all, all, n, type, op, root, comm));
            if (check_rank == root) is_composed(all, n, check_size, 0, "MPI_Reduce in place");
        }
        fill(all, n);
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, all, n, type, op, comm));
        is_composed(all, n, check_size, 0, "MPI_Allreduce in place");
        fill(all, n);
        CHECK_OK(MPI_Scan(MPI_IN_PLACE, all, n, type, op, comm));
        is_composed(all, n, check_rank + 1, 0, "MPI_Scan in place");
        fill(all, n);
        CHECK_OK(MPI_Exscan(MPI_IN_PLACE, all, n, type, op, comm));
        if (check_rank > 0) is_composed(all, n, check_rank, 0, "MPI_Exscan in place");
        fill(all, n);
        CHECK_OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, share, type, op, comm));
        is_composed(all, share, check_size, check_rank * share, "MPI_Reduce_scatter_block in place");
        CHECK_OK(MPI_Allreduce_init(MPI_IN_PLACE, all, n, type, op, comm, MPI_INFO_NULL, &request));
        for (int i = 0; i < 2; i++) {
            fill(all, n);
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            is_composed(all, n, check_size, 0, "a persistent MPI_Allreduce in place");
        }
        CHECK_OK(MPI_Request_free(&request));
    }
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&type));
    free(all);
}

// Two operations at once, of which the first has to wait for its root: data of the second do not come to its place.
static void apart(void) {
    for (int late = 0; late < check_size; late++)
        for (int early = 0; early < check_size; early++) {
            MPI_Comm comm;
            MPI_Request requests[2];
            int first = check_rank == late ? 1 : -1, second = check_rank == early ? 2 : -1;
            if (early == late) continue;
            CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            CHECK_OK(MPI_Bcast_init(&first, 1, MPI_INT, late, comm, MPI_INFO_NULL, &requests[0]));
            if (check_rank == late) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, early, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Start(&requests[0]));
            CHECK_OK(MPI_Ibcast(&second, 1, MPI_INT, early, comm, &requests[1]));
            if (check_rank == early) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, late, 1, MPI_COMM_WORLD));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            CHECK(first == 1 && second == 2);
            CHECK_OK(MPI_Request_free(&requests[0]));
            CHECK_OK(MPI_Comm_free(&comm));
        }
}

// The data of a persistent operation, which are read where they are, are the program's again only when all have read them.
static void read_by_all(MPI_Comm comm) {
    enum { COUNT = 1 << 19, ROUNDS = 10 };
    double *data = check_alloc((COUNT + 8) * sizeof *data);
    int counts[8], displs[8];
    MPI_Request request;
    for (int r = 0; r < check_size; r++) counts[r] = r == 0 ? COUNT : 1, displs[r] = r == 0 ? 0 : COUNT + r;
    CHECK_OK(MPI_Allgatherv_init(MPI_IN_PLACE, 0, MPI_DOUBLE, data, counts, displs, MPI_DOUBLE, comm, MPI_INFO_NULL, &request));
    for (int round = 0; round < ROUNDS; round++) {
        int wrong = 0;
        for (int i = 0; i < COUNT; i++) data[i] = check_rank == 0 ? i + round : -1;
        // The others begin when the root is about to wait.
        if (check_rank != 0) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Start(&request));
        for (int r = 1; r < check_size && check_rank == 0; r++) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, r, 1, comm));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < COUNT; i++) wrong += data[i] != i + round;
        CHECK_EQ(wrong, 0);
    }
    CHECK_OK(MPI_Request_free(&request));
    free(data);
}

static void disagreements(MPI_Comm comm) {
    char data[16] = "", blocks[64] = "";
    int error;
    MPI_Request request;
    // Another number of bytes: each rank that wants it gets an error, also from a rank that passes data on.
    error = MPI_Bcast(data, check_rank == 0 ? 8 : 4, MPI_CHAR, 0, comm);
    CHECK_EQ(error == MPI_SUCCESS, check_rank == 0);
    error = MPI_Bcast(data, check_rank == 0 ? 4 : 8, MPI_CHAR, 0, comm);
    CHECK_CLASS(error, check_rank == 0 ? MPI_SUCCESS : MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scatter(blocks, 4, MPI_CHAR, data, 8, MPI_CHAR, 0, comm), MPI_ERR_COUNT);
    if (ON_BLACKBOARD) {
        // Another operation: messages would wait for ever.
        error = check_rank == 0 ? MPI_Bcast(data, 1, MPI_CHAR, 0, comm) : MPI_Barrier(comm);
        CHECK_EQ(error == MPI_SUCCESS, check_rank == 0);
        if (check_rank != 0) CHECK_CLASS(error, MPI_ERR_OTHER);
        error = check_rank == 0 ? MPI_Ibcast(data, 1, MPI_CHAR, 0, comm, &request) : MPI_Ibarrier(comm, &request);
        CHECK_OK(error);
        CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, check_rank == 0);
    }
    if (ON_BLACKBOARD) {
        // Another operation with as many bytes.
        error = check_rank == 0 ? MPI_Bcast(data, 0, MPI_CHAR, 0, comm) : MPI_Barrier(comm);
        CHECK_CLASS(error, check_rank == 0 ? MPI_SUCCESS : MPI_ERR_OTHER);
    }
    // The communicator goes on.
    CHECK_OK(MPI_Barrier(comm));
    counted(comm);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    begin_to_count();
    MPI_Comm comm = fresh();
    counted(comm);
    mixed(comm);
    in_order(comm);
    without_messages(comm);
    apart();
    read_by_all(comm);
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
    counter_end(&messages);
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
