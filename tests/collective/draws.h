/* The random numbers, which are the same on all ranks, and the check of the results. */
#ifndef DRAWS_H
#define DRAWS_H

#include "layout.h"

static int rank, size, failures;
static long operation, largest;
static uint64_t state;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t below)
{
    state = mix(state);
    return state % below;
}

/* The `index`-th int that `from` sends to `to`. */
static int value(int from, int to, long index)
{
    uint64_t x = mix((uint64_t)operation * 31 + (uint64_t)from);
    return (int)(mix(mix(x + (uint64_t)to) + (uint64_t)index) & 0x7fffffff);
}

/* A number of ints that all types divide: often few, and enough larger ones on both sides of all switch points. */
static long draw_ints(void)
{
    static const long most_twelves[] = {2, 4, 4, 200, 1000, 2500};
    long most = most_twelves[draw(6)];
    if (!draw(24) || most > largest / 12)
        most = largest / 12;
    return 12 * (long)draw((uint64_t)most + 1);
}

/* A type for each rank. */
static const struct type *draw_types(void)
{
    const struct type *mine = NULL;
    int same = draw(2) != 0, common = (int)draw((uint64_t)type_count);
    for (int r = 0; r < size; r++) {
        int which = (int)draw((uint64_t)type_count);
        if (r == rank)
            mine = &types[same ? common : which];
    }
    return mine;
}

static void verify(const char *what, int code, struct array *array)
{
    long where = 0;
    if (code == MPI_SUCCESS && (!array || is_as_expected(array, &where)))
        return;
    if (failures++ < 5)
        fprintf(stderr, "rank %d of %d, operation %ld: %s: code %d, wrong at byte %ld (%s)\n", rank, size, operation,
                what, code, where, array ? array->type->name : "");
}

#endif
