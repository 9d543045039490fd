/* The search claims a parent and a level for every vertex. These checks, all local to a vertex or
 * an edge, together are the specification's five rules:
 *
 *   V1  the root is its own parent, at level 0
 *   V2  any other vertex has both a level above 0 and an existing parent other than itself, or
 *       neither
 *   E1  the ends of an input edge are both reached or both not
 *   E2  the levels of the ends of an input edge differ by at most one
 *   T1  from each reached vertex but the root an input edge leads to its parent
 *   T2  the parent is exactly one level nearer to the root
 *
 * By T2 levels fall along parents, so there is no cycle and every path of parents ends at the one
 * vertex of level 0, the root: a tree (rules 1, 2). E2 is rule 3 and, with T2, makes levels
 * shortest distances. E1 makes the tree span the component (rule 4). T1 is rule 5.
 *
 * The owner of an edge's first end u sends (u, level of u, is v the parent of u?) to the owner of
 * the second end v, which then knows all about the edge; so one exchange does, by all threads. */
#include "validate.h"

#include "fatal.h"

#include <stdio.h>
#include <stdlib.h>

enum rule { RULE_ROOT, RULE_VERTEX, RULE_REACHED, RULE_SPAN, RULE_EDGE, RULE_STEP, RULES };

static const char *const rule_text[RULES] = {
    [RULE_ROOT] = "the root is not its own parent at level 0",
    [RULE_VERTEX] = "parent and level do not fit together, or the parent does not exist",
    [RULE_REACHED] = "an edge joins a reached vertex and one that was not reached",
    [RULE_SPAN] = "an edge joins vertices whose levels differ by more than one",
    [RULE_EDGE] = "a vertex and its parent are not joined by an edge of the graph",
    [RULE_STEP] = "a vertex is not exactly one level below its parent",
};

/* Set in a record's level: the receiver's vertex is the parent of the sender's. */
static const uint32_t IS_PARENT = UINT32_C(1) << 31;

enum { POLL_EVERY = 256 /* edges */ };

struct edge_record {
    uint32_t v;       /* index at the receiver */
    uint32_t u;       /* index at the sender */
    uint32_t u_level; /* and IS_PARENT */
};

struct findings {
    uint64_t broken[RULES];
    uint64_t example[RULES]; /* a vertex */
};

struct validation {
    const struct bfs *bfs;
    vertex_ref root;
    _Atomic unsigned char *joined; /* per local vertex: an input edge leads to its parent */
    struct findings *findings;     /* one per thread */
};

struct checker {
    const struct validation *validation;
    struct findings *findings;
};

static vertex_ref parent_of(const struct validation *validation, uint32_t local)
{
    return atomic_load_explicit(&validation->bfs->parent[local], memory_order_relaxed);
}

static void found(struct findings *findings, enum rule rule, const struct layout *layout,
                  vertex_ref vertex)
{
    if (findings->broken[rule]++ == 0)
        findings->example[rule] = layout_vertex(layout, vertex);
}

static void check_vertex(const struct validation *validation, struct findings *findings,
                         uint32_t local)
{
    const struct layout *layout = &validation->bfs->graph->layout;
    vertex_ref self = ref_make((uint32_t)layout->rank, local);
    vertex_ref parent = parent_of(validation, local);
    uint32_t level = validation->bfs->level[local];
    if (self == validation->root) {
        if (parent != self || level != 0)
            found(findings, RULE_ROOT, layout, self);
    } else if (parent == NO_VERTEX || level == NO_LEVEL) {
        if (parent != NO_VERTEX || level != NO_LEVEL)
            found(findings, RULE_VERTEX, layout, self);
    } else if (level == 0 || level > NO_LEVEL || parent == self ||
               ref_owner(parent) >= (uint32_t)layout->ranks ||
               ref_local(parent) >= layout_count_of(layout, (int)ref_owner(parent))) {
        found(findings, RULE_VERTEX, layout, self);
    }
}

/* `child` is local and an input edge joins it with its parent. */
static void check_tree_edge(struct checker *checker, uint32_t child, uint32_t child_level,
                            uint32_t parent_level, vertex_ref reported)
{
    if (child_level != parent_level + 1)
        found(checker->findings, RULE_STEP, &checker->validation->bfs->graph->layout, reported);
    atomic_store_explicit(&checker->validation->joined[child], 1, memory_order_relaxed);
}

/* At the owner of v, with everything known about u. */
static void check_edge(struct checker *checker, uint32_t v, vertex_ref u, uint32_t u_level,
                       bool v_is_parent)
{
    const struct validation *validation = checker->validation;
    const struct layout *layout = &validation->bfs->graph->layout;
    vertex_ref v_ref = ref_make((uint32_t)layout->rank, v);
    uint32_t v_level = validation->bfs->level[v];

    if ((u_level == NO_LEVEL) != (v_level == NO_LEVEL)) {
        found(checker->findings, RULE_REACHED, layout, v_ref);
    } else if (u_level != NO_LEVEL) {
        uint32_t apart = u_level > v_level ? u_level - v_level : v_level - u_level;
        if (apart > 1)
            found(checker->findings, RULE_SPAN, layout, v_ref);
    }
    if (u != v_ref && parent_of(validation, v) == u)
        check_tree_edge(checker, v, v_level, u_level, v_ref);
    /* The owner of u has noted that the edge exists; the levels can be compared here only. */
    if (v_is_parent && u_level != v_level + 1)
        found(checker->findings, RULE_STEP, layout, u);
}

