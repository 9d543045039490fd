/* The input of the benchmark: a list of undirected edges, distributed over the processes. */
#ifndef GRAPH500_EDGES_H
#define GRAPH500_EDGES_H

#include <stdint.h>

struct edge {
    uint64_t u;
    uint64_t v;
};

struct edge_list {
    struct edge *items; /* this process's share, in no order */
    uint64_t count;     /* of this share */
    uint64_t total;     /* of all processes */
    uint64_t vertices;  /* numbered 0 ... vertices - 1 */
    uint64_t label_shift; /* what was subtracted from the file's vertex numbers */
};

#endif
