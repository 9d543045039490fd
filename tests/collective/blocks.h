/* Buffers with a block for each rank. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "draws.h"

/* Sizes and displacements of blocks, one for each rank, in elements of this rank's type. */
struct blocks {
    int *counts, *displs;
    MPI_Count *large_counts;
    MPI_Aint *large_displs;
    long elements;
};

static struct blocks new_blocks(void)
{
    size_t n = (size_t)size;
    return (struct blocks){malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc(n * sizeof(MPI_Count)),
                           malloc(n * sizeof(MPI_Aint)), 0};
}

static void free_blocks(struct blocks *blocks)
{
    free(blocks->counts);
    free(blocks->displs);
    free(blocks->large_counts);
    free(blocks->large_displs);
}

/* Blocks of `ints[r]`, in order or backwards, with some room between them if `gap`. */
static struct blocks lay_out(const struct type *type, const long *ints, int backwards, int gap)
{
    struct blocks blocks = new_blocks();
    for (int i = 0; i < size; i++) {
        int r = backwards ? size - 1 - i : i;
        blocks.counts[r] = (int)(ints[r] / type->ints);
        blocks.displs[r] = (int)blocks.elements;
        blocks.large_counts[r] = blocks.counts[r];
        blocks.large_displs[r] = blocks.displs[r];
        blocks.elements += blocks.counts[r] + gap;
    }
    return blocks;
}

static long *equal_ints(long ints)
{
    long *list = malloc((size_t)size * sizeof *list);
    for (int r = 0; r < size; r++)
        list[r] = ints;
    return list;
}

static long *draw_ints_each(void)
{
    long *list = malloc((size_t)size * sizeof *list);
    for (int r = 0; r < size; r++)
        list[r] = draw(3) ? draw_ints() : 0;
    return list;
}

#endif