static void on_edges(void *context, int source, const void *records, uint32_t count)
{
    const struct edge_record *edges = records;
    for (uint32_t i = 0; i < count; i++)
        check_edge(context, edges[i].v, ref_make((uint32_t)source, edges[i].u),
                   edges[i].u_level & ~IS_PARENT, (edges[i].u_level & IS_PARENT) != 0);
}

static void check_input_edge(struct checker *checker, struct exchange *x,
                             const struct half_edge *half)
{
    const struct validation *validation = checker->validation;
    vertex_ref u = ref_make((uint32_t)x->rank, half->local);
    vertex_ref v = ref_make(half->other_owner, half->other_local);
    uint32_t u_level = validation->bfs->level[half->local];
    bool v_is_parent = u != v && parent_of(validation, half->local) == v;
    if (v_is_parent)
        atomic_store_explicit(&validation->joined[half->local], 1, memory_order_relaxed);

    if ((int)half->other_owner == x->rank) {
        check_edge(checker, half->other_local, u, u_level, v_is_parent);
    } else {
        struct edge_record *record = exchange_reserve(x, (int)half->other_owner);
        record->v = half->other_local;
        record->u = half->local;
        record->u_level = u_level | (v_is_parent ? IS_PARENT : 0);
    }
}

static void check_share(void *argument, int thread)
{
    const struct validation *validation = argument;
    const struct bfs *bfs = validation->bfs;
    struct exchange *x = &bfs->exchanges[thread];
    struct findings findings = {0};
    struct checker checker = {validation, &findings};
    unsigned long long begin, end;
    team_share(bfs->graph->local_vertices, thread, bfs->team->threads, &begin, &end);

    for (unsigned long long v = begin; v < end; v++)
        check_vertex(validation, &findings, (uint32_t)v);

    exchange_begin(x, sizeof(struct edge_record), on_edges, &checker);
    const struct half_edges *input = &bfs->graph->input[thread];
    for (size_t i = 0; i < input->count; i++) {
        check_input_edge(&checker, x, &input->items[i]);
        if (i % POLL_EVERY == 0)
            exchange_poll(x);
    }
    exchange_finish(x);
    team_barrier(bfs->team);

    /* T1: now every edge of the input has been seen. */
    const struct layout *layout = &bfs->graph->layout;
    for (unsigned long long v = begin; v < end; v++) {
        vertex_ref self = ref_make((uint32_t)layout->rank, (uint32_t)v);
        bool joined = atomic_load_explicit(&validation->joined[v], memory_order_relaxed) != 0;
        if (self != validation->root && bfs->level[v] != NO_LEVEL && !joined)
            found(&findings, RULE_EDGE, layout, self);
    }
    validation->findings[thread] = findings;
}

static void tell(enum rule rule, uint64_t root, uint64_t broken, uint64_t example)
{
    fprintf(stderr,
            "graph500: the tree from root %llu is wrong: %s (%llu times, for example at vertex "
            "%llu)\n",
            (unsigned long long)root, rule_text[rule], (unsigned long long)broken,
            (unsigned long long)example);
}

/* Sums over threads and processes; rank 0 tells. */
static bool conclude(const struct validation *validation, uint64_t root)
{
    struct findings mine = {0}, all = {0};
    for (int rule = 0; rule < RULES; rule++) {
        mine.example[rule] = UINT64_MAX;
        for (int t = 0; t < validation->bfs->team->threads; t++) {
            const struct findings *f = &validation->findings[t];
            mine.broken[rule] += f->broken[rule];
            if (f->broken[rule] > 0 && f->example[rule] < mine.example[rule])
                mine.example[rule] = f->example[rule];
        }
    }
    MPI_Allreduce(mine.broken, all.broken, RULES, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine.example, all.example, RULES, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    bool right = true;
    for (int rule = 0; rule < RULES; rule++) {
        if (all.broken[rule] == 0)
            continue;
        right = false;
        if (validation->bfs->graph->layout.rank == 0)
            tell((enum rule)rule, root, all.broken[rule], all.example[rule]);
    }
    return right;
}

bool validate_tree(const struct bfs *bfs, uint64_t root)
{
    struct validation validation = {.bfs = bfs, .root = layout_ref(&bfs->graph->layout, root)};
    validation.joined =
        allocate("the validation", bfs->graph->local_vertices, sizeof *validation.joined);
    validation.findings =
        allocate("the validation", (size_t)bfs->team->threads, sizeof *validation.findings);
    team_run(bfs->team, check_share, &validation);
    bool right = conclude(&validation, root); /* and exchange.h, invariant 1 */
    free(validation.findings);
    free(validation.joined);
    return right;
}
