/* Kernel 2: breadth-first search, level by level, by all threads of all processes. */
#ifndef GRAPH500_BFS_H
#define GRAPH500_BFS_H

#include "exchange.h"
#include "graph.h"
#include "team.h"

#include <stdatomic.h>
#include <stdint.h>

static const uint32_t NO_LEVEL = UINT32_MAX >> 1;

/* The result, and what is reused between searches. */
struct bfs {
    const struct graph *graph;
    struct team *team;
    struct exchange *exchanges;

    _Atomic vertex_ref *parent; /* of each local vertex; NO_VERTEX if not reached */
    uint32_t *level;            /* distance from the root; NO_LEVEL if not reached */

    struct bfs_frontier *frontiers; /* the current and the next one */
    struct bfs_worker *workers;     /* one per thread */

    struct exchange_counters *totals; /* of the searches so far, one per thread */
};

struct bfs_result {
    double seconds;
    uint32_t levels;
    uint64_t reached; /* vertices, the root included */
    uint64_t edges;   /* input edges within the component, loops and repetitions included */
};

struct bfs bfs_open(const struct graph *graph, struct team *team, struct exchange *exchanges);

/* Collective. Levels and parents stay until the next search. */
struct bfs_result bfs_run(struct bfs *bfs, uint64_t root);

void bfs_close(struct bfs *bfs);

#endif
