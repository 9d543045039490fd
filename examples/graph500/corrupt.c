/* Deliberate damage to a search tree: proof that the validation can say no. */
#include "validate.h"

#include <string.h>

static const char *const kinds[] = {"parent", "level", "cycle", "lost", "extra", "root"};

bool corruption_known(const char *kind)
{
    for (size_t i = 0; kind != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    }
    return false;
}

static bool has_neighbour(const struct graph *graph, uint32_t local, vertex_ref other)
{
    for (uint64_t i = graph->row_begin[local]; i < graph->row_begin[local + 1]; i++) {
        if (graph->neighbour[i] == other)
            return true;
    }
    return false;
}

/* Damages `local` as `kind` says, if it is a vertex that `kind` can damage. */
static bool corrupt_vertex(struct bfs *bfs, uint32_t local, vertex_ref root, const char *kind)
{
    const struct graph *graph = bfs->graph;
    uint32_t rank = (uint32_t)graph->layout.rank;
    vertex_ref self = ref_make(rank, local);
    vertex_ref parent = atomic_load(&bfs->parent[local]);
    bool reached = parent != NO_VERTEX;

    if (strcmp(kind, "root") == 0) { /* the root hangs below a neighbour */
        if (self != root)
            return false;
        atomic_store(&bfs->parent[local], graph->neighbour[graph->row_begin[local]]);
        return true;
    }
    if (self == root)
        return false;
    if (strcmp(kind, "extra") == 0) { /* a vertex of another component joins the tree */
        if (reached)
            return false;
        atomic_store(&bfs->parent[local], root);
        bfs->level[local] = 1;
        return true;
    }
    if (!reached)
        return false;
    if (strcmp(kind, "parent") == 0) { /* the root becomes parent over an edge that is not there */
        if (bfs->level[local] < 2 || has_neighbour(graph, local, root))
            return false;
        atomic_store(&bfs->parent[local], root);
    } else if (strcmp(kind, "level") == 0) {
        bfs->level[local] += 1;
    } else if (strcmp(kind, "lost") == 0) {
        atomic_store(&bfs->parent[local], NO_VERTEX);
        bfs->level[local] = NO_LEVEL;
    } else { /* cycle: a vertex and its parent hang below each other */
        if (parent == root || ref_owner(parent) != rank)
            return false;
        atomic_store(&bfs->parent[ref_local(parent)], self);
    }
    return true;
}

bool corrupt_tree(struct bfs *bfs, uint64_t root, const char *kind)
{
    const struct layout *layout = &bfs->graph->layout;
    vertex_ref root_ref = layout_ref(layout, root);
    /* One process after the other until one has a vertex to damage. */
    for (int turn = 0; turn < layout->ranks; turn++) {
        int done = 0;
        for (uint32_t v = 0; turn == layout->rank && !done && v < bfs->graph->local_vertices; v++)
            done = corrupt_vertex(bfs, v, root_ref, kind);
        MPI_Bcast(&done, 1, MPI_INT, turn, MPI_COMM_WORLD);
        if (done)
            return true;
    }
    return false;
}
