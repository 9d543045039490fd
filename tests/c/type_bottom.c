// Data at absolute addresses (MPI_BOTTOM), types that reach below their own beginning, and types with negative extents, in
// messages of all protocols and in collectives.
// ranks: 2 3
#include "check.h"

enum { MANY = 60000 };

// A type of two arrays and a number, wherever they lie.
static MPI_Datatype absolute(int *ints, int n, double *doubles, int m, char *letter) {
    int lengths[3] = {n, m, 1};
    MPI_Aint displs[3];
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, type;
    CHECK_OK(MPI_Get_address(ints, &displs[0]));
    CHECK_OK(MPI_Get_address(doubles, &displs[1]));
    CHECK_OK(MPI_Get_address(letter, &displs[2]));
    CHECK_OK(MPI_Type_create_struct(3, lengths, displs, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void bottom(int n, int mode) {
    int *ints = check_alloc(sizeof(int) * (size_t)n), to = (check_rank + 1) % check_size;
    int *in_ints = check_alloc(sizeof(int) * (size_t)n), from = (check_rank + check_size - 1) % check_size, wrong = 0;
    double *doubles = check_alloc(sizeof(double) * (size_t)n), *in_doubles = check_alloc(sizeof(double) * (size_t)n);
    char letter = (char)('a' + check_rank), in_letter = '-';
    MPI_Datatype out = absolute(ints, n, doubles, n, &letter);
    MPI_Datatype in = absolute(in_ints, n, in_doubles, n, &in_letter);
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < n; i++) ints[i] = i + check_rank, doubles[i] = i * 0.5 + check_rank;
    if (mode == 0) {
        CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, out, to, 1, MPI_BOTTOM, 1, in, from, 1, MPI_COMM_WORLD, &status));
    } else if (mode == 1) {
        CHECK_OK(MPI_Irecv(MPI_BOTTOM, 1, in, from, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(MPI_BOTTOM, 1, out, to, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, &status));
    } else {
        CHECK_OK(MPI_Issend(MPI_BOTTOM, 1, out, to, 1, MPI_COMM_WORLD, &request));
        MPI_Message message;
        CHECK_OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &status));
        CHECK_OK(MPI_Mrecv(MPI_BOTTOM, 1, in, &message, &status));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    int count = -1, elements = -1;
    CHECK_OK(MPI_Get_count(&status, in, &count));
    CHECK_OK(MPI_Get_elements(&status, in, &elements));
    CHECK(count == 1 && elements == 2 * n + 1);
    for (int i = 0; i < n; i++) wrong += in_ints[i] != i + from || in_doubles[i] != i * 0.5 + from;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(in_letter, 'a' + from);
    CHECK_OK(MPI_Bcast(MPI_BOTTOM, 1, out, 0, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) wrong += ints[i] != i || doubles[i] != i * 0.5;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(letter, 'a');
    CHECK_OK(MPI_Type_free(&out));
    CHECK_OK(MPI_Type_free(&in));
    free(ints), free(in_ints), free(doubles), free(in_doubles);
}

// Element i of the type lies i steps before the address given.
static void backwards(int n) {
    MPI_Datatype type, one;
    MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    int *out = check_alloc(sizeof(int) * (size_t)n), *in = check_alloc(sizeof(int) * (size_t)n), wrong = 0;
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Type_vector(n, 1, -1, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQ(lb, -(MPI_Aint)(n - 1) * (MPI_Aint)sizeof(int));
    CHECK_EQ(extent, (MPI_Aint)n * (MPI_Aint)sizeof(int));
    CHECK_OK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    CHECK(true_lb == lb && true_extent == extent);
    for (int i = 0; i < n; i++) out[i] = i + check_rank;
    // Elements that are sent forwards arrive backwards.
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, 1, in + n - 1, 1, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) wrong += in[i] != n - 1 - i + from;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Sendrecv(out + n - 1, 1, type, to, 1, in, n, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) wrong += in[i] != n - 1 - i + from;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&type));
    // The same with an extent that is negative: each element lies before the last one.
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &one));
    CHECK_OK(MPI_Type_commit(&one));
    CHECK_OK(MPI_Type_get_extent(one, &lb, &extent));
    CHECK_EQ(extent, -(MPI_Aint)sizeof(int));
    memset(in, 0, sizeof(int) * (size_t)n);
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, 1, in + n - 1, n, one, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) wrong += in[i] != n - 1 - i + from;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&one));
    free(out), free(in);
}

// A type whose data begins behind or before its lower bound, several in a row.
static void moved_bounds(MPI_Aint lb, int n) {
    MPI_Datatype pair, type;
    int displs[2] = {-2, 1}, wrong = 0, *base, *in, to = (check_rank + 1) % check_size;
    int from = (check_rank + check_size - 1) % check_size;
    size_t room = (size_t)n * 8 + 64;
    CHECK_OK(MPI_Type_create_indexed_block(2, 1, displs, MPI_INT, &pair));
    CHECK_OK(MPI_Type_create_resized(pair, lb, 8 * sizeof(int), &type));
    CHECK_OK(MPI_Type_commit(&type));
    base = check_alloc(room * sizeof(int)), in = check_alloc(room * sizeof(int));
    for (size_t i = 0; i < room; i++) base[i] = (int)i + check_rank, in[i] = -1;
    CHECK_OK(MPI_Sendrecv(base + 32, n, type, to, 1, in + 32, n, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < (int)room; i++) {
        int at = i - 30;
        bool data = at >= 0 && at < 8 * n && (at % 8 == 0 || at % 8 == 3);
        wrong += in[i] != (data ? i + from : -1);
    }
    CHECK_EQ(wrong, 0);
    // The collectives find the data in the same way.
    int *all = check_alloc(room * sizeof(int) * (size_t)check_size);
    for (size_t i = 0; i < room * (size_t)check_size; i++) all[i] = -1;
    CHECK_OK(MPI_Allgather(base + 32, n, type, all + 32, n, type, MPI_COMM_WORLD));
    for (int r = 0; r < check_size; r++) {
        for (int k = 0; k < n; k++) {
            int *slot = all + 32 + (r * n + k) * 8, source = 32 + k * 8;
            wrong += slot[-2] != source - 2 + r || slot[1] != source + 1 + r || slot[0] != -1;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&type));
    free(base), free(in), free(all);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int mode = 0; mode < 3; mode++) {
        bottom(1, mode);
        bottom(700, mode);
        bottom(MANY, mode);
    }
    backwards(5);
    backwards(3000);
    backwards(MANY);
    for (int lb = -40; lb <= 40; lb += 20) {
        moved_bounds(lb, 1);
        moved_bounds(lb, 3);
        moved_bounds(lb, MANY / 10);
    }
    return check_finish();
}
