// The algorithms of collective operations, and the points where one takes over from another, are those that the settings
// name: seen by the messages that the ranks receive, by how many, from whom and how long, and where none are sent by how
// many numbers each rank combines.
// ranks: 8
// levels: multiple
// variants: first second third blackboard points parts pieces table
// settings first: HEDDLE_BARRIER_ALGORITHM=dissemination HEDDLE_BCAST_ALGORITHM=binomial
// settings first: HEDDLE_GATHER_ALGORITHM=linear HEDDLE_SCATTER_ALGORITHM=linear HEDDLE_ALLGATHER_ALGORITHM=bruck
// settings first: HEDDLE_ALLTOALL_ALGORITHM=bruck HEDDLE_REDUCE_ALGORITHM=binomial
// settings first: HEDDLE_ALLREDUCE_ALGORITHM=recursive-doubling HEDDLE_REDUCE_SCATTER_ALGORITHM=recursive-doubling
// settings first: HEDDLE_SCAN_ALGORITHM=recursive-doubling
// settings second: HEDDLE_BCAST_ALGORITHM=scatter-ring HEDDLE_GATHER_ALGORITHM=binomial
// settings second: HEDDLE_SCATTER_ALGORITHM=binomial HEDDLE_ALLGATHER_ALGORITHM=ring HEDDLE_ALLTOALL_ALGORITHM=batch
// settings second: HEDDLE_REDUCE_ALGORITHM=rabenseifner HEDDLE_ALLREDUCE_ALGORITHM=rabenseifner
// settings second: HEDDLE_REDUCE_SCATTER_ALGORITHM=recursive-halving
// settings third: HEDDLE_ALLTOALL_ALGORITHM=pairwise HEDDLE_REDUCE_SCATTER_ALGORITHM=pairwise
// settings blackboard: HEDDLE_BCAST_ALGORITHM=blackboard HEDDLE_ALLTOALL_ALGORITHM=blackboard
// settings points: HEDDLE_BLACKBOARDS=off HEDDLE_BCAST_SCATTER_BYTES=256 HEDDLE_BCAST_SCATTER_RANKS=8
// settings points: HEDDLE_GATHER_LINEAR_BYTES=256 HEDDLE_SCATTER_LINEAR_BYTES=256 HEDDLE_ALLGATHER_RING_BYTES=2048
// settings points: HEDDLE_ALLTOALL_BRUCK_BYTES=128 HEDDLE_ALLTOALL_BRUCK_RANKS=7 HEDDLE_ALLTOALL_BATCH_BYTES=256
// settings points: HEDDLE_REDUCE_RABENSEIFNER_BYTES=256 HEDDLE_ALLREDUCE_RABENSEIFNER_BYTES=256
// settings points: HEDDLE_REDUCE_SCATTER_PAIRWISE_BYTES=2048
// settings parts: HEDDLE_BCAST_PARTS_BYTES=160000 HEDDLE_ALLTOALL_PARTS_BYTES=160000
// settings parts: HEDDLE_ALLGATHER_EXPOSED_BYTES=160000 HEDDLE_SCATTER_EXPOSED_BYTES=160000
// settings parts: HEDDLE_SCATTER_PARTS_BYTES=160000 HEDDLE_GATHER_PARTS_BYTES=160000
// settings pieces: HEDDLE_REDUCE_PIECES_BYTES=2047 HEDDLE_ALLREDUCE_PIECES_BYTES=2047
// settings table: HEDDLE_COLLECTIVES=./coll_choices.table
// heddle: only
#define _GNU_SOURCE
#include "counters.h"
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RANKS = 8, FEWER = 7, NUMBERS = 64, BYTES = NUMBERS * 4, LONG = 9000, IN_PARTS = 40000, LONGER = 1100000, ROOM = 3 * LONGER };

static int out[ROOM], in[ROOM];

