#include "roots.h"

#include "random.h"

enum { STREAM_ROOTS = 3, BATCH = 256 };

int choose_roots(const struct graph *graph, uint64_t seed, int wanted, uint64_t *roots)
{
    const struct layout *layout = &graph->layout;
    int bits = 1;
    while (UINT64_C(1) << bits < layout->vertices)
        bits++;

    /* A permutation meets every vertex once, so no root comes twice and the search ends. */
    int chosen = 0;
    for (uint64_t next = 0; chosen < wanted && next < UINT64_C(1) << bits; next += BATCH) {
        uint64_t candidate[BATCH];
        int mine[BATCH], usable[BATCH];
        for (int i = 0; i < BATCH; i++) {
            uint64_t index = next + (uint64_t)i;
            mine[i] = 0;
            candidate[i] = layout->vertices;
            if (index < UINT64_C(1) << bits)
                candidate[i] = random_permute(seed, STREAM_ROOTS, bits, index);
            if (candidate[i] >= layout->vertices)
                continue;
            vertex_ref ref = layout_ref(layout, candidate[i]);
            if ((int)ref_owner(ref) == layout->rank)
                mine[i] = graph_degree(graph, ref_local(ref)) > 0;
        }
        MPI_Allreduce(mine, usable, BATCH, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < BATCH && chosen < wanted; i++) {
            if (usable[i])
                roots[chosen++] = candidate[i];
        }
    }
    return chosen;
}
