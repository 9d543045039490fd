/* Kernel 1: from the edge list to a graph distributed over the processes (1D).
 *
 * A process owns a block of vertices (layout.h) and for each of them
 *   - its neighbours, as compressed sparse rows; self-loops are left out;
 *   - the input edges whose first end it is, as they were read: the search never looks at
 *     them, the validation looks at nothing else. */
#ifndef GRAPH500_GRAPH_H
#define GRAPH500_GRAPH_H

#include "edges.h"
#include "exchange.h"
#include "layout.h"
#include "team.h"

/* An edge as the owner of one of its ends stores it. */
struct half_edge {
    uint32_t local;       /* index of the own end */
    uint32_t other_owner; /* rank that owns the other end */
    uint32_t other_local; /* its index there */
};

struct half_edges {
    struct half_edge *items;
    size_t count;
    size_t capacity;
};

struct graph {
    struct layout layout;
    uint32_t local_vertices;
    uint64_t total_edges; /* input edges of all processes */

    uint64_t *row_begin;   /* local_vertices + 1 entries */
    vertex_ref *neighbour; /* row_begin[local_vertices] entries */

    struct half_edges *input; /* input edges by first end, one list a thread */
    int threads;
};

/* Adds to a list that grows. */
void half_edges_add(struct half_edges *list, struct half_edge item);

/* distribute.c: sends every edge to the owners of its two ends. `input` receives each edge once,
 * at the owner of its first end; `mirror` once more at the owner of the other end, self-loops
 * excepted. One list a thread in both. */
void distribute_edges(const struct edge_list *edges, const struct layout *layout,
                      struct team *team, struct exchange *exchanges, struct half_edges *input,
                      struct half_edges *mirror);

/* Builds the graph with all threads; collective over all processes. */
struct graph graph_build(const struct edge_list *edges, struct team *team,
                         struct exchange *exchanges, int rank, int ranks);

void graph_free(struct graph *graph);

static inline uint64_t graph_degree(const struct graph *graph, uint32_t local)
{
    return graph->row_begin[local + 1] - graph->row_begin[local];
}

#endif