// Messages of collective operations that this rank has received.
static atomic_int received, received_from_0, received_bytes, unexpected;

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *is_match) {
    long long bytes = 0;
    int plane = 0, source = -1;
    MPI_T_event_read(instance, 1, &bytes);
    MPI_T_event_read(instance, 2, &plane);
    MPI_T_event_read(instance, 3, &source);
    if (plane != 1) return;
    if (!is_match) {
        atomic_fetch_add(&unexpected, 1);
        return;
    }
    atomic_fetch_add(&received, 1);
    atomic_fetch_add(&received_bytes, (int)bytes);
    if (source == 0) atomic_fetch_add(&received_from_0, 1);
    (void)registration, (void)safety;
}

static void listen_to(const char *name, void *is_match) {
    int index = -1;
    MPI_T_event_registration registration;
    CHECK_OK(MPI_T_event_get_index(name, &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, is_match, on_message));
}

// Numbers that this rank has combined.
static long long combined;

static void add(void *input, void *inout, int *len, MPI_Datatype *type) {
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)input)[i];
    combined += *len;
    (void)type;
}

// The first operations of a communicator send messages, whatever comes later.
static void warm_up(MPI_Comm comm) {
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Barrier(comm));
}

typedef enum { BARRIER, BCAST, GATHER, SCATTER, SCATTERV, ALLGATHER, ALLTOALL, ALLTOALLV, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN } Operation;

static const char *const names[] = {"barrier",   "bcast",  "gather",    "scatter",        "scatterv", "allgather", "alltoall",
                                    "alltoallv", "reduce", "allreduce", "reduce_scatter", "scan",     "exscan"};

// Messages that all ranks received together, their bytes, and how many of them rank 0 received and sent.
typedef struct {
    int messages, bytes, to_0, from_0;
} Tally;

typedef enum { BLOCKING, NONBLOCKING } Form;

// The operation with n numbers, a block or a vector, in one of the forms.
static Tally tally(Operation operation, int n, MPI_Comm comm, Form form) {
    MPI_Request request = MPI_REQUEST_NULL;
    int size;
    MPI_Comm_size(comm, &size);
    int counts[RANKS], displs[RANKS];
    for (int i = 0; i < n * size; i++) out[i] = in[i] = 1;
    for (int i = 0; i < size; i++) counts[i] = n, displs[i] = i * n;
    int before[4] = {received, received_bytes, received, received_from_0}, after[4], all[4];
    switch (operation) {
    case BARRIER: CHECK_OK(form == NONBLOCKING ? MPI_Ibarrier(comm, &request) : MPI_Barrier(comm)); break;
    case BCAST: CHECK_OK(form == NONBLOCKING ? MPI_Ibcast(in, n, MPI_INT, 0, comm, &request) : MPI_Bcast(in, n, MPI_INT, 0, comm)); break;
    case GATHER: CHECK_OK(form == NONBLOCKING ? MPI_Igather(out, n, MPI_INT, in, n, MPI_INT, 0, comm, &request) : MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, comm)); break;
    case SCATTER: CHECK_OK(form == NONBLOCKING ? MPI_Iscatter(out, n, MPI_INT, in, n, MPI_INT, 0, comm, &request) : MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, comm)); break;
    case SCATTERV: CHECK_OK(form == NONBLOCKING ? MPI_Iscatterv(out, counts, displs, MPI_INT, in, n, MPI_INT, 0, comm, &request) : MPI_Scatterv(out, counts, displs, MPI_INT, in, n, MPI_INT, 0, comm)); break;
    case ALLGATHER: CHECK_OK(form == NONBLOCKING ? MPI_Iallgather(out, n, MPI_INT, in, n, MPI_INT, comm, &request) : MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm)); break;
    case ALLTOALL: CHECK_OK(form == NONBLOCKING ? MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, comm, &request) : MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm)); break;
    case ALLTOALLV: CHECK_OK(form == NONBLOCKING ? MPI_Ialltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm, &request) : MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm)); break;
    case REDUCE: CHECK_OK(form == NONBLOCKING ? MPI_Ireduce(out, in, n, MPI_INT, MPI_SUM, 0, comm, &request) : MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, comm)); break;
    case ALLREDUCE: CHECK_OK(form == NONBLOCKING ? MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, comm, &request) : MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm)); break;
    case REDUCE_SCATTER: CHECK_OK(form == NONBLOCKING ? MPI_Ireduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, comm, &request) : MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, comm)); break;
    case SCAN: CHECK_OK(form == NONBLOCKING ? MPI_Iscan(out, in, n, MPI_INT, MPI_SUM, comm, &request) : MPI_Scan(out, in, n, MPI_INT, MPI_SUM, comm)); break;
    case EXSCAN: CHECK_OK(form == NONBLOCKING ? MPI_Iexscan(out, in, n, MPI_INT, MPI_SUM, comm, &request) : MPI_Exscan(out, in, n, MPI_INT, MPI_SUM, comm)); break;
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (operation == ALLREDUCE || operation == REDUCE_SCATTER) CHECK_EQ(in[n - 1], size);
    if (operation == REDUCE && check_rank == 0) CHECK_EQ(in[n - 1], size);
    after[0] = received, after[1] = received_bytes, after[2] = received, after[3] = received_from_0;
    for (int i = 0; i < 4; i++) after[i] -= before[i];
    if (check_rank != 0) after[2] = 0;
    CHECK_OK(MPI_Allreduce(after, all, 4, MPI_INT, MPI_SUM, comm));
    // No rank begins the next operation before all have counted this one.
    CHECK_OK(MPI_Barrier(comm));
    return (Tally){all[0], all[1], all[2], all[3]};
}

