#include "graph.h"

#include "fatal.h"
#include "progress.h"

#include <stdatomic.h>
#include <stdlib.h>

struct build {
    struct graph *graph;
    struct team *team;
    const struct half_edges *mirror;
    _Atomic uint64_t *cursor; /* first the degree of a vertex, then its next free entry */
};

static bool is_loop(const struct graph *graph, const struct half_edge *half)
{
    return half->other_owner == (uint32_t)graph->layout.rank && half->other_local == half->local;
}

static void count_list(const struct build *b, const struct half_edges *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!is_loop(b->graph, &list->items[i]))
            atomic_fetch_add_explicit(&b->cursor[list->items[i].local], 1, memory_order_relaxed);
    }
}

static void fill_list(const struct build *b, const struct half_edges *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct half_edge *half = &list->items[i];
        if (is_loop(b->graph, half))
            continue;
        uint64_t place =
            atomic_fetch_add_explicit(&b->cursor[half->local], 1, memory_order_relaxed);
        b->graph->neighbour[place] = ref_make(half->other_owner, half->other_local);
    }
}

static void begin_rows(const struct build *b)
{
    struct graph *graph = b->graph;
    uint64_t entries = 0;
    for (uint32_t v = 0; v < graph->local_vertices; v++) {
        graph->row_begin[v] = entries;
        entries += atomic_load_explicit(&b->cursor[v], memory_order_relaxed);
        atomic_store_explicit(&b->cursor[v], graph->row_begin[v], memory_order_relaxed);
    }
    graph->row_begin[graph->local_vertices] = entries;
    graph->neighbour = allocate("the graph", entries, sizeof *graph->neighbour);
}

/* The barriers order the relaxed counters between the steps. */
static void build_rows(void *argument, int thread)
{
    struct build *b = argument;
    count_list(b, &b->graph->input[thread]);
    count_list(b, &b->mirror[thread]);
    team_barrier(b->team);
    if (thread == 0)
        begin_rows(b);
    team_barrier(b->team);
    fill_list(b, &b->graph->input[thread]);
    fill_list(b, &b->mirror[thread]);
}

struct graph graph_build(const struct edge_list *edges, struct team *team,
                         struct exchange *exchanges, int rank, int ranks)
{
    struct graph graph = {.layout = layout_make(edges->vertices, rank, ranks),
                          .total_edges = edges->total,
                          .threads = team->threads};
    if (graph.layout.block >= UINT32_MAX)
        fatal("%llu vertices on %d processes: a process holds fewer than 2^32 - 1; use more "
              "processes",
              (unsigned long long)edges->vertices, ranks);
    graph.local_vertices = (uint32_t)layout_count_of(&graph.layout, rank);
    graph.input = allocate("the edges", (size_t)team->threads, sizeof *graph.input);
    struct half_edges *mirror = allocate("the edges", (size_t)team->threads, sizeof *mirror);

    distribute_edges(edges, &graph.layout, team, exchanges, graph.input, mirror);

    progress_show(-1, "building the graph");
    struct build b = {.graph = &graph, .team = team, .mirror = mirror};
    graph.row_begin =
        allocate("the graph", (size_t)graph.local_vertices + 1, sizeof *graph.row_begin);
    b.cursor = allocate("the graph", graph.local_vertices, sizeof *b.cursor);
    team_run(team, build_rows, &b);

    free(b.cursor);
    for (int t = 0; t < team->threads; t++)
        free(mirror[t].items);
    free(mirror);
    return graph;
}

void graph_free(struct graph *graph)
{
    for (int t = 0; t < graph->threads; t++)
        free(graph->input[t].items);
    free(graph->input);
    free(graph->neighbour);
    free(graph->row_begin);
}
