// Operators of the program: commutative or not, on predefined and derived types, in rank order where order matters.
#include "check.h"

// A 2x2 matrix over 64-bit integers; its product does not commute.
typedef struct {
    uint64_t m[4];
} matrix;

static matrix multiply(matrix a, matrix b) {
    return (matrix){{a.m[0] * b.m[0] + a.m[1] * b.m[2], a.m[0] * b.m[1] + a.m[1] * b.m[3],
                     a.m[2] * b.m[0] + a.m[3] * b.m[2], a.m[2] * b.m[1] + a.m[3] * b.m[3]}};
}

static matrix matrix_of(int rank, int i) {
    return (matrix){{(uint64_t)(rank + 2), (uint64_t)(i + 1), (uint64_t)(rank * i + 3), 5}};
}

static MPI_Datatype matrix_type;

static void product(void *in, void *inout, int *len, MPI_Datatype *type) {
    CHECK(*type == matrix_type);
    matrix *a = in, *b = inout;
    for (int i = 0; i < *len; i++) b[i] = multiply(a[i], b[i]);
}

static matrix product_of(int first, int last, int i) {
    matrix all = matrix_of(first, i);
    for (int r = first + 1; r <= last; r++) all = multiply(all, matrix_of(r, i));
    return all;
}

static void expect(const matrix *got, int n, int first, int last, int offset, const char *what) {
    for (int i = 0; i < n; i++) {
        matrix want = product_of(first, last, i + offset);
        if (!check_that(memcmp(&got[i], &want, sizeof want) == 0, __FILE__, __LINE__, what)) return;
    }
}

static void non_commutative(int n) {
    MPI_Op op;
    int p = check_size, commutes = -1;
    matrix *out = check_alloc(sizeof(matrix) * (size_t)(n * p)), *in = check_alloc(sizeof(matrix) * (size_t)(n * p));
    CHECK_OK(MPI_Op_create(product, 0, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_EQ(commutes, 0);
    for (int i = 0; i < n * p; i++) out[i] = matrix_of(check_rank, i);
    for (int root = 0; root < p; root++) {
        CHECK_OK(MPI_Reduce(out, in, n, matrix_type, op, root, MPI_COMM_WORLD));
        if (check_rank == root) expect(in, n, 0, p - 1, 0, "MPI_Reduce in rank order");
    }
    CHECK_OK(MPI_Allreduce(out, in, n, matrix_type, op, MPI_COMM_WORLD));
    expect(in, n, 0, p - 1, 0, "MPI_Allreduce in rank order");
    CHECK_OK(MPI_Scan(out, in, n, matrix_type, op, MPI_COMM_WORLD));
    expect(in, n, 0, check_rank, 0, "MPI_Scan in rank order");
    CHECK_OK(MPI_Exscan(out, in, n, matrix_type, op, MPI_COMM_WORLD));
    if (check_rank > 0) expect(in, n, 0, check_rank - 1, 0, "MPI_Exscan in rank order");
    CHECK_OK(MPI_Reduce_scatter_block(out, in, n, matrix_type, op, MPI_COMM_WORLD));
    expect(in, n, 0, p - 1, check_rank * n, "MPI_Reduce_scatter_block in rank order");
    int counts[16], place = 0;
    for (int r = 0; r < p; r++) {
        counts[r] = n > r ? n - r : 0;
        if (r < check_rank) place += counts[r];
    }
    CHECK_OK(MPI_Reduce_scatter(out, in, counts, matrix_type, op, MPI_COMM_WORLD));
    expect(in, counts[check_rank], 0, p - 1, place, "MPI_Reduce_scatter in rank order");
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    free(out);
    free(in);
}

static void add_ints(void *in, void *inout, int *len, MPI_Datatype *type) {
    CHECK(*type == MPI_INT);
    int *a = in, *b = inout;
    for (int i = 0; i < *len; i++) b[i] += a[i];
}

static void commutative(int n) {
    MPI_Op op;
    int *out = check_alloc(sizeof(int) * (size_t)n), *in = check_alloc(sizeof(int) * (size_t)n), wrong = 0;
    CHECK_OK(MPI_Op_create(add_ints, 1, &op));
    for (int i = 0; i < n; i++) out[i] = i + check_rank;
    CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) wrong += in[i] != i * check_size + check_size * (check_size - 1) / 2;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Op_free(&op));
    free(out);
    free(in);
}

// A type with gaps: the gaps of the result are not touched, those of the input not trusted.
struct padded {
    int value;
    int gap;
};

static void add_padded(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    struct padded *a = in, *b = inout;
    for (int i = 0; i < *len; i++) b[i].value += a[i].value;
}

static void with_gaps(int n) {
    MPI_Op op;
    MPI_Datatype type;
    struct padded *out = check_alloc(sizeof *out * (size_t)n), *in = check_alloc(sizeof *in * (size_t)n);
    int wrong = 0;
    CHECK_OK(MPI_Op_create(add_padded, 1, &op));
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, sizeof(struct padded), &type));
    CHECK_OK(MPI_Type_commit(&type));
    for (int i = 0; i < n; i++) out[i] = (struct padded){i + check_rank, 1}, in[i] = (struct padded){-1, 77};
    CHECK_OK(MPI_Allreduce(out, in, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) wrong += in[i].value != i * check_size + check_size * (check_size - 1) / 2 || in[i].gap != 77;
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < n; i++) in[i] = (struct padded){-1, 77};
    CHECK_OK(MPI_Reduce(out, in, n, type, op, check_size - 1, MPI_COMM_WORLD));
    for (int i = 0; i < n && check_rank == check_size - 1; i++) wrong += in[i].gap != 77;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&type));
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Type_contiguous(4, MPI_UINT64_T, &matrix_type));
    CHECK_OK(MPI_Type_commit(&matrix_type));
    static const int sizes[] = {0, 1, 3, 50, 400, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        non_commutative(sizes[s]);
        commutative(sizes[s] * 4);
        with_gaps(sizes[s]);
    }
    CHECK_OK(MPI_Type_free(&matrix_type));
    return check_finish();
}