enum { ANY = -1 };

// Checks what the operation with n numbers on this communicator does, in one of the forms; what is ANY may be anything.
static void expect_in(Form form, MPI_Comm comm, Operation operation, int n, Tally want) {
    // A communicator's first operations that could go over its blackboard send messages instead.
    for (int i = 0; i < 3; i++) tally(operation, n, comm, BLOCKING);
    Tally got = tally(operation, n, comm, form);
    char what[160];
    snprintf(what, sizeof what, "%s%s of %d: %d messages, %d bytes, %d to rank 0, %d from it", form ? "i" : "", names[operation], n,
             got.messages, got.bytes, got.to_0, got.from_0);
    check_that((want.messages == ANY || got.messages == want.messages) && (want.bytes == ANY || got.bytes == want.bytes) &&
                   (want.to_0 == ANY || got.to_0 == want.to_0) && (want.from_0 == ANY || got.from_0 == want.from_0),
               __FILE__, __LINE__, what);
}

static void expect_on(MPI_Comm comm, Operation operation, int n, Tally want) {
    expect_in(BLOCKING, comm, operation, n, want);
    expect_in(NONBLOCKING, comm, operation, n, want);
}

static void expect(Operation operation, int n, Tally want) { expect_on(MPI_COMM_WORLD, operation, n, want); }

static Tally messages(int number) { return (Tally){number, ANY, ANY, ANY}; }

// Two ranks start an all-to-all of n numbers with a third that is late. By batches both send to it at once; pair by pair
// the one that waits for its message first does not.
static void expect_alltoall(int n, bool in_batches) {
    MPI_Comm three;
    MPI_Request request;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank < 3 ? 0 : MPI_UNDEFINED, check_rank, &three));
    if (check_rank < 3) {
        int before = 0;
        warm_up(three);
        if (check_rank == 1) {
            before = atomic_load(&unexpected);
            for (int to = 0; to < 3; to += 2) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, to, 1, three));
            int has_come = 0, wanted = in_batches ? 2 : 1;
            for (int tries = 0; tries < 1000000 && atomic_load(&unexpected) - before < wanted; tries++) {
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, three, &has_come, MPI_STATUS_IGNORE));
                sched_yield();
            }
            for (int from = 0; from < 3; from += 2) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, from, 1, three, MPI_STATUS_IGNORE));
            CHECK_EQ(atomic_load(&unexpected) - before, wanted);
        } else {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, three, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, three, &request));
        if (check_rank != 1) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, three));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&three));
    }
    // The others do not begin a barrier, whose messages rank 1 would count, before it is done.
    for (int to = 3; check_rank == 1 && to < check_size; to++) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, to, 2, MPI_COMM_WORLD));
    if (check_rank >= 3) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Checks how many numbers rank 1 combines in a reduction of n numbers.
