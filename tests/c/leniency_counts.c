// Ranks that give less than is expected of them, where MPICH, Open MPI and Intel MPI all let that pass: the data fill the
// beginning of the room, and the rest stays as it is. HEDDLE_STRICT makes it an error of the rank that expects more.
// ranks: 2 3 4
// variants: lenient strict
// settings strict: HEDDLE_STRICT=on
// oracle: skip Open MPI loses data between groups
#include "check.h"

// The first operation of a communicator goes by messages, and later ones by shared memory if they can.
enum { ROUNDS = 3, UNTOUCHED = -7 };

static bool strict;
static int given, expected, size;
static int *out, *in, *lengths, *rooms, *starts, *places;
// The type of the receiver: pairs of numbers, with gaps or without.
static MPI_Datatype pair;
static int stride;

// Number i of what a rank gives.
static int value(int rank, int i) { return rank * 1000000 + i; }

static void fill(int elements) {
    for (int i = 0; i < elements; i++) out[i] = value(check_rank, i);
    for (int i = 0; i < size * expected * stride; i++) in[i] = UNTOUCHED;
}

// A block of pairs holds what `rank` gave from number `first` on.
static void is_block(const char *call, int block, int rank, int first) {
    const int *got = in + block * expected * stride;
    if (strict) return;
    for (int i = 0; i < expected; i++)
        for (int j = 0; j < stride; j++) {
            int number = 2 * i + j, want = j < 2 && number < given ? value(rank, first + number) : UNTOUCHED;
            if (got[i * stride + j] == want) continue;
            char detail[96];
            snprintf(detail, sizeof detail, "%d of %d numbers: number %d of rank %d is %d, not %d", given, 2 * expected,
                     number, rank, got[i * stride + j], want);
            check_failed(__FILE__, __LINE__, call, detail);
            return;
        }
}

static void has_ended(const char *call, int code, bool expects) {
    check_code(code, strict && expects ? MPI_ERR_COUNT : MPI_SUCCESS, __FILE__, __LINE__, call);
}

