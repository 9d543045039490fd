/* A frontier is one array for the process. Threads take blocks of it to traverse and take blocks
 * of the next one to fill, both by fetch-and-add, so that the work spreads by itself; what a thread
 * leaves unfilled of its last block is marked HOLE.
 *
 * An edge to a vertex of this process is followed at once. One to another process becomes a record
 * (vertex there, parent here) to the same thread of that process. Which parent wins is decided by
 * compare-and-swap on parent[]; all candidates of a level are equally right.
 *
 * A level ends for a thread when it has the end marks of its partners (exchange_finish), for a
 * process at the team barrier, and for the job when thread 0 has summed the sizes of the next
 * frontiers over all processes. */
#include "bfs.h"

#include "fatal.h"
#include "ticks.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 64 /* frontier entries a thread takes at once */ };

/* No search is shorter, so that no rate is infinite under a coarse clock. */
static const double CLOCK_STEP_S = 1e-9;

static const uint32_t HOLE = UINT32_MAX;

struct bfs_frontier {
    uint32_t *items;
    _Alignas(64) _Atomic uint64_t filled; /* entries handed out to writers */
    _Alignas(64) _Atomic uint64_t taken;  /* entries handed out to readers */
};

/* A thread's own state, on cache lines of its own. */
struct bfs_worker {
    _Alignas(64) struct bfs *bfs;
    struct bfs_frontier *next;
    uint64_t slot; /* next free entry of the block in `next` */
    uint64_t slot_end;
    uint32_t next_level;
    uint64_t found; /* vertices reached in this level */
    uint64_t edges; /* input edges of reached vertices */
};

/* To the owner of `child`: it is a neighbour of the sender's vertex `parent`. */
struct visit_record {
    uint32_t child;
    uint32_t parent;
};

struct search {
    struct bfs *bfs;
    vertex_ref root;
    struct bfs_result result;
    /* Written by thread 0 between two barriers. */
    uint64_t frontier_size; /* of all processes */
};