static void expect_combined(Operation operation, int n, MPI_Op op, int want) {
    combined = 0;
    for (int i = 0; i < n; i++) out[i] = 1;
    if (operation == REDUCE) CHECK_OK(MPI_Reduce(out, in, n, MPI_INT, op, 0, MPI_COMM_WORLD));
    else CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, op, MPI_COMM_WORLD));
    if (operation == ALLREDUCE || check_rank == 0) CHECK_EQ(in[n - 1], RANKS);
    char what[96];
    snprintf(what, sizeof what, "%s of %d: rank 1 combined %lld, wanted %d", names[operation], n, combined, want);
    if (check_rank == 1) check_that(combined == want, __FILE__, __LINE__, what);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// True if each rank can copy from the memory of each other one.
static bool reach_each_other(void) {
    long long own[2] = {getpid(), (long long)&own}, all[RANKS][2];
    int reached = 1, every = 0;
    CHECK_OK(MPI_Allgather(own, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, MPI_COMM_WORLD));
    for (int r = 0; r < check_size; r++) {
        long long found = 0;
        struct iovec here = {&found, sizeof found}, there = {(void *)all[r][1], sizeof found};
        reached &= process_vm_readv((pid_t)all[r][0], &here, 1, &there, 1, 0) == sizeof found && found == all[r][0];
    }
    CHECK_OK(MPI_Allreduce(&reached, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return every;
}

static void first(void) {
    expect(BARRIER, 0, messages(24));
    expect(BCAST, NUMBERS, messages(7));
    expect(GATHER, NUMBERS, (Tally){7, 7 * BYTES, 7, 0});
    expect(SCATTER, NUMBERS, (Tally){7, 7 * BYTES, 0, 7});
    expect(SCATTERV, NUMBERS, (Tally){7, 7 * BYTES, 0, 7});
    expect(ALLGATHER, NUMBERS, messages(24));
    expect(ALLTOALL, NUMBERS, messages(24));
    expect(REDUCE, NUMBERS, messages(7));
    expect(ALLREDUCE, NUMBERS, messages(24));
    // Each rank sends the whole vector three times.
    expect(REDUCE_SCATTER, NUMBERS, (Tally){24, 24 * RANKS * BYTES, ANY, ANY});
    expect(SCAN, NUMBERS, messages(24));
    expect(EXSCAN, NUMBERS, messages(24));
}

static void second(void) {
    expect(BCAST, NUMBERS, messages(7 + 7 * 7));
    expect(GATHER, NUMBERS, (Tally){7, 12 * BYTES, 3, 0});
    expect(SCATTER, NUMBERS, (Tally){7, 12 * BYTES, 0, 3});
    expect(ALLGATHER, NUMBERS, messages(56));
    expect(ALLTOALL, NUMBERS, messages(56));
    expect(REDUCE, NUMBERS, messages(24 + 7));
    expect(ALLREDUCE, NUMBERS, messages(48));
    // Each rank sends half of the vector, then a quarter, then an eighth.
    expect(REDUCE_SCATTER, NUMBERS, (Tally){24, 7 * RANKS * BYTES, ANY, ANY});
    expect_alltoall(LONG, true);
}

static void third(void) {
    expect(ALLTOALL, NUMBERS, messages(56));
    expect(ALLTOALLV, NUMBERS, messages(56));
    expect(REDUCE_SCATTER, NUMBERS, messages(56));
    expect_alltoall(8, false);
}

static void blackboard(void) {
    MPI_Comm two;
    bool long_too = reach_each_other();
    for (Operation operation = BARRIER; operation <= EXSCAN; operation++) {
        // Blocks of any sizes go there where long ones can stay in their ranks' memory.
        if (long_too || (operation != SCATTERV && operation != ALLTOALLV)) expect(operation, NUMBERS, messages(0));
    }
    // By auto two ranks send each other long data.
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &two));
    if (long_too) expect_on(two, BCAST, LONGER, messages(0));
    if (long_too) expect_on(two, ALLTOALL, LONGER, messages(0));
    if (long_too) expect_on(two, ALLTOALLV, LONGER, messages(0));
    CHECK_OK(MPI_Comm_free(&two));
}

