// Accumulates of every predefined operator on every predefined type, against MPI_Reduce_local; compare-and-swap on every type that
// it takes; the order of one process's accumulates. On windows of every kind, also at unaligned places.
// variants: elements ranges
// settings ranges: HEDDLE_ACCUMULATE_GRANULARITY=20
// oracle: skip it ends the program by an assertion of its own where an operator is not defined on a type
#include "win_flavors.h"

#include <complex.h>

enum { N = 5, WIDEST = 32, SLOT = 4096 };

static int small(int seed, int i) { return (seed * 7 + i * 5) % 6; }

#define NUMBER(name, ctype) \
    static void fill_##name(void *to, int i, int seed) { *(ctype *)to = (ctype)small(seed, i); }
#define PAIR(name, ctype)                                                                \
    static void fill_##name(void *to, int i, int seed) {                                 \
        struct {                                                                         \
            ctype value;                                                                 \
            int index;                                                                   \
        } pair = {(ctype)small(seed, i), seed % 3 + i % 2};                              \
        memcpy(to, &pair, sizeof pair);                                                  \
    }
#define TWO(name, ctype)                                                     \
    static void fill_##name(void *to, int i, int seed) {                     \
        ctype pair[] = {(ctype)small(seed, i), (ctype)(seed % 3 + i % 2)};   \
        memcpy(to, pair, sizeof pair);                                       \
    }
NUMBER(int8, int8_t)
NUMBER(int16, int16_t)
NUMBER(int32, int32_t)
NUMBER(int64, int64_t)
NUMBER(truth, _Bool)
NUMBER(float, float)
NUMBER(double, double)
NUMBER(long_double, long double)
NUMBER(float_complex, float complex)
NUMBER(double_complex, double complex)
NUMBER(long_double_complex, long double complex)
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(short_int, short)
PAIR(long_double_int, long double)
TWO(two_int, int)
TWO(two_real, float)
TWO(two_double, double)

struct kind {
    const char *name;
    MPI_Datatype type;
    size_t extent;
    void (*fill)(void *to, int i, int seed);
    // MPI_Compare_and_swap takes it.
    bool swaps;
};

#define KIND(type, len, name, swaps) {#type, type, len, fill_##name, swaps}

static struct kind *kinds(size_t *count) {
    static struct kind all[64];
    const struct kind list[] = {
        KIND(MPI_SIGNED_CHAR, 1, int8, true), KIND(MPI_UNSIGNED_CHAR, 1, int8, true), KIND(MPI_BYTE, 1, int8, true),
        KIND(MPI_SHORT, 2, int16, true), KIND(MPI_UNSIGNED_SHORT, 2, int16, true), KIND(MPI_INT, 4, int32, true),
        KIND(MPI_UNSIGNED, 4, int32, true), KIND(MPI_LONG, 8, int64, true), KIND(MPI_UNSIGNED_LONG, 8, int64, true),
        KIND(MPI_LONG_LONG, 8, int64, true), KIND(MPI_UNSIGNED_LONG_LONG, 8, int64, true), KIND(MPI_INT8_T, 1, int8, true),
        KIND(MPI_INT16_T, 2, int16, true), KIND(MPI_INT32_T, 4, int32, true), KIND(MPI_INT64_T, 8, int64, true),
        KIND(MPI_UINT8_T, 1, int8, true), KIND(MPI_UINT16_T, 2, int16, true), KIND(MPI_UINT32_T, 4, int32, true),
        KIND(MPI_UINT64_T, 8, int64, true), KIND(MPI_AINT, 8, int64, true), KIND(MPI_OFFSET, 8, int64, true),
        KIND(MPI_COUNT, 8, int64, true), KIND(MPI_C_BOOL, 1, truth, true), KIND(MPI_INTEGER, 4, int32, true),
        KIND(MPI_INTEGER1, 1, int8, true), KIND(MPI_INTEGER2, 2, int16, true), KIND(MPI_INTEGER4, 4, int32, true),
        KIND(MPI_INTEGER8, 8, int64, true), KIND(MPI_LOGICAL, 4, truth, true), KIND(MPI_CHAR, 1, int8, true),
        KIND(MPI_FLOAT, 4, float, false), KIND(MPI_DOUBLE, 8, double, false), KIND(MPI_LONG_DOUBLE, 16, long_double, false),
        KIND(MPI_REAL, 4, float, false), KIND(MPI_DOUBLE_PRECISION, 8, double, false), KIND(MPI_REAL4, 4, float, false),
        KIND(MPI_REAL8, 8, double, false), KIND(MPI_COMPLEX, 8, float_complex, false),
        KIND(MPI_DOUBLE_COMPLEX, 16, double_complex, false), KIND(MPI_C_FLOAT_COMPLEX, 8, float_complex, false),
        KIND(MPI_C_DOUBLE_COMPLEX, 16, double_complex, false), KIND(MPI_C_LONG_DOUBLE_COMPLEX, 32, long_double_complex, false),
        KIND(MPI_FLOAT_INT, 8, float_int, false), KIND(MPI_DOUBLE_INT, 16, double_int, false),
        KIND(MPI_LONG_INT, 16, long_int, false), KIND(MPI_SHORT_INT, 8, short_int, false), KIND(MPI_2INT, 8, two_int, false),
        KIND(MPI_LONG_DOUBLE_INT, 32, long_double_int, false), KIND(MPI_2REAL, 8, two_real, false),
        KIND(MPI_2DOUBLE_PRECISION, 16, two_double, false), KIND(MPI_2INTEGER, 8, two_int, false),
    };
    *count = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        MPI_Count size = MPI_UNDEFINED;
        // A library need not have Fortran's types.
        if (list[i].type == MPI_DATATYPE_NULL || MPI_Type_size_c(list[i].type, &size) != MPI_SUCCESS || size <= 0) continue;
        all[(*count)++] = list[i];
    }
    return all;
}

