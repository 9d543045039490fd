/* The program's operators, and their expected results. An element is a list of ints, of which operators work on
 * neighbouring pairs (a, b), or on the last one alone. `compose` is associative but does not commute: the pair stands for
 * x -> ax + b, applied left to right. */
#ifndef OPERATORS_H
#define OPERATORS_H

#include "draws.h"

static const struct type *operand_type;

static void add(unsigned *a, unsigned *b, const unsigned *c, const unsigned *d)
{
    *a += *c;
    *b += *d;
}

/* First (a, b), then (c, d). */
static void compose(unsigned *a, unsigned *b, const unsigned *c, const unsigned *d)
{
    *a *= *c;
    *b = *b * *c + *d;
}

typedef void pair_function(unsigned *, unsigned *, const unsigned *, const unsigned *);

static void on_elements(const char *in, char *inout, long len, MPI_Datatype handle, pair_function *function)
{
    if (handle != operand_type->handle) {
        fprintf(stderr, "rank %d: the operator's function got the wrong datatype\n", rank);
        failures++;
        return;
    }
    for (long e = 0; e < len; e++)
        for (int i = 0; i < operand_type->ints; i += 2) {
            int pair = i + 1 < operand_type->ints;
            long first = e * operand_type->extent + operand_type->offset[i];
            long second = e * operand_type->extent + operand_type->offset[pair ? i + 1 : i];
            unsigned a, b = 0, c, d = 0;
            memcpy(&a, in + first, 4);
            memcpy(&c, inout + first, 4);
            if (pair) {
                memcpy(&b, in + second, 4);
                memcpy(&d, inout + second, 4);
            }
            function(&a, &b, &c, &d);
            memcpy(inout + first, &a, 4);
            if (pair)
                memcpy(inout + second, &b, 4);
        }
}

static void user_add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, add);
}

static void user_compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, compose);
}

static void user_compose_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, compose);
}

static MPI_Op op_add, op_compose, op_compose_large;

/* The result of int `index` over the ranks `first` to `last`, in the order of ranks. */
static int reduced(int first, int last, long index, pair_function *function)
{
    int ints = operand_type->ints, at = (int)(index % ints), even = at / 2 * 2;
    int pair = even + 1 < ints;
    long base = index - at + even;
    unsigned a = (unsigned)value(first, 0, base), b = pair ? (unsigned)value(first, 0, base + 1) : 0;
    for (int r = first + 1; r <= last; r++) {
        unsigned c = (unsigned)value(r, 0, base), d = pair ? (unsigned)value(r, 0, base + 1) : 0;
        function(&a, &b, &c, &d);
    }
    return (int)(at == even ? a : b);
}

#endif