static void points(void) {
    MPI_Comm fewer;
    expect(BCAST, NUMBERS, messages(56));
    expect(BCAST, NUMBERS - 1, messages(7));
    expect(GATHER, NUMBERS, (Tally){ANY, ANY, 7, ANY});
    expect(GATHER, NUMBERS - 1, (Tally){ANY, ANY, 3, ANY});
    expect(SCATTER, NUMBERS, (Tally){ANY, ANY, ANY, 7});
    expect(SCATTER, NUMBERS - 1, (Tally){ANY, ANY, ANY, 3});
    expect(ALLGATHER, NUMBERS, messages(56));
    expect(ALLGATHER, NUMBERS - 1, messages(24));
    expect(ALLTOALL, NUMBERS / 2, messages(24));
    expect(ALLTOALL, NUMBERS / 2 + 1, messages(56));
    expect(REDUCE, NUMBERS, messages(31));
    expect(REDUCE, NUMBERS - 1, messages(7));
    expect(ALLREDUCE, NUMBERS, messages(48));
    expect(ALLREDUCE, NUMBERS - 1, messages(24));
    expect(REDUCE_SCATTER, NUMBERS, messages(56));
    expect(REDUCE_SCATTER, NUMBERS - 1, messages(24));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank < FEWER ? 0 : MPI_UNDEFINED, check_rank, &fewer));
    if (check_rank < FEWER) {
        expect_on(fewer, BCAST, NUMBERS, messages(6));
        expect_on(fewer, ALLTOALL, NUMBERS / 2, messages(7 * 3));
        CHECK_OK(MPI_Comm_free(&fewer));
    }
    expect_alltoall(NUMBERS, true);
    expect_alltoall(NUMBERS + 1, false);
}

// Checks whether an allgather of n numbers reads them where they are.
static void expect_exposed(MPI_Comm comm, int n, bool exposed) {
    struct counter copies = counter_start("heddle_single_copies");
    CHECK_OK(MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm));
    CHECK_EQ(counter_read(&copies) != 0, exposed);
    counter_end(&copies);
}

static int cores(void) {
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    return CPU_COUNT(&allowed);
}

static void parts(void) {
    MPI_Comm two;
    bool can_expose = reach_each_other();
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &two));
    expect_on(two, BCAST, IN_PARTS, messages(0));
    expect_on(two, BCAST, IN_PARTS + 1, messages(1));
    expect_on(two, SCATTER, IN_PARTS, messages(0));
    expect_on(two, SCATTER, IN_PARTS + 1, messages(1));
    expect_on(two, ALLTOALL, IN_PARTS, messages(0));
    expect_on(two, ALLTOALL, IN_PARTS + 1, messages(2));
    expect_on(two, ALLGATHER, IN_PARTS, messages(0));
    // The taker learns from the giver how the data come, which recorded steps could not follow.
    expect_in(BLOCKING, two, GATHER, IN_PARTS, messages(0));
    expect_in(BLOCKING, two, GATHER, IN_PARTS + 1, messages(1));
    expect_in(BLOCKING, two, SCATTERV, IN_PARTS, messages(0));
    expect_in(BLOCKING, two, SCATTERV, IN_PARTS + 1, messages(1));
    expect_in(BLOCKING, two, ALLTOALLV, IN_PARTS, messages(0));
    expect_in(BLOCKING, two, ALLTOALLV, IN_PARTS + 1, messages(2));
    expect_exposed(two, IN_PARTS - 1, false);
    expect_exposed(two, IN_PARTS, can_expose);
    CHECK_OK(MPI_Comm_free(&two));
    // Ranks with a core each copy shorter blocks, too.
    if (cores() < RANKS) expect(SCATTER, IN_PARTS - 1, messages(7));
    expect(SCATTER, IN_PARTS, messages(can_expose ? 0 : 7));
}

