// Predefined datatypes: size, extent, name, and a message of each.
#include "check.h"
#include <complex.h>
#include <wchar.h>

#define TYPE(handle, ctype) {handle, sizeof(ctype), #handle}

static const struct {
    MPI_Datatype type;
    size_t size;
    const char *name;
} types[] = {
    TYPE(MPI_CHAR, char),
    TYPE(MPI_SIGNED_CHAR, signed char),
    TYPE(MPI_UNSIGNED_CHAR, unsigned char),
    TYPE(MPI_BYTE, char),
    TYPE(MPI_WCHAR, wchar_t),
    TYPE(MPI_SHORT, short),
    TYPE(MPI_UNSIGNED_SHORT, unsigned short),
    TYPE(MPI_INT, int),
    TYPE(MPI_UNSIGNED, unsigned),
    TYPE(MPI_LONG, long),
    TYPE(MPI_UNSIGNED_LONG, unsigned long),
    TYPE(MPI_LONG_LONG_INT, long long),
    {MPI_LONG_LONG, sizeof(long long), "MPI_LONG_LONG_INT"},
    TYPE(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    TYPE(MPI_FLOAT, float),
    TYPE(MPI_DOUBLE, double),
    TYPE(MPI_LONG_DOUBLE, long double),
    TYPE(MPI_C_BOOL, _Bool),
    TYPE(MPI_C_COMPLEX, float complex),
    {MPI_C_FLOAT_COMPLEX, sizeof(float complex), "MPI_C_COMPLEX"},
    TYPE(MPI_C_DOUBLE_COMPLEX, double complex),
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex),
    TYPE(MPI_INT8_T, int8_t),
    TYPE(MPI_UINT8_T, uint8_t),
    TYPE(MPI_INT16_T, int16_t),
    TYPE(MPI_UINT16_T, uint16_t),
    TYPE(MPI_INT32_T, int32_t),
    TYPE(MPI_UINT32_T, uint32_t),
    TYPE(MPI_INT64_T, int64_t),
    TYPE(MPI_UINT64_T, uint64_t),
    TYPE(MPI_AINT, MPI_Aint),
    TYPE(MPI_OFFSET, MPI_Offset),
    TYPE(MPI_COUNT, MPI_Count),
};

struct float_int { float v; int i; };
struct double_int { double v; int i; };
struct long_int { long v; int i; };
struct short_int { short v; int i; };
struct long_double_int { long double v; int i; };

static const struct {
    MPI_Datatype type;
    int size;
    size_t extent;
} pairs[] = {
    {MPI_FLOAT_INT, sizeof(float) + sizeof(int), sizeof(struct float_int)},
    {MPI_DOUBLE_INT, sizeof(double) + sizeof(int), sizeof(struct double_int)},
    {MPI_LONG_INT, sizeof(long) + sizeof(int), sizeof(struct long_int)},
    {MPI_2INT, 2 * sizeof(int), 2 * sizeof(int)},
    {MPI_SHORT_INT, sizeof(short) + sizeof(int), sizeof(struct short_int)},
    {MPI_LONG_DOUBLE_INT, sizeof(long double) + sizeof(int), sizeof(struct long_double_int)},
};

static void extent_is(MPI_Datatype type, size_t want) {
    MPI_Aint lb = -1, extent = -1;
    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, want);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int peer = check_partner();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int size = -1, len = -1, ints = -1, addresses = -1, inner = -1, combiner = -1, count = -1;
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Aint lb = -1, extent = -1;
        MPI_Status status;
        CHECK_OK(MPI_Type_size(types[t].type, &size));
        if (!CHECK_EQ(size, types[t].size)) fprintf(stderr, "  the type is %s\n", types[t].name);
        extent_is(types[t].type, types[t].size);
        CHECK_OK(MPI_Type_get_true_extent(types[t].type, &lb, &extent));
        CHECK(lb == 0 && extent == (MPI_Aint)types[t].size);
        CHECK_OK(MPI_Type_get_name(types[t].type, name, &len));
        // Synonyms have the name that the standard's table gives the type.
        if (!CHECK(strcmp(name, types[t].name) == 0)) fprintf(stderr, "  %s is named %s\n", types[t].name, name);
        CHECK_EQ(len, strlen(name));
        CHECK_OK(MPI_Type_get_envelope(types[t].type, &ints, &addresses, &inner, &combiner));
        CHECK(ints == 0 && addresses == 0 && inner == 0 && combiner == MPI_COMBINER_NAMED);

        unsigned char out[8 * 32], in[8 * 32];
        pattern_fill(out, sizeof out, (unsigned)t);
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Sendrecv(out, 5, types[t].type, peer, 1, in, 8, types[t].type, peer, 1, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count(&status, types[t].type, &count));
        CHECK_EQ(count, 5);
        CHECK_PATTERN(in, 5 * types[t].size, (unsigned)t);
    }
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        int size = -1;
        CHECK_OK(MPI_Type_size(pairs[p].type, &size));
        CHECK_EQ(size, pairs[p].size);
        extent_is(pairs[p].type, pairs[p].extent);
    }
    struct double_int out[3] = {{1.5, 2}, {3.5, 4}, {5.5, 6}}, in[3] = {{0, 0}};
    CHECK_OK(MPI_Sendrecv(out, 3, MPI_DOUBLE_INT, peer, 2, in, 3, MPI_DOUBLE_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) CHECK(in[i].v == out[i].v && in[i].i == out[i].i);
    int packed_size = -1;
    CHECK_OK(MPI_Type_size(MPI_PACKED, &packed_size));
    CHECK_EQ(packed_size, 1);
    return check_finish();
}
