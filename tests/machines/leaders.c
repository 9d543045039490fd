// Barriers, broadcasts, reductions, allreductions and allgathers on several machines, with each rank as the root, on communicators that
// mix the machines in several ways: the results are right, and the operations go by leaders where they should, as the MPI_T
// variable heddle_leader_collectives says. Of a long broadcast on two machines one rank reads the data over the network.
//
//   leaders [MOST_BYTES]     more bytes than that do not go by leaders (the settings say so); below 0 no operation does
#include "../c/check.h"
#include <time.h>
#include <unistd.h>

enum { MOST = 150000 };
static const int counts[] = {0, 1, 3, 100, 5000, MOST};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle by_leaders, reads;
static long most_bytes = 1L << 40;

static MPI_T_pvar_handle counter(const char *name) {
    MPI_T_pvar_handle handle;
    int index, count;
    CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_OK(MPI_T_pvar_start(session, handle));
    return handle;
}

static unsigned long long value(MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    CHECK_OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

// The function x -> a x + b: composition does not commute.
typedef struct {
    unsigned a, b;
} map;

static map of_rank(int rank, int i) { return (map){2u * (unsigned)rank + 3u, (unsigned)(rank + i)}; }
static map then(map first, map second) { return (map){first.a * second.a, second.a * first.b + second.b}; }

static void compose(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    map *first = in, *second = inout;
    for (int i = 0; i < *len; i++) second[i] = then(first[i], second[i]);
}

static MPI_Datatype map_type;
static MPI_Op sum, composition;
static map *data, *room;

static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    map *from = in, *to = inout;
    for (int i = 0; i < *len; i++) to[i] = (map){from[i].a + to[i].a, from[i].b + to[i].b};
}

static void give(map *to, int rank, int count) {
    for (int i = 0; i < count; i++) to[i] = of_rank(rank, i);
}

static void check_result(const map *got, int count, int size, bool commutes, const char *what) {
    for (int i = 0; i < count; i += 1 + count / 50) {
        map want = of_rank(0, i);
        for (int rank = 1; rank < size; rank++) {
            map next = of_rank(rank, i);
            want = commutes ? (map){want.a + next.a, want.b + next.b} : then(want, next);
        }
        if (!CHECK(got[i].a == want.a && got[i].b == want.b)) {
            fprintf(stderr, "%s of %d elements, element %d\n", what, count, i);
            return;
        }
    }
}

// The number of a communicator's machines. It is mixed if there are several, one of which has several of its ranks, and in order if
// the ranks of each follow each other.
static void shape(MPI_Comm comm, int *machines, bool *mixed, bool *in_order) {
    int rank, size, first, lowest[64];
    MPI_Comm here;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    first = rank;
    CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, here));
    CHECK_OK(MPI_Allgather(&first, 1, MPI_INT, lowest, 1, MPI_INT, comm));
    CHECK_OK(MPI_Comm_free(&here));
    *machines = 0;
    *in_order = true;
    for (int i = 0; i < size; i++) {
        *machines += lowest[i] == i;
        *in_order = *in_order && (i == 0 || lowest[i] >= lowest[i - 1]);
    }
    *mixed = *machines > 1 && *machines < size;
}

static void expect(unsigned long long before, bool expected, const char *what, long bytes) {
    if (!CHECK_EQ(value(by_leaders) - before, expected)) fprintf(stderr, "%s of %ld bytes\n", what, bytes);
}

// The block of each rank is in its place.
static void check_blocks(const map *got, const int *counts, const int *displs, int size, const char *what) {
    for (int rank = 0; rank < size; rank++) {
        for (int i = 0; i < counts[rank]; i += 1 + counts[rank] / 20) {
            map at = got[displs[rank] + i], want = of_rank(rank, i);
            if (!CHECK(at.a == want.a && at.b == want.b)) {
                fprintf(stderr, "%s: block %d of %d elements, element %d\n", what, rank, counts[rank], i);
                return;
            }
        }
    }
}