struct operator {
    const char *name;
    MPI_Op op;
};

static const struct operator operators[] = {
    {"MPI_MAX", MPI_MAX},       {"MPI_MIN", MPI_MIN},         {"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD}, {"MPI_LAND", MPI_LAND},
    {"MPI_BAND", MPI_BAND},     {"MPI_LOR", MPI_LOR},         {"MPI_BOR", MPI_BOR},   {"MPI_LXOR", MPI_LXOR}, {"MPI_BXOR", MPI_BXOR},
    {"MPI_MINLOC", MPI_MINLOC}, {"MPI_MAXLOC", MPI_MAXLOC},   {"MPI_REPLACE", MPI_REPLACE}, {"MPI_NO_OP", MPI_NO_OP},
};

static struct flavored at;
static int next;

// The data of N elements without gaps, in a form that is the same for equal data.
static void packed(const void *data, int n, const struct kind *kind, char *out) {
    int position = 0;
    memset(out, 0, N * WIDEST);
    CHECK_OK(MPI_Pack(data, n, kind->type, out, N * WIDEST, &position, MPI_COMM_SELF));
    // A long double has 10 bytes of data in its 16.
    bool pair = kind->fill == fill_long_double_int, two = kind->fill == fill_long_double_complex;
    if (!pair && !two && kind->fill != fill_long_double) return;
    int step = pair ? position / n : 16;
    for (int i = 0; i < position; i += step) memset(out + i + 10, 0, 6);
}

static void same(const void *got, const void *want, int n, const struct kind *kind, const struct operator *op, const char *what) {
    char a[N * WIDEST], b[N * WIDEST];
    packed(got, n, kind, a);
    packed(want, n, kind, b);
    if (memcmp(a, b, sizeof a) == 0) return;
    char detail[160];
    snprintf(detail, sizeof detail, "%s of %s with %s, %s", what, kind->name, op->name, flavor_names[at.flavor]);
    check_failed(__FILE__, __LINE__, "data", detail);
}

static void fill(char *to, const struct kind *kind, int seed) {
    memset(to, 0, N * WIDEST);
    for (int i = 0; i < N; i++) kind->fill(to + (size_t)i * kind->extent, i, seed);
}

static int reduce(const struct operator *op, const void *in, void *inout, const struct kind *kind) {
    if (op->op == MPI_NO_OP) return MPI_SUCCESS;
    if (op->op == MPI_REPLACE) {
        memcpy(inout, in, N * WIDEST);
        return MPI_SUCCESS;
    }
    return MPI_Reduce_local(in, inout, N, kind->type, op->op);
}

static void try(const struct kind *kind, const struct operator *op, MPI_Aint disp, int seed) {
    _Alignas(16) char operand[N * WIDEST], start[N * WIDEST], want[N * WIDEST], got[N * WIDEST];
    disp += at.bases[next] + check_rank * SLOT;
    fill(operand, kind, seed);
    fill(start, kind, seed + 3);
    memcpy(want, start, sizeof want);
    MPI_Win win = at.win;
    int class = MPI_SUCCESS, code = reduce(op, operand, want, kind);
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        CHECK_EQ(class, MPI_ERR_OP);
        // tests/c/leniency.c is about the types on which accumulates accept more than reductions do.
        if (strncmp(kind->name, "MPI_INTEGER", 11) == 0) return;
        CHECK_CLASS(MPI_Accumulate(operand, N, kind->type, next, disp, N, kind->type, op->op, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Get_accumulate(operand, N, kind->type, got, N, kind->type, next, disp, N, kind->type, op->op, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Fetch_and_op(operand, got, kind->type, next, disp, op->op, win), MPI_ERR_OP);
        return;
    }
    CHECK_OK(MPI_Put(start, N, kind->type, next, disp, N, kind->type, win));
    CHECK_OK(MPI_Win_flush(next, win));
    if (op->op != MPI_NO_OP) {
        CHECK_OK(MPI_Accumulate(operand, N, kind->type, next, disp, N, kind->type, op->op, win));
        CHECK_OK(MPI_Win_flush(next, win));
        memset(got, 0, sizeof got);
        CHECK_OK(MPI_Get(got, N, kind->type, next, disp, N, kind->type, win));
        CHECK_OK(MPI_Win_flush(next, win));
        same(got, want, N, kind, op, "accumulate");
        CHECK_OK(MPI_Put(start, N, kind->type, next, disp, N, kind->type, win));
        CHECK_OK(MPI_Win_flush(next, win));
    }
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Get_accumulate(operand, N, kind->type, got, N, kind->type, next, disp, N, kind->type, op->op, win));
    CHECK_OK(MPI_Win_flush(next, win));
    same(got, start, N, kind, op, "the result of get-accumulate");
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, got, N, kind->type, next, disp, N, kind->type, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(next, win));
    same(got, want, N, kind, op, "get-accumulate");
    CHECK_OK(MPI_Put(start, N, kind->type, next, disp, N, kind->type, win));
    CHECK_OK(MPI_Win_flush(next, win));
    for (int i = 0; i < N; i++) {
        size_t place = (size_t)i * kind->extent;
        memset(got, 0, sizeof got);
        CHECK_OK(MPI_Fetch_and_op(operand + place, got, kind->type, next, disp + (MPI_Aint)place, op->op, win));
        CHECK_OK(MPI_Win_flush(next, win));
        same(got, start + place, 1, kind, op, "the result of fetch-and-op");
    }
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Get(got, N, kind->type, next, disp, N, kind->type, win));
    CHECK_OK(MPI_Win_flush(next, win));
    same(got, want, N, kind, op, "fetch-and-op");
}

