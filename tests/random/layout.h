// How the elements of a message lie in memory: one signature (n elements of a base type), many type maps.
#ifndef HEDDLE_TEST_LAYOUT_H
#define HEDDLE_TEST_LAYOUT_H

#include "../c/check.h"

enum shape { PLAIN, WRAPPED, STRIDED, RESIZED, SCATTERED, SHAPES };

static const struct {
    MPI_Datatype type;
    size_t size;
} bases[] = {{MPI_BYTE, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}};
enum { BASES = sizeof bases / sizeof *bases };

struct layout {
    enum shape shape;
    int base;
    int n;     // elements
    int block; // elements in a block of STRIDED
};

// A handle and a count that describe the layout to MPI.
struct mapped {
    MPI_Datatype type;
    int count;
    bool derived;
};

// Where element k lies, in elements.
static size_t layout_index(const struct layout *l, int k) {
    switch (l->shape) {
    case STRIDED: return (size_t)(k / l->block) * (size_t)(2 * l->block) + (size_t)(k % l->block);
    case RESIZED: return 2 * (size_t)k;
    case SCATTERED: return k < l->n / 2 ? (size_t)(k + l->n - l->n / 2 + 3) : (size_t)(k - l->n / 2);
    default: return (size_t)k;
    }
}

static size_t layout_bytes(const struct layout *l) {
    return bases[l->base].size * (size_t)(2 * l->n + 2 * l->block + 8);
}

static struct mapped layout_map(const struct layout *l) {
    struct mapped m = {bases[l->base].type, l->n, true};
    MPI_Datatype base = bases[l->base].type;
    int blocks = l->n / l->block, rest = l->n % l->block;
    switch (l->shape) {
    case WRAPPED:
        CHECK_OK(MPI_Type_contiguous(l->n, base, &m.type));
        m.count = 1;
        break;
    case STRIDED: {
        m.count = 1;
        if (rest == 0) {
            CHECK_OK(MPI_Type_vector(blocks, l->block, 2 * l->block, base, &m.type));
            break;
        }
        int *lengths = check_alloc(sizeof(int) * (size_t)(blocks + 1)), *displs = check_alloc(sizeof(int) * (size_t)(blocks + 1));
        for (int b = 0; b <= blocks; b++) lengths[b] = b < blocks ? l->block : rest, displs[b] = 2 * l->block * b;
        CHECK_OK(MPI_Type_indexed(blocks + 1, lengths, displs, base, &m.type));
        free(lengths);
        free(displs);
        break;
    }
    case RESIZED: CHECK_OK(MPI_Type_create_resized(base, 0, (MPI_Aint)(2 * bases[l->base].size), &m.type)); break;
    case SCATTERED: {
        int first = l->n / 2, second = l->n - first;
        MPI_Aint displs[2] = {(MPI_Aint)bases[l->base].size * (second + 3), 0};
        CHECK_OK(MPI_Type_create_struct(2, (int[]){first, second}, displs, (MPI_Datatype[]){base, base}, &m.type));
        m.count = 1;
        break;
    }
    default: m.derived = false; return m;
    }
    CHECK_OK(MPI_Type_commit(&m.type));
    return m;
}

static void layout_unmap(struct mapped *m) {
    if (m->derived) CHECK_OK(MPI_Type_free(&m->type));
}

enum { GAP = 0xC3 };

// A buffer of the layout with the pattern of the seed in its elements and GAP between them.
static unsigned char *layout_filled(const struct layout *l, unsigned seed) {
    size_t size = bases[l->base].size, len = layout_bytes(l);
    unsigned char *buf = check_alloc(len);
    memset(buf, GAP, len);
    for (int k = 0; k < l->n; k++) {
        for (size_t b = 0; b < size; b++) buf[layout_index(l, k) * size + b] = pattern_byte(seed, (size_t)k * size + b);
    }
    return buf;
}

static unsigned char *layout_blank(const struct layout *l) {
    size_t len = layout_bytes(l);
    unsigned char *buf = check_alloc(len);
    memset(buf, GAP, len);
    return buf;
}

// True when the buffer has the pattern in its elements and nothing else was written. Leaves only GAP in the buffer.
static bool layout_holds(const struct layout *l, unsigned char *buf, unsigned seed) {
    size_t size = bases[l->base].size, len = layout_bytes(l);
    bool right = true;
    for (int k = 0; k < l->n; k++) {
        for (size_t b = 0; b < size; b++) {
            unsigned char *at = &buf[layout_index(l, k) * size + b];
            right &= *at == pattern_byte(seed, (size_t)k * size + b);
            *at = GAP;
        }
    }
    for (size_t i = 0; i < len; i++) right &= buf[i] == GAP;
    return right;
}

#endif
