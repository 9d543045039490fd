// Predefined operators on their types, with the results the definition gives.
#include "check.h"
#include <complex.h>
#include <limits.h>

enum { N = 37 };

// A small value of a rank at a place, the same on every rank that asks.
static int small(int rank, int i) {
    return (rank * 7 + i * 5) % 11 - 3;
}

#define FOLD(ctype, combine)                                          \
    for (int i = 0; i < N; i++) {                                     \
        ctype a = (ctype)small(0, i);                                 \
        for (int r = 1; r < check_size; r++) {                        \
            ctype b = (ctype)small(r, i);                             \
            a = (ctype)(combine);                                     \
        }                                                             \
        want[i] = a;                                                  \
    }

#define TRY(op, ctype, mpitype, combine)                                                              \
    do {                                                                                              \
        ctype out[N], in[N], want[N];                                                                 \
        for (int i = 0; i < N; i++) out[i] = (ctype)small(check_rank, i), in[i] = 0;                  \
        FOLD(ctype, combine)                                                                          \
        CHECK_OK(MPI_Allreduce(out, in, N, mpitype, op, MPI_COMM_WORLD));                             \
        for (int i = 0; i < N; i++) {                                                                 \
            if (!check_that(in[i] == want[i], __FILE__, __LINE__, #op " on " #mpitype)) break;        \
        }                                                                                             \
    } while (0)

#define ARITHMETIC(ctype, mpitype)                     \
    TRY(MPI_SUM, ctype, mpitype, a + b);               \
    TRY(MPI_PROD, ctype, mpitype, a *b);               \
    TRY(MPI_MIN, ctype, mpitype, a < b ? a : b);       \
    TRY(MPI_MAX, ctype, mpitype, a > b ? a : b)

#define INTEGER(ctype, mpitype)                        \
    ARITHMETIC(ctype, mpitype);                        \
    TRY(MPI_BAND, ctype, mpitype, a &b);               \
    TRY(MPI_BOR, ctype, mpitype, a | b);               \
    TRY(MPI_BXOR, ctype, mpitype, a ^ b);              \
    TRY(MPI_LAND, ctype, mpitype, a && b);             \
    TRY(MPI_LOR, ctype, mpitype, a || b);              \
    TRY(MPI_LXOR, ctype, mpitype, !a != !b)

static void numbers(void) {
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(int, MPI_INT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG);
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    INTEGER(int8_t, MPI_INT8_T);
    INTEGER(uint8_t, MPI_UINT8_T);
    INTEGER(int16_t, MPI_INT16_T);
    INTEGER(uint16_t, MPI_UINT16_T);
    INTEGER(int32_t, MPI_INT32_T);
    INTEGER(uint32_t, MPI_UINT32_T);
    INTEGER(int64_t, MPI_INT64_T);
    INTEGER(uint64_t, MPI_UINT64_T);
    // The standard has no logical operators for these, but every library has.
    INTEGER(MPI_Aint, MPI_AINT);
    INTEGER(MPI_Offset, MPI_OFFSET);
    INTEGER(MPI_Count, MPI_COUNT);
    ARITHMETIC(float, MPI_FLOAT);
    ARITHMETIC(double, MPI_DOUBLE);
    ARITHMETIC(long double, MPI_LONG_DOUBLE);
    TRY(MPI_SUM, float complex, MPI_C_FLOAT_COMPLEX, a + b);
    TRY(MPI_PROD, double complex, MPI_C_DOUBLE_COMPLEX, a *b);
    TRY(MPI_SUM, long double complex, MPI_C_LONG_DOUBLE_COMPLEX, a + b);
    TRY(MPI_LAND, _Bool, MPI_C_BOOL, a && b);
    TRY(MPI_LOR, _Bool, MPI_C_BOOL, a || b);
    TRY(MPI_LXOR, _Bool, MPI_C_BOOL, !a != !b);
    TRY(MPI_BAND, unsigned char, MPI_BYTE, a &b);
    TRY(MPI_BOR, unsigned char, MPI_BYTE, a | b);
    TRY(MPI_BXOR, unsigned char, MPI_BYTE, a ^ b);
}

#define LOCATE(op, vtype, mpitype, better)                                                   \
    do {                                                                                     \
        struct {                                                                             \
            vtype v;                                                                         \
            int i;                                                                           \
        } out[N], in[N];                                                                     \
        for (int i = 0; i < N; i++) out[i].v = (vtype)small(check_rank, i), out[i].i = 100 - check_rank; \
        CHECK_OK(MPI_Allreduce(out, in, N, mpitype, op, MPI_COMM_WORLD));                    \
        for (int i = 0; i < N; i++) {                                                        \
            vtype best = (vtype)small(0, i);                                                 \
            int where = 100;                                                                 \
            for (int r = 1; r < check_size; r++) {                                           \
                vtype v = (vtype)small(r, i);                                                \
                if (v better best || (v == best && 100 - r < where)) best = v, where = 100 - r; \
            }                                                                                \
            check_that(in[i].v == best && in[i].i == where, __FILE__, __LINE__, #op " on " #mpitype); \
        }                                                                                    \
    } while (0)

static void locations(void) {
    LOCATE(MPI_MINLOC, float, MPI_FLOAT_INT, <);
    LOCATE(MPI_MAXLOC, float, MPI_FLOAT_INT, >);
    LOCATE(MPI_MINLOC, double, MPI_DOUBLE_INT, <);
    LOCATE(MPI_MAXLOC, double, MPI_DOUBLE_INT, >);
    LOCATE(MPI_MINLOC, long, MPI_LONG_INT, <);
    LOCATE(MPI_MAXLOC, short, MPI_SHORT_INT, >);
    LOCATE(MPI_MINLOC, int, MPI_2INT, <);
    LOCATE(MPI_MAXLOC, int, MPI_2INT, >);
    LOCATE(MPI_MAXLOC, long double, MPI_LONG_DOUBLE_INT, >);
}

static void extremes(void) {
    int out[2] = {check_rank == 0 ? INT_MIN : INT_MAX, check_rank == check_size - 1 ? INT_MAX : INT_MIN}, in[2];
    CHECK_OK(MPI_Allreduce(out, in, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK_EQ(in[0], INT_MIN);
    CHECK_OK(MPI_Allreduce(out, in, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK_EQ(in[1], INT_MAX);
    unsigned long large = ULONG_MAX - (unsigned long)check_rank, most = 0;
    CHECK_OK(MPI_Allreduce(&large, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD));
    CHECK(most == ULONG_MAX);
}

static void wrong_pairs(void) {
    double d = 1, e = 0;
    int i = 1, j = 0;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(&i, &j, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(&i, &j, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    int commutes = -1;
    CHECK_OK(MPI_Op_commutative(MPI_SUM, &commutes));
    CHECK_EQ(commutes, 1);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    numbers();
    locations();
    extremes();
    wrong_pairs();
    return check_finish();
}
