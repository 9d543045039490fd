// One rank passes the same memory as send and receive buffer: it alone gets MPI_ERR_BUFFER, from the call or from its
// request. No other rank waits for it, and all have the results of the data that it passed.
// ranks: 1-5
// oracle: skip the other ranks wait for ever
#include "check.h"

enum { LONG = 20000, MOST_RANKS = 5 };

static int out[LONG * MOST_RANKS], in[LONG * MOST_RANKS];
static int counts[MOST_RANKS], displs[MOST_RANKS];
static int wrong;
static MPI_Comm comm, ring;

// Which call is made, and how its request is completed.
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

// The value that rank `rank` gives at a place of its data.
static int value(int rank, int i) { return (rank + 1) * 1000 + i % 7; }

static void check_result(int code, bool mine, const char *what) {
    int class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    check_that(class == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), __FILE__, __LINE__, what);
}

#define RUN(mine, Name, name, ...) \
    do { \
        MPI_Request request = MPI_REQUEST_NULL; \
        if (form == BLOCKING) { \
            check_result(MPI_##Name(__VA_ARGS__), mine, #Name); \
        } else if (form == NONBLOCKING) { \
            CHECK_OK(MPI_I##name(__VA_ARGS__, &request)); \
            check_result(MPI_Wait(&request, MPI_STATUS_IGNORE), mine, "MPI_I" #name); \
        } else { \
            CHECK_OK(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)); \
            CHECK_OK(MPI_Start(&request)); \
            check_result(MPI_Wait(&request, MPI_STATUS_IGNORE), mine, "MPI_" #Name "_init"); \
            CHECK_OK(MPI_Request_free(&request)); \
        } \
    } while (0)

// What a rank passes: fills its send buffer with blocks of that many elements, and gives the address of the receive buffer.
static int *prepare(bool aliased, int n) {
    for (int i = 0; i < n * (check_size > 1 ? check_size : 2); i++) {
        out[i] = value(check_rank, i);
        in[i] = -1;
    }
    return aliased ? out : in;
}

static void check_blocks(const int *got, int n, int from, const char *what) {
    for (int r = 0; r < check_size; r++) {
        bool right = true;
        for (int i = 0; i < n; i++) right &= got[r * n + i] == value(r, i + from);
        if (!check_that(right, __FILE__, __LINE__, what)) return;
    }
}

static int sum_of(int first, int last, int i) {
    int sum = 0;
    for (int r = first; r <= last; r++) sum += value(r, i);
    return sum;
}

static void check_sums(const int *got, int n, int first, int last, int from, const char *what) {
    bool right = true;
    for (int i = 0; i < n; i++) right &= got[i] == sum_of(first, last, i + from);
    check_that(right, __FILE__, __LINE__, what);
}

static void moves(enum form form, int n) {
    int root = wrong, last = check_size - 1;
    bool mine = check_rank == wrong;
    int *to = prepare(mine, n);
    for (int r = 0; r < check_size; r++) counts[r] = n, displs[r] = n * r;
    RUN(mine, Gather, gather, out, n, MPI_INT, to, n, MPI_INT, root, comm);
    if (check_rank == root) check_blocks(to, n, 0, "gathered");
    to = prepare(mine, n);
    RUN(mine, Gatherv, gatherv, check_rank == root ? out + n * root : out, n, MPI_INT, to, counts, displs, MPI_INT, root, comm);
    if (check_rank != wrong) CHECK_EQ(to[0], -1);
    to = prepare(mine, n);
    RUN(mine, Scatter, scatter, out, n, MPI_INT, to, n, MPI_INT, root, comm);
    CHECK_EQ(to[n - 1], value(root, n * (check_rank + 1) - 1));
    to = prepare(mine, n);
    RUN(mine, Scatterv, scatterv, out, counts, displs, MPI_INT, mine ? out + n * root : to, n, MPI_INT, root, comm);
    if (!mine) CHECK_EQ(to[n - 1], value(root, n * (check_rank + 1) - 1));
    to = prepare(mine, n);
    RUN(mine, Allgather, allgather, out, n, MPI_INT, to, n, MPI_INT, comm);
    check_blocks(to, n, 0, "MPI_Allgather");
    to = prepare(mine, n);
    RUN(mine, Allgatherv, allgatherv, mine ? out + n * root : out, n, MPI_INT, to, counts, displs, MPI_INT, comm);
    if (!mine) CHECK_EQ(to[n * last], value(last, last == wrong ? n * last : 0));
    to = prepare(mine, n);
    RUN(mine, Alltoall, alltoall, out, n, MPI_INT, to, n, MPI_INT, comm);
    check_blocks(to, n, n * check_rank, "MPI_Alltoall");
    to = prepare(mine, n);
    RUN(mine, Alltoallv, alltoallv, out, counts, displs, MPI_INT, to, counts, displs, MPI_INT, comm);
    check_blocks(to, n, n * check_rank, "MPI_Alltoallv");
    to = prepare(mine, n);
    RUN(mine, Neighbor_allgather, neighbor_allgather, out, n, MPI_INT, to, n, MPI_INT, ring);
    CHECK_EQ(to[n - 1], value((check_rank + last) % check_size, n - 1));
    to = prepare(mine, n);
    RUN(mine, Neighbor_alltoall, neighbor_alltoall, out, n, MPI_INT, to, n, MPI_INT, ring);
    // The second block of the rank before. With fewer ranks both edges are between the same two.
    if (check_size > 2) CHECK_EQ(to[n - 1], value((check_rank + last) % check_size, 2 * n - 1));
}

static void reductions(enum form form, int n) {
    int last = check_size - 1;
    bool mine = check_rank == wrong;
    int *to = prepare(mine, n);
    RUN(mine, Allreduce, allreduce, out, to, n, MPI_INT, MPI_SUM, comm);
    check_sums(to, n, 0, last, 0, "MPI_Allreduce");
    to = prepare(mine, n);
    RUN(mine, Reduce, reduce, out, to, n, MPI_INT, MPI_SUM, wrong, comm);
    if (mine) check_sums(to, n, 0, last, 0, "MPI_Reduce");
    to = prepare(mine, n);
    RUN(mine, Scan, scan, out, to, n, MPI_INT, MPI_SUM, comm);
    check_sums(to, n, 0, check_rank, 0, "MPI_Scan");
    to = prepare(mine, n);
    RUN(mine, Exscan, exscan, out, to, n, MPI_INT, MPI_SUM, comm);
    if (check_rank > 0) check_sums(to, n, 0, check_rank - 1, 0, "MPI_Exscan");
    to = prepare(mine, n);
    RUN(mine, Reduce_scatter_block, reduce_scatter_block, out, to, n, MPI_INT, MPI_SUM, comm);
    check_sums(to, n, 0, last, n * check_rank, "MPI_Reduce_scatter_block");
    to = prepare(mine, n);
    RUN(mine, Reduce_scatter, reduce_scatter, out, to, counts, MPI_INT, MPI_SUM, comm);
    check_sums(to, n, 0, last, n * check_rank, "MPI_Reduce_scatter");
}

int main(int argc, char **argv) {
    static const int sizes[] = {1, 100, LONG};
    check_start(argc, argv);
    int dims[] = {check_size}, periods[] = {1};
    int before, after;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Cart_create(comm, 1, dims, periods, 0, &ring));
    CHECK_OK(MPI_Cart_shift(ring, 0, 1, &before, &after));
    // The first operations go by messages, the later ones through shared memory.
    for (int round = 0; round < 3; round++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (enum form form = BLOCKING; form < FORMS; form++) {
                wrong = (round + (int)s) % check_size;
                moves(form, sizes[s]);
                reductions(form, sizes[s]);
            }
        }
    }
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