static void visit(struct bfs_worker *worker, uint32_t child, vertex_ref parent)
{
    _Atomic vertex_ref *place = &worker->bfs->parent[child];
    if (atomic_load_explicit(place, memory_order_relaxed) != NO_VERTEX)
        return;
    /* Relaxed: nothing is read through a parent before the barrier at the level's end. */
    vertex_ref expected = NO_VERTEX;
    if (!atomic_compare_exchange_strong_explicit(place, &expected, parent, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    worker->bfs->level[child] = worker->next_level;
    if (worker->slot == worker->slot_end) {
        worker->slot =
            atomic_fetch_add_explicit(&worker->next->filled, BLOCK, memory_order_relaxed);
        worker->slot_end = worker->slot + BLOCK;
    }
    worker->next->items[worker->slot++] = child;
    worker->found++;
}

static void on_visits(void *context, int source, const void *records, uint32_t count)
{
    const struct visit_record *visits = records;
    for (uint32_t i = 0; i < count; i++)
        visit(context, visits[i].child, ref_make((uint32_t)source, visits[i].parent));
}

static void follow_edges(struct bfs_worker *worker, struct exchange *x, uint32_t vertex)
{
    const struct graph *graph = worker->bfs->graph;
    uint32_t rank = (uint32_t)x->rank;
    vertex_ref self = ref_make(rank, vertex);
    for (uint64_t i = graph->row_begin[vertex]; i < graph->row_begin[vertex + 1]; i++) {
        vertex_ref other = graph->neighbour[i];
        if (ref_owner(other) == rank) {
            visit(worker, ref_local(other), self);
        } else {
            struct visit_record *record = exchange_reserve(x, (int)ref_owner(other));
            record->child = ref_local(other);
            record->parent = vertex;
        }
    }
}

static void expand_level(struct bfs_worker *worker, struct exchange *x,
                         struct bfs_frontier *current)
{
    worker->slot = worker->slot_end = 0;
    worker->found = 0;
    exchange_begin(x, sizeof(struct visit_record), on_visits, worker);
    uint64_t filled = atomic_load_explicit(&current->filled, memory_order_relaxed);
    for (;;) {
        uint64_t begin = atomic_fetch_add_explicit(&current->taken, BLOCK, memory_order_relaxed);
        if (begin >= filled)
            break;
        for (uint64_t i = begin; i < begin + BLOCK; i++) {
            if (current->items[i] != HOLE)
                follow_edges(worker, x, current->items[i]);
        }
        exchange_poll(x);
    }
    exchange_finish(x);
    while (worker->slot < worker->slot_end)
        worker->next->items[worker->slot++] = HOLE;
}

static void sum_frontier(struct search *search, uint32_t level)
{
    struct bfs *bfs = search->bfs;
    uint64_t mine = 0;
    for (int t = 0; t < bfs->team->threads; t++)
        mine += bfs->workers[t].found;
    uint64_t start = ticks_now();
    MPI_Allreduce(&mine, &search->frontier_size, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    bfs->exchanges[0].counters.mpi_ticks += ticks_now() - start;
    search->result.reached += search->frontier_size;
    search->result.levels = level + 1;
}

static void reset_frontier(struct bfs_frontier *frontier)
{
    atomic_store_explicit(&frontier->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&frontier->taken, 0, memory_order_relaxed);
}

static void plant_root(struct search *search)
{
    struct bfs *bfs = search->bfs;
    reset_frontier(&bfs->frontiers[0]);
    reset_frontier(&bfs->frontiers[1]);
    search->frontier_size = 1;
    search->result = (struct bfs_result){.levels = 1, .reached = 1};
    if ((int)ref_owner(search->root) != bfs->graph->layout.rank)
        return;
    uint32_t local = ref_local(search->root);
    struct bfs_frontier *first = &bfs->frontiers[0];
    for (int i = 0; i < BLOCK; i++)
        first->items[i] = HOLE;
    first->items[0] = local;
    atomic_store_explicit(&first->filled, BLOCK, memory_order_relaxed);
    atomic_store_explicit(&bfs->parent[local], search->root, memory_order_relaxed);
    bfs->level[local] = 0;
}

static void search_levels(void *argument, int thread)
{
    struct search *search = argument;
    struct bfs *bfs = search->bfs;
    struct bfs_worker *worker = &bfs->workers[thread];
    struct exchange *x = &bfs->exchanges[thread];

    worker->bfs = bfs;
    for (uint32_t level = 0; search->frontier_size > 0; level++) {
        struct bfs_frontier *current = &bfs->frontiers[level % 2];
        worker->next = &bfs->frontiers[(level + 1) % 2];
        worker->next_level = level + 1;
        expand_level(worker, x, current);
        team_barrier(bfs->team);
        if (thread == 0) {
            reset_frontier(current);
            sum_frontier(search, level);
        }
        team_barrier(bfs->team);
    }
}

static void clear_share(void *argument, int thread)
{
    struct bfs *bfs = argument;
    unsigned long long begin, end;
    team_share(bfs->graph->local_vertices, thread, bfs->team->threads, &begin, &end);
    for (unsigned long long v = begin; v < end; v++) {
        atomic_store_explicit(&bfs->parent[v], NO_VERTEX, memory_order_relaxed);
        bfs->level[v] = NO_LEVEL;
    }
    bfs->exchanges[thread].counters = (struct exchange_counters){0};
}

static void count_edges(void *argument, int thread)
{
    struct bfs *bfs = argument;
    const struct half_edges *list = &bfs->graph->input[thread];
    uint64_t edges = 0;
    for (size_t i = 0; i < list->count; i++)
        edges += bfs->level[list->items[i].local] != NO_LEVEL;
    bfs->workers[thread].edges = edges;

    struct exchange_counters *total = &bfs->totals[thread];
    const struct exchange_counters *now = &bfs->exchanges[thread].counters;
    total->messages += now->messages;
    total->bytes += now->bytes;
    total->tests += now->tests;
    total->hits += now->hits;
    total->mpi_ticks += now->mpi_ticks;
}

struct bfs_result bfs_run(struct bfs *bfs, uint64_t root)
{
    struct search search = {.bfs = bfs, .root = layout_ref(&bfs->graph->layout, root)};
    team_run(bfs->team, clear_share, bfs);
    plant_root(&search);

    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = MPI_Wtime();
    team_run(bfs->team, search_levels, &search);
    double seconds = fmax(MPI_Wtime() - start_s, CLOCK_STEP_S);

    MPI_Allreduce(&seconds, &search.result.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    team_run(bfs->team, count_edges, bfs);
    uint64_t edges = 0;
    for (int t = 0; t < bfs->team->threads; t++)
        edges += bfs->workers[t].edges;
    MPI_Allreduce(&edges, &search.result.edges, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return search.result;
}

struct bfs bfs_open(const struct graph *graph, struct team *team, struct exchange *exchanges)
{
    struct bfs bfs = {.graph = graph, .team = team, .exchanges = exchanges};
    size_t vertices = graph->local_vertices;
    size_t threads = (size_t)team->threads;
    bfs.parent = allocate("the search tree", vertices, sizeof *bfs.parent);
    bfs.level = allocate("the search tree", vertices, sizeof *bfs.level);
    bfs.totals = allocate("the search", threads, sizeof *bfs.totals);
    bfs.workers = allocate_aligned("the search", threads, sizeof *bfs.workers);
    bfs.frontiers = allocate_aligned("the search", 2, sizeof *bfs.frontiers);
    /* Every thread may leave a block partly filled. */
    for (int i = 0; i < 2; i++)
        bfs.frontiers[i].items = allocate("the frontier", vertices + (threads + 1) * BLOCK,
                                          sizeof *bfs.frontiers[i].items);
    return bfs;
}

void bfs_close(struct bfs *bfs)
{
    for (int i = 0; i < 2; i++)
        free(bfs->frontiers[i].items);
    free(bfs->frontiers);
    free(bfs->workers);
    free(bfs->totals);
    free(bfs->level);
    free(bfs->parent);
}
