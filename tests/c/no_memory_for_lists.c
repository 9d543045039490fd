// Lists as long as the program says, with memory that ends somewhere: each constructor fails with MPI_ERR_NO_MEM until the
// memory suffices, in all processes of the communicator if one has no memory for its part, and leaves nothing behind.
// ranks: 1-4
// levels: multiple
// models: default
// heddle: only
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>

enum { LONG = 1 << 15, EDGES = 8 * LONG, STEP = 200 << 10, MOST_STEPS = 1000, GAP = 32 << 10, GAPS = 128, KEPT = 2 << 20 };

static int ones[LONG], apart[LONG], zeros[LONG], lengths[LONG];
static MPI_Aint places[LONG];
static MPI_Count large_lengths[LONG], large_places[LONG];
static MPI_Datatype types[LONG], column;
static int index_of[64], degree, ends[EDGES];
static MPI_Comm base, grid;

// What a constructor makes.
static MPI_Datatype made_type;
static MPI_Comm made_comm;

// The addresses that this process uses, in bytes.
static size_t used(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) exit(2);
    fclose(file);
    return (size_t)pages * 4096;
}

// Lists are mapped, each for itself; small pieces find room in gaps of the one heap, which are too short for lists.
static void separate_lists(void) {
    static void *pieces[2 * GAPS];
    for (int i = 0; i < 2 * GAPS; i++) pieces[i] = check_alloc(i % 2 ? 1 : GAP);
    for (int i = 0; i < 2 * GAPS; i += 2) free(pieces[i]);
}

// A heap keeps what it has grown by, about a MiB. A list that stays behind at each failure soon takes more than KEPT.
//
// Calls a constructor with ever more memory until it succeeds, and returns how often it failed. With `limited` this process has
// only that much; of those that share a communicator one may be enough.
static int failures(int (*make)(void), bool limited, bool collective, const char *what) {
    struct rlimit all, few;
    size_t before = used();
    getrlimit(RLIMIT_AS, &all);
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        few = all;
        few.rlim_cur = used() + (size_t)steps * (collective ? 4 * STEP : STEP);
        if (limited) setrlimit(RLIMIT_AS, &few);
        made_type = MPI_DATATYPE_NULL;
        made_comm = MPI_COMM_NULL;
        int code = make(), class;
        setrlimit(RLIMIT_AS, &all);
        MPI_Error_class(code, &class);
        if (collective) {
            int both[2] = {class, -class};
            CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, base));
            check_that(both[0] == -both[1], __FILE__, __LINE__, what);
            class = both[0];
        }
        if (class == MPI_SUCCESS) return steps;
        if (!check_equal(class, MPI_ERR_NO_MEM, __FILE__, __LINE__, what)) return steps;
        bool made = made_type != MPI_DATATYPE_NULL || made_comm != MPI_COMM_NULL;
        if (!check_that(!made && used() <= before + KEPT, __FILE__, __LINE__, what)) return steps;
    }
    check_failed(__FILE__, __LINE__, what, "there is never enough memory");
    return 0;
}

static int indexed(void) { return MPI_Type_indexed(LONG, lengths, apart, column, &made_type); }
static int indexed_c(void) { return MPI_Type_indexed_c(LONG, large_lengths, large_places, MPI_INT, &made_type); }
static int hindexed(void) { return MPI_Type_create_hindexed(LONG, lengths, places, column, &made_type); }
static int hindexed_c(void) { return MPI_Type_create_hindexed_c(LONG, large_lengths, large_places, column, &made_type); }
static int indexed_block(void) { return MPI_Type_create_indexed_block(LONG, 3, apart, MPI_INT, &made_type); }
static int hindexed_block(void) { return MPI_Type_create_hindexed_block(LONG, 3, places, MPI_INT, &made_type); }
static int structure(void) { return MPI_Type_create_struct(LONG, lengths, places, types, &made_type); }
static int subarray(void) { return MPI_Type_create_subarray(LONG, ones, ones, zeros, MPI_ORDER_C, MPI_INT, &made_type); }
static int darray(void) {
    static int block[LONG], usual[LONG];
    for (int i = 0; i < LONG; i++) block[i] = MPI_DISTRIBUTE_BLOCK, usual[i] = MPI_DISTRIBUTE_DFLT_DARG;
    return MPI_Type_create_darray(1, 0, LONG, ones, block, usual, ones, MPI_ORDER_FORTRAN, MPI_INT, &made_type);
}

static void datatypes(void) {
    static const struct {
        int (*make)(void);
        const char *name;
        int items, times;
    } all[] = {
        // The mean length of a block is 3 / 2 items of 3 integers.
        {indexed, "MPI_Type_indexed", 9, 2},         {indexed_c, "MPI_Type_indexed_c", 3, 2},
        {hindexed, "MPI_Type_create_hindexed", 9, 2}, {hindexed_c, "MPI_Type_create_hindexed_c", 9, 2},
        {indexed_block, "MPI_Type_create_indexed_block", 3, 1}, {hindexed_block, "MPI_Type_create_hindexed_block", 3, 1},
        {structure, "MPI_Type_create_struct", 0, 0},  {subarray, "MPI_Type_create_subarray", 1, LONG},
        {darray, "MPI_Type_create_darray", 1, LONG},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int failed = failures(all[i].make, true, false, all[i].name);
        check_that(failed > 0, __FILE__, __LINE__, all[i].name);
        MPI_Count size;
        CHECK_OK(MPI_Type_size_x(made_type, &size));
        if (all[i].times) CHECK_EQ(size, (MPI_Count)LONG * all[i].items / all[i].times * (int)sizeof(int));
        CHECK_OK(MPI_Type_free(&made_type));
    }
}

