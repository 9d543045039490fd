// Cartesian topologies: creation, coordinates, ranks, shifts, sub-grids, MPI_Dims_create.
#include "check.h"

static void dims(void) {
    static const struct {
        int nodes, n, given[4], want[4];
    } cases[] = {
        {6, 2, {0, 0}, {3, 2}},
        {7, 2, {0, 0}, {7, 1}},
        {6, 3, {0, 3, 0}, {2, 3, 1}},
        {12, 2, {0, 0}, {4, 3}},
        {8, 3, {0, 0, 0}, {2, 2, 2}},
        {16, 2, {0, 0}, {4, 4}},
        {36, 3, {0, 0, 0}, {4, 3, 3}},
        {24, 3, {2, 0, 0}, {2, 4, 3}},
        {5, 1, {0}, {5}},
        {10, 2, {5, 2}, {5, 2}},
        {1, 3, {0, 0, 0}, {1, 1, 1}},
        {60, 3, {0, 0, 0}, {5, 4, 3}},
        {7488, 3, {0, 0, 0}, {26, 18, 16}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int got[4];
        memcpy(got, cases[c].given, sizeof got);
        CHECK_OK(MPI_Dims_create(cases[c].nodes, cases[c].n, got));
        for (int i = 0; i < cases[c].n; i++) {
            if (!CHECK_EQ(got[i], cases[c].want[i])) fprintf(stderr, "  case %zu\n", c);
        }
    }
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int bad[2] = {4, 0};
    CHECK(MPI_Dims_create(6, 2, bad) != MPI_SUCCESS);
    int rank = -77;
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, (int[]){check_size, 0}, (int[]){0, 0}, &rank));
    CHECK_EQ(rank, MPI_UNDEFINED);
    if (!oracle) CHECK_CLASS(MPI_Cart_map(MPI_COMM_WORLD, 2, (int[]){-1, 0}, (int[]){0, 0}, &rank), MPI_ERR_DIMS);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void grid(int periodic) {
    int dims[2] = {0, 0}, periods[2] = {periodic, !periodic}, got_dims[2], got_periods[2], coords[2], n = -1, status = -1, rank = -1;
    MPI_Comm cart;
    CHECK_OK(MPI_Dims_create(check_size, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    CHECK_OK(MPI_Topo_test(cart, &status));
    CHECK_EQ(status, MPI_CART);
    CHECK_OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
    CHECK_EQ(status, MPI_UNDEFINED);
    CHECK_OK(MPI_Cartdim_get(cart, &n));
    CHECK_EQ(n, 2);
    CHECK_OK(MPI_Comm_rank(cart, &rank));
    CHECK_EQ(rank, check_rank); // no reordering was asked for
    CHECK_OK(MPI_Cart_get(cart, 2, got_dims, got_periods, coords));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(got_dims[i], dims[i]);
        CHECK_EQ(!!got_periods[i], periods[i]);
    }
    CHECK(coords[0] == rank / dims[1] && coords[1] == rank % dims[1]);
    for (int r = 0; r < check_size; r++) {
        int c[2], back = -1;
        CHECK_OK(MPI_Cart_coords(cart, r, 2, c));
        CHECK(c[0] == r / dims[1] && c[1] == r % dims[1]);
        CHECK_OK(MPI_Cart_rank(cart, c, &back));
        CHECK_EQ(back, r);
    }
    // Coordinates outside a periodic dimension wrap around.
    for (int d = 0; d < 2; d++) {
        if (!periods[d]) continue;
        int c[2] = {coords[0], coords[1]}, back = -1;
        c[d] -= 2 * dims[d];
        CHECK_OK(MPI_Cart_rank(cart, c, &back));
        CHECK_EQ(back, rank);
    }
    for (int d = 0; d < 2; d++) {
        for (int by = -2; by <= 2; by++) {
            int from = -9, to = -9, want[2];
            CHECK_OK(MPI_Cart_shift(cart, d, by, &from, &to));
            for (int side = 0; side < 2; side++) {
                int c[2] = {coords[0], coords[1]};
                c[d] += side ? by : -by;
                if (periods[d]) c[d] = (c[d] % dims[d] + dims[d]) % dims[d];
                want[side] = c[d] < 0 || c[d] >= dims[d] ? MPI_PROC_NULL : c[0] * dims[1] + c[1];
            }
            CHECK_EQ(from, want[0]);
            CHECK_EQ(to, want[1]);
        }
        // A halo exchange along the dimension.
        int from, to, out = check_rank, in = -1;
        CHECK_OK(MPI_Cart_shift(cart, d, 1, &from, &to));
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, d, &in, 1, MPI_INT, from, d, cart, MPI_STATUS_IGNORE));
        CHECK_EQ(in, from == MPI_PROC_NULL ? -1 : from);
    }
    // Rows and columns.
    for (int d = 0; d < 2; d++) {
        MPI_Comm sub;
        int remain[2] = {d == 0, d == 1}, size = -1, sub_rank = -1, sub_dims, sub_periods, sub_coords;
        CHECK_OK(MPI_Cart_sub(cart, remain, &sub));
        CHECK_OK(MPI_Comm_size(sub, &size));
        CHECK_OK(MPI_Comm_rank(sub, &sub_rank));
        CHECK_EQ(size, dims[d]);
        CHECK_EQ(sub_rank, coords[d]);
        CHECK_OK(MPI_Cart_get(sub, 1, &sub_dims, &sub_periods, &sub_coords));
        CHECK(sub_dims == dims[d] && !!sub_periods == periods[d] && sub_coords == coords[d]);
        int sum = 0, want = 0;
        CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, sub));
        for (int i = 0; i < dims[d]; i++) want += d == 0 ? i * dims[1] + coords[1] : coords[0] * dims[1] + i;
        CHECK_EQ(sum, want);
        CHECK_OK(MPI_Comm_free(&sub));
    }
    // A duplicate keeps the topology.
    MPI_Comm dup;
    CHECK_OK(MPI_Comm_dup(cart, &dup));
    CHECK_OK(MPI_Topo_test(dup, &status));
    CHECK_EQ(status, MPI_CART);
    CHECK_OK(MPI_Cartdim_get(dup, &n));
    CHECK_EQ(n, 2);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&cart));
}