static void swap(const struct kind *kind, MPI_Aint disp) {
    char first[N * WIDEST], second[N * WIDEST], got[N * WIDEST] = {0};
    const struct operator none = {"compare-and-swap", MPI_NO_OP};
    disp += at.bases[next] + check_rank * SLOT;
    fill(first, kind, 0);
    fill(second, kind, 1);
    size_t len = kind->extent;
    CHECK_OK(MPI_Put(first, 1, kind->type, next, disp, 1, kind->type, at.win));
    CHECK_OK(MPI_Win_flush(next, at.win));
    if (!kind->swaps) {
        CHECK_CLASS(MPI_Compare_and_swap(second, first, got, kind->type, next, disp, at.win), MPI_ERR_TYPE);
        return;
    }
    // Equal: swapped. Different: not.
    CHECK_OK(MPI_Compare_and_swap(second, first, got, kind->type, next, disp, at.win));
    CHECK_OK(MPI_Win_flush(next, at.win));
    CHECK(memcmp(got, first, len) == 0);
    CHECK_OK(MPI_Compare_and_swap(first, first, got, kind->type, next, disp, at.win));
    CHECK_OK(MPI_Win_flush(next, at.win));
    CHECK(memcmp(got, second, len) == 0);
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_Get(got, 1, kind->type, next, disp, 1, kind->type, at.win));
    CHECK_OK(MPI_Win_flush(next, at.win));
    same(got, second, 1, kind, &none, "value");
}

// One process's accumulates to one place happen in the order of the calls.
static void order(void) {
    MPI_Aint disp = at.bases[next] + check_rank * SLOT;
    enum { STEPS = 50 };
    long values[STEPS], seen[STEPS], one = 1, last = -1;
    for (int i = 0; i < STEPS; i++) {
        values[i] = i * 10;
        CHECK_OK(MPI_Accumulate(&values[i], 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_REPLACE, at.win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_SUM, at.win));
        if (i % 2) CHECK_OK(MPI_Fetch_and_op(NULL, &seen[i], MPI_LONG, next, disp, MPI_NO_OP, at.win));
        if (i % 2 == 0) CHECK_OK(MPI_Get_accumulate(&one, 1, MPI_LONG, &seen[i], 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_SUM, at.win));
    }
    CHECK_OK(MPI_Win_flush(next, at.win));
    for (int i = 0; i < STEPS; i++) CHECK_EQ(seen[i], i * 10 + 1);
    CHECK_OK(MPI_Get(&last, 1, MPI_LONG, next, disp, 1, MPI_LONG, at.win));
    CHECK_OK(MPI_Win_flush(next, at.win));
    CHECK_EQ(last, (STEPS - 1) * 10 + 1);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    next = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    size_t count;
    const struct kind *all = kinds(&count);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        at = flavored_make(flavor, (size_t)check_size * SLOT, MPI_COMM_WORLD);
        if (!oracle && strcmp(argv[argc - 1], "ranges") == 0) check_granularity(at.win, "20");
        CHECK_OK(MPI_Win_set_errhandler(at.win, MPI_ERRORS_RETURN));
        CHECK_OK(MPI_Win_lock_all(0, at.win));
        for (size_t k = 0; k < count; k++) {
            for (size_t o = 0; o < sizeof operators / sizeof *operators; o++) {
                for (int seed = 0; seed < 3; seed++) try(&all[k], &operators[o], seed == 1 ? 3 : 64 * seed, seed);
            }
            swap(&all[k], 0);
            swap(&all[k], 5);
        }
        order();
        CHECK_OK(MPI_Win_unlock_all(at.win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    return check_finish();
}