static int graph_create(void) { return MPI_Graph_create(base, check_size, index_of, ends, 1, &made_comm); }
static int adjacent(void) {
    return MPI_Dist_graph_create_adjacent(base, degree, ends, ones, degree, ends, ones, MPI_INFO_NULL, 1, &made_comm);
}
static int dist_graph(void) {
    return MPI_Dist_graph_create(base, 1, &check_rank, &degree, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made_comm);
}
static int cart_create(void) { return MPI_Cart_create(base, LONG, ones, zeros, 1, &made_comm); }
static int cart_sub(void) { return MPI_Cart_sub(grid, ones, &made_comm); }

// The parent carries messages, and another communicator is made of it, whoever had no memory.
static void parent_works(void) {
    MPI_Comm other;
    int sum = 1, dims = check_size, period = 1, lower, upper;
    CHECK_OK(MPI_Cart_create(base, 1, &dims, &period, 0, &other));
    CHECK_OK(MPI_Cart_shift(other, 0, 1, &lower, &upper));
    CHECK_OK(MPI_Sendrecv_replace(&sum, 1, MPI_INT, upper, 0, lower, 0, other, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, other));
    CHECK_EQ(sum, check_size);
    CHECK_OK(MPI_Comm_free(&other));
}

// Binds this process to a core that others may not have, so that topologies are reordered, for which processes tell each other edges.
static void bind(void) {
    cpu_set_t allowed, one;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int nth = check_rank % CPU_COUNT(&allowed), core = -1;
    while (nth >= 0) nth -= CPU_ISSET(++core, &allowed) != 0;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

static void communicators(void) {
    static const struct {
        int (*make)(void);
        const char *name;
    } all[] = {
        {graph_create, "MPI_Graph_create"}, {adjacent, "MPI_Dist_graph_create_adjacent"}, {dist_graph, "MPI_Dist_graph_create"},
        {cart_create, "MPI_Cart_create"},   {cart_sub, "MPI_Cart_sub"},
    };
    int failed = 0;
    ones[0] = check_size;
    CHECK_OK(MPI_Cart_create(base, LONG, ones, zeros, 0, &grid));
    for (int culprit = 0; culprit < check_size; culprit += check_size > 1 ? check_size - 1 : 1) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            failed += failures(all[i].make, check_rank == culprit, true, all[i].name);
            if (i == 1) {
                int in, out, weighted;
                CHECK_OK(MPI_Dist_graph_neighbors_count(made_comm, &in, &out, &weighted));
                CHECK(in == degree && out == degree && weighted);
            }
            CHECK_OK(MPI_Comm_free(&made_comm));
            parent_works();
        }
    }
    // The heap may have a gap for one of the lists.
    CHECK(failed > 5);
    CHECK_OK(MPI_Comm_free(&grid));
    ones[0] = 1;
}

static MPI_Comm loops;
static int *got;

static int allgather(void) { return MPI_Neighbor_allgather(&check_rank, 1, MPI_INT, got, 1, MPI_INT, loops); }
static int alltoallv(void) { return MPI_Neighbor_alltoallv(apart, ones, apart, MPI_INT, got, ones, apart, MPI_INT, loops); }
static int alltoallw(void) { return MPI_Neighbor_alltoallw(apart, ones, places, types, got, ones, places, types, loops); }
static int iallgather(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Ineighbor_allgather(&check_rank, 1, MPI_INT, got, 1, MPI_INT, loops, &request);
    CHECK((code == MPI_SUCCESS) == (request != MPI_REQUEST_NULL));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return code;
}

// Every edge leads from the process to itself, so nobody else waits for it.
static void neighbours(void) {
    for (int i = 0; i < LONG; i++) ends[i] = 0, places[i] = (MPI_Aint)i * 4, types[i] = MPI_INT, apart[i] = i;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, LONG, ends, MPI_UNWEIGHTED, LONG, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &loops));
    got = check_alloc(LONG * sizeof *got);
    CHECK(failures(allgather, true, false, "MPI_Neighbor_allgather") > 0);
    for (int i = 0; i < LONG; i++) CHECK_EQ(got[i], check_rank);
    CHECK(failures(alltoallv, true, false, "MPI_Neighbor_alltoallv") > 0);
    for (int i = 0; i < LONG; i++) CHECK_EQ(got[i], i);
    CHECK(failures(alltoallw, true, false, "MPI_Neighbor_alltoallw") > 0);
    CHECK(failures(iallgather, true, false, "MPI_Ineighbor_allgather") > 0);
    CHECK_EQ(got[LONG - 1], check_rank);
    CHECK_OK(MPI_Comm_free(&loops));
    free(got);
}

// The memory that the processes share for long lists stays; it comes before the others are counted.
static void share_memory(void) {
    int *all = check_alloc((size_t)check_size * EDGES * sizeof *all);
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Allgather(ends, EDGES, MPI_INT, all, EDGES, MPI_INT, base));
    free(all);
}

int main(int argc, char **argv) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 2 * GAP);
    check_start(argc, argv);
    separate_lists();
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &base));
    share_memory();
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &column));
    for (int i = 0; i < LONG; i++) {
        ones[i] = 1;
        large_lengths[i] = lengths[i] = 1 + i % 2;
        // The gaps differ, so that no rule describes them.
        apart[i] = 20 * i + (i % 3 == 0);
        large_places[i] = places[i] = (MPI_Aint)apart[i] * 4;
        types[i] = i % 2 ? column : MPI_DOUBLE;
    }
    degree = LONG;
    for (int i = 0; i < EDGES; i++) ends[i] = i % check_size;
    for (int i = 0; i < check_size; i++) index_of[i] = (int)((long)EDGES * (i + 1) / check_size);
    datatypes();
    bind();
    communicators();
    parent_works();
    neighbours();
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Comm_free(&base));
    return check_finish();
}