static void smaller_than_the_world(void) {
    MPI_Comm cart = MPI_COMM_WORLD;
    int dim = check_size > 1 ? check_size - 1 : 1, period = 0;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dim, &period, 1, &cart));
    int members = cart != MPI_COMM_NULL, sum = 0;
    CHECK_OK(MPI_Allreduce(&members, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, dim);
    if (members) CHECK_OK(MPI_Comm_free(&cart));
}

static void no_dimension(void) {
    MPI_Comm cart = MPI_COMM_NULL;
    int n = -1, rank = -1;
    CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 0, NULL, NULL, 0, &cart));
    if (!CHECK(cart != MPI_COMM_NULL)) return;
    CHECK_OK(MPI_Cartdim_get(cart, &n));
    CHECK_EQ(n, 0);
    CHECK_OK(MPI_Cart_rank(cart, NULL, &rank));
    CHECK_EQ(rank, 0);
    CHECK_OK(MPI_Comm_free(&cart));
}

static void wrong_use(void) {
    MPI_Comm cart = MPI_COMM_NULL;
    int dims[1] = {check_size + 1}, periods[1] = {0}, coords[1], rank, n;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int class = MPI_SUCCESS;
    CHECK_OK(MPI_Error_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart), &class));
    CHECK(class == MPI_ERR_DIMS || class == MPI_ERR_ARG || class == MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_rank(MPI_COMM_WORLD, coords, &rank), MPI_ERR_TOPOLOGY);
    dims[0] = check_size;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
    coords[0] = check_size;
    CHECK(MPI_Cart_rank(cart, coords, &rank) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Cart_coords(cart, check_size, 1, coords), MPI_ERR_RANK);
    // Too little room for the dimensions has no outcome that the standard specifies.
    if (!oracle) CHECK_CLASS(MPI_Cart_coords(cart, 0, 0, coords), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&cart));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    dims();
    grid(0);
    grid(1);
    smaller_than_the_world();
    no_dimension();
    wrong_use();
    return check_finish();
}
