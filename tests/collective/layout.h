/* Datatypes made of ints, and arrays of them whose every byte is checked: data, gaps, and what lies around. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INTS = 4, AROUND = 64, FILL = 0x5a };

struct type {
    const char *name;
    MPI_Datatype handle;
    int ints;             /* in one element */
    int offset[MOST_INTS]; /* of each in bytes, in the order of the type map */
    long extent;
};

static struct type types[16];
static int type_count;

static struct type *add_type(const char *name, MPI_Datatype handle, long extent, int ints, const int *offsets)
{
    struct type *type = &types[type_count++];
    *type = (struct type){.name = name, .handle = handle, .ints = ints, .extent = extent};
    memcpy(type->offset, offsets, (size_t)ints * sizeof(int));
    return type;
}

static int committed(MPI_Datatype *handle)
{
    return MPI_Type_commit(handle) == MPI_SUCCESS;
}

/* Makes the types; where constructors are missing it says so and goes on with the predefined ones. */
static void make_types(int rank)
{
    MPI_Datatype handle, inner;
    add_type("MPI_INT", MPI_INT, 4, 1, (int[]){0});
    add_type("MPI_2INT", MPI_2INT, 8, 2, (int[]){0, 4});
    if (MPI_Type_vector(2, 1, 2, MPI_INT, &handle) != MPI_SUCCESS || !committed(&handle)) {
        if (rank == 0)
            printf("skipped: derived datatypes, which the library does not build\n");
        return;
    }
    add_type("vector with a gap", handle, 12, 2, (int[]){0, 8});
    MPI_Type_contiguous(3, MPI_INT, &handle);
    if (committed(&handle))
        add_type("three ints", handle, 12, 3, (int[]){0, 4, 8});
    MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){8, 0}, MPI_INT, &handle);
    if (committed(&handle))
        add_type("backwards", handle, 12, 2, (int[]){8, 0});
    MPI_Type_create_resized(MPI_INT, -4, 12, &handle);
    if (committed(&handle))
        add_type("lower bound below zero", handle, 12, 1, (int[]){0});
    MPI_Type_create_hindexed(1, (int[]){2}, (MPI_Aint[]){8}, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 4, 20, &handle);
    if (committed(&handle))
        add_type("data behind the address", handle, 20, 2, (int[]){8, 12});
    MPI_Type_create_resized(MPI_2INT, 0, -8, &handle);
    if (committed(&handle))
        add_type("growing downwards", handle, -8, 2, (int[]){0, 4});
}

/* Memory for elements from number 0 to `elements` - 1, in which the bytes of data are known one by one. */
struct array {
    const struct type *type;
    long elements;
    size_t bytes;
    unsigned char *memory, *expected;
    char *address; /* what MPI gets */
};

static struct array new_array(const struct type *type, long elements)
{
    struct array array = {.type = type, .elements = elements};
    long span = labs(type->extent) * elements + AROUND;
    array.bytes = (size_t)(2 * span + 2 * AROUND);
    array.memory = malloc(array.bytes);
    array.expected = malloc(array.bytes);
    if (!array.memory || !array.expected)
        abort();
    memset(array.memory, FILL, array.bytes);
    long start = type->extent < 0 ? span : AROUND;
    array.address = (char *)array.memory + (start + 15) / 16 * 16;
    return array;
}

static void free_array(struct array *array)
{
    free(array->memory);
    free(array->expected);
}

static long offset_of(const struct array *array, long element, int which)
{
    return element * array->type->extent + array->type->offset[which];
}

/* Writes the `index`-th int of the data that begin at `element`. */
static void put(struct array *array, long element, long index, int value)
{
    long at = offset_of(array, element + index / array->type->ints, (int)(index % array->type->ints));
    memcpy(array->address + at, &value, sizeof value);
}

/* From here on `expect` says what the operation should change. */
static void begin(struct array *array)
{
    memcpy(array->expected, array->memory, array->bytes);
}

static void expect(struct array *array, long element, long index, int value)
{
    long at = offset_of(array, element + index / array->type->ints, (int)(index % array->type->ints));
    memcpy(array->expected + (array->address - (char *)array->memory) + at, &value, sizeof value);
}

/* Whether it did that and nothing else; if not, where the first wrong byte is, relative to the address. */
static int is_as_expected(const struct array *array, long *where)
{
    for (size_t i = 0; i < array->bytes; i++)
        if (array->memory[i] != array->expected[i]) {
            *where = (long)i - (array->address - (char *)array->memory);
            return 0;
        }
    return 1;
}

#endif