static int wait_for(MPI_Request request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

// Gathers at the last rank.
static void gathered(MPI_Comm comm) {
    int last = size - 1;
    bool root = check_rank == last;
    MPI_Request request;
    for (int form = 0; form < 4; form++) {
        static const char *const names[] = {"MPI_Gather", "MPI_Gatherv", "MPI_Igatherv", "MPI_Gather_init"};
        int code;
        fill(given);
        switch (form) {
        case 0: code = MPI_Gather(out, given, MPI_INT, in, expected, pair, last, comm); break;
        case 1: code = MPI_Gatherv(out, given, MPI_INT, in, rooms, places, pair, last, comm); break;
        case 2:
            CHECK_OK(MPI_Igatherv(out, given, MPI_INT, in, rooms, places, pair, last, comm, &request));
            code = wait_for(request);
            break;
        default:
            CHECK_OK(MPI_Gather_init(out, given, MPI_INT, in, expected, pair, last, comm, MPI_INFO_NULL, &request));
            CHECK_OK(MPI_Start(&request));
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK_OK(MPI_Request_free(&request));
        }
        has_ended(names[form], code, root);
        for (int rank = 0; root && rank < size; rank++) is_block(names[form], rank, rank, 0);
    }
}

// Scatters from rank 0.
static void scattered(MPI_Comm comm) {
    MPI_Request request;
    fill(size * given);
    has_ended("MPI_Scatterv", MPI_Scatterv(out, lengths, starts, MPI_INT, in, expected, pair, 0, comm), true);
    is_block("MPI_Scatterv", 0, 0, check_rank * given);
    fill(size * given);
    CHECK_OK(MPI_Iscatterv(out, lengths, starts, MPI_INT, in, expected, pair, 0, comm, &request));
    has_ended("MPI_Iscatterv", wait_for(request), true);
    is_block("MPI_Iscatterv", 0, 0, check_rank * given);
}

static void among_neighbours(MPI_Comm ring) {
    int before = (check_rank + size - 1) % size, after = (check_rank + 1) % size;
    fill(given);
    has_ended("MPI_Neighbor_allgather", MPI_Neighbor_allgather(out, given, MPI_INT, in, expected, pair, ring), true);
    is_block("MPI_Neighbor_allgather", 0, before, 0);
    is_block("MPI_Neighbor_allgather", 1, after, 0);
    fill(given);
    has_ended("MPI_Neighbor_allgatherv",
              MPI_Neighbor_allgatherv(out, given, MPI_INT, in, rooms, places, pair, ring), true);
    is_block("MPI_Neighbor_allgatherv", 0, before, 0);
    is_block("MPI_Neighbor_allgatherv", 1, after, 0);
}

// Rank 0 alone is one group, and the root.
static void between_groups(MPI_Comm between) {
    int root = check_rank == 0 ? MPI_ROOT : 0, place = check_rank - 1;
    fill(given);
    has_ended("MPI_Gatherv", MPI_Gatherv(out, given, MPI_INT, in, rooms, places, pair, root, between), check_rank == 0);
    for (int rank = 1; check_rank == 0 && rank < size; rank++) is_block("MPI_Gatherv", rank - 1, rank, 0);
    fill(size * given);
    has_ended("MPI_Scatterv", MPI_Scatterv(out, lengths, starts, MPI_INT, in, expected, pair, root, between),
              check_rank != 0);
    if (check_rank != 0) is_block("MPI_Scatterv", 0, 0, place * given);
}

// A rank that gives more than is expected is an error, and nothing is written beyond the room.
static void too_much(MPI_Comm comm) {
    int more = 2 * expected + 1;
    bool root = check_rank == 0;
    fill(more);
    int code = MPI_Gather(out, more, MPI_INT, in, expected, pair, 0, comm);
    check_code(code, root ? MPI_ERR_TRUNCATE : MPI_SUCCESS, __FILE__, __LINE__, "MPI_Gather");
    for (int i = 0; root && i < stride; i++) CHECK_EQ(in[size * expected * stride + i], UNTOUCHED);
}

static void with(int numbers, int gap, MPI_Comm comm, MPI_Comm ring, MPI_Comm between) {
    given = numbers;
    expected = numbers / 2 + numbers / 4 + 1;
    stride = 2 + gap;
    int all = (size + 1) * expected * stride + 2;
    out = malloc((size_t)all * sizeof *out);
    in = malloc((size_t)all * sizeof *in);
    if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Datatype two;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &two));
    CHECK_OK(MPI_Type_create_resized(two, 0, (MPI_Aint)(stride * sizeof(int)), &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_free(&two));
    for (int i = 0; i < size; i++) {
        lengths[i] = given;
        rooms[i] = expected;
        starts[i] = i * given;
        places[i] = i * expected;
    }
    for (int i = 0; i < stride; i++) in[size * expected * stride + i] = UNTOUCHED;
    for (int round = 0; round < ROUNDS; round++) {
        gathered(comm);
        scattered(comm);
        among_neighbours(ring);
        between_groups(between);
        too_much(comm);
    }
    CHECK_OK(MPI_Type_free(&pair));
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    MPI_Comm comm, ring, group, between;
    int whole_ring = 1;
    check_start(argc, argv);
    for (int i = 1; i < argc; i++) strict |= strcmp(argv[i], "strict") == 0;
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &whole_ring, 0, &ring));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &group));
    CHECK_OK(MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, check_rank == 0 ? 1 : 0, 0, &between));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN));
    lengths = malloc(4 * (size_t)size * sizeof *lengths);
    if (!lengths) MPI_Abort(MPI_COMM_WORLD, 1);
    rooms = lengths + size;
    starts = rooms + size;
    places = starts + size;
    // An odd number ends within a pair.
    static const int numbers[] = {3, 1001, 60001};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        with(numbers[i], 0, comm, ring, between);
        with(numbers[i], 1, comm, ring, between);
    }
    free(lengths);
    CHECK_OK(MPI_Comm_free(&between));
    CHECK_OK(MPI_Comm_free(&group));
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