static void pieces(MPI_Op op) {
    expect_combined(ALLREDUCE, NUMBERS, op, 7 * NUMBERS / RANKS);
    expect_combined(ALLREDUCE, NUMBERS - 8, op, 7 * (NUMBERS - 8));
    expect_combined(REDUCE, NUMBERS, op, 7 * NUMBERS / RANKS);
    expect_combined(REDUCE, NUMBERS - 8, op, 0);
}

// The rules hold for 8 ranks and from 256 bytes on.
static void table(void) {
    MPI_Comm fewer;
    bool long_too = reach_each_other();
    expect(BARRIER, 0, messages(24));
    expect(BCAST, NUMBERS - 1, messages(0));
    expect(BCAST, NUMBERS, messages(7));
    expect(BCAST, NUMBERS + 1, messages(56));
    expect(GATHER, NUMBERS - 1, messages(0));
    expect(GATHER, NUMBERS, (Tally){ANY, ANY, 7, ANY});
    expect(SCATTER, NUMBERS - 1, messages(0));
    expect(SCATTER, NUMBERS, (Tally){ANY, ANY, ANY, 7});
    expect(ALLGATHER, NUMBERS - 1, messages(0));
    expect(ALLGATHER, NUMBERS, messages(56));
    expect(ALLTOALL, NUMBERS - 1, messages(0));
    expect(ALLTOALL, NUMBERS, messages(56));
    // No rank knows all blocks.
    if (long_too) expect(ALLTOALLV, NUMBERS, messages(0));
    if (long_too) expect(SCATTERV, NUMBERS, messages(0));
    expect(REDUCE, NUMBERS - 1, messages(0));
    expect(REDUCE, NUMBERS, messages(7));
    expect(ALLREDUCE, NUMBERS - 1, messages(0));
    expect(ALLREDUCE, NUMBERS, messages(24));
    expect(REDUCE_SCATTER, NUMBERS - 1, messages(0));
    expect(REDUCE_SCATTER, NUMBERS, messages(56));
    expect(SCAN, NUMBERS - 1, messages(0));
    expect(SCAN, NUMBERS, messages(24));
    expect(EXSCAN, NUMBERS, messages(24));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank < FEWER ? 0 : MPI_UNDEFINED, check_rank, &fewer));
    if (check_rank < FEWER) {
        expect_on(fewer, BCAST, NUMBERS, messages(0));
        CHECK_OK(MPI_Comm_free(&fewer));
    }
}

static const char *variant;

static bool is(const char *name) { return strcmp(variant, name) == 0; }

int main(int argc, char **argv) {
    variant = argv[argc - 1];
    int provided;
    MPI_Op op;
    check_start(argc, argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    listen_to("heddle_message_matched", &received);
    listen_to("heddle_message_unexpected", NULL);
    CHECK_OK(MPI_Op_create(add, true, &op));
    warm_up(MPI_COMM_WORLD);
    if (is("first")) first();
    if (is("second")) second();
    if (is("third")) third();
    if (is("blackboard")) blackboard();
    if (is("points")) points();
    if (is("parts")) parts();
    if (is("pieces")) pieces(op);
    if (is("table")) table();
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