// Blocks of up to that many elements together.
static void try_blocks(MPI_Comm comm, int root, int most, bool mixed) {
    int rank, size, block_of[64], at[64], reversed[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int block = most / size;
    long bytes = block * size * (long)sizeof(map);
    bool goes = mixed && bytes <= most_bytes, in_place = (root + most) % 2;
    for (int i = 0; i < size; i++) block_of[i] = block, at[i] = i * block;

    give(room + (in_place ? at[rank] : 0), rank, block);
    if (!in_place) give(data, rank, block);
    unsigned long long before = value(by_leaders);
    CHECK_OK(MPI_Allgather(in_place ? MPI_IN_PLACE : data, block, map_type, room, block, map_type, comm));
    expect(before, goes, "an allgather", bytes);
    check_blocks(room, block_of, at, size, "an allgather");

    // The blocks of odd ranks are shorter, and lie in reverse.
    int end = 0;
    for (int i = size - 1; i >= 0; i--) {
        block_of[i] = i % 2 ? block / 3 : block;
        reversed[i] = end;
        end += block_of[i];
    }
    memset(room, 0, (size_t)bytes);
    give(data, rank, block_of[rank]);
    before = value(by_leaders);
    CHECK_OK(MPI_Allgatherv(data, block_of[rank], map_type, room, block_of, reversed, map_type, comm));
    expect(before, mixed && end * (long)sizeof(map) <= most_bytes, "an allgather of different blocks", end * (long)sizeof(map));
    check_blocks(room, block_of, reversed, size, "an allgather of different blocks");
}

static void try_all(MPI_Comm comm) {
    int rank, size, machines;
    bool mixed, in_order;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    // Communicators know their machines from the third operation on.
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Barrier(comm));
    shape(comm, &machines, &mixed, &in_order);

    unsigned long long before = value(by_leaders);
    CHECK_OK(MPI_Barrier(comm));
    expect(before, mixed && most_bytes >= 0, "a barrier", 0);
    for (unsigned turn = 0; turn < sizeof counts / sizeof *counts; turn++) {
        int count = counts[turn];
        long bytes = count * (long)sizeof(map);
        bool goes = mixed && bytes <= most_bytes;
        for (int root = 0; root < size; root++) {
            try_blocks(comm, root, count, mixed);
            if (root == rank) give(data, root, count);
            else memset(data, 0, (size_t)bytes);
            unsigned long long read = value(reads), all = 0;
            before = value(by_leaders);
            CHECK_OK(MPI_Bcast(data, count, map_type, root, comm));
            expect(before, goes, "a broadcast", bytes);
            give(room, root, count);
            CHECK(memcmp(data, room, (size_t)bytes) == 0);
            read = value(reads) - read;
            CHECK_OK(MPI_Allreduce(&read, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm));
            if (goes && machines == 2) CHECK_EQ(all, bytes > 65592);

            for (int commutes = 0; commutes < 2; commutes++) {
                MPI_Op op = commutes ? sum : composition;
                bool in_place = (root + turn) % 2;
                give(data, rank, count);
                give(room, rank, count);
                before = value(by_leaders);
                CHECK_OK(MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : data, room, count, map_type, op, root, comm));
                expect(before, goes && (commutes || in_order), "a reduction", bytes);
                if (rank == root) check_result(room, count, size, commutes, "a reduction");
                else for (int i = 0; i < count; i += 1 + count / 50) CHECK_EQ(room[i].b, rank + i);
                if (root > 1) continue;
                // Another operation is under way meanwhile.
                MPI_Request request;
                int one = 1, ones = 0;
                CHECK_OK(MPI_Iallreduce(&one, &ones, 1, MPI_INT, MPI_SUM, comm, &request));
                give(room, rank, count);
                before = value(by_leaders);
                CHECK_OK(MPI_Allreduce(root ? MPI_IN_PLACE : data, room, count, map_type, op, comm));
                expect(before, goes && (commutes || in_order), "an allreduction", bytes);
                check_result(room, count, size, commutes, "an allreduction");
                CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                CHECK_EQ(ones, size);
            }
        }
    }
}

// Nanoseconds; the machines are network namespaces, which share this clock.
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// No rank leaves a barrier before the last has come.
static void check_barrier(void) {
    long long last, mine;
    for (int late = 0; late < check_size; late++) {
        if (check_rank == late) usleep(20000);
        mine = now();
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        long long left = now();
        CHECK_OK(MPI_Allreduce(&mine, &last, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD));
        CHECK(left >= last);
    }
}

int main(int argc, char **argv) {
    int provided;
    MPI_Comm comm;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (argc > 1) most_bytes = atol(argv[1]);
    check_start(1, argv);
    CHECK_OK(MPI_T_pvar_session_create(&session));
    by_leaders = counter("heddle_leader_collectives");
    reads = counter("heddle_remote_reads");
    CHECK_OK(MPI_Type_contiguous(2, MPI_UNSIGNED, &map_type));
    CHECK_OK(MPI_Type_commit(&map_type));
    CHECK_OK(MPI_Op_create(add, 1, &sum));
    CHECK_OK(MPI_Op_create(compose, 0, &composition));
    data = check_alloc(MOST * sizeof(map));
    room = check_alloc(MOST * sizeof(map));

    try_all(MPI_COMM_WORLD);
    check_barrier();
    // The ranks in reverse, those of each machine apart from each other, all but one, and pairs.
    const int colors[] = {0, 0, check_rank == check_size / 2, check_rank % (check_size / 2)};
    const int keys[] = {-check_rank, check_rank % 2 * check_size + check_rank, 0, 0};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colors[i], keys[i], &comm));
        try_all(comm);
        CHECK_OK(MPI_Comm_free(&comm));
    }

    unsigned long long mine = value(by_leaders), all = 0;
    CHECK_OK(MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (check_rank == 0) printf("operations by leaders: %llu on %d ranks\n", all, check_size);
    CHECK_OK(MPI_Op_free(&sum));
    CHECK_OK(MPI_Op_free(&composition));
    CHECK_OK(MPI_Type_free(&map_type));
    free(data);
    free(room);
    CHECK_OK(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return check_finish();
}
