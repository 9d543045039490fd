/* Which process owns a vertex: blocks of consecutive vertices, equal in size.
 *
 * Inside the search a vertex is named by (owner, index at the owner), packed into one
 * word: the traversal then needs no division to find the process to send to. */
#ifndef GRAPH500_LAYOUT_H
#define GRAPH500_LAYOUT_H

#include <stdint.h>

typedef uint64_t vertex_ref;

static const vertex_ref NO_VERTEX = UINT64_MAX;

struct layout {
    uint64_t vertices;
    uint64_t block; /* vertices a process, the last ones fewer */
    int rank;
    int ranks;
};

static inline struct layout layout_make(uint64_t vertices, int rank, int ranks)
{
    struct layout layout = {vertices, (vertices + (uint64_t)ranks - 1) / (uint64_t)ranks, rank,
                            ranks};
    return layout;
}

static inline uint64_t layout_count_of(const struct layout *layout, int rank)
{
    uint64_t begin = layout->block * (uint64_t)rank;
    if (begin >= layout->vertices)
        return 0;
    uint64_t rest = layout->vertices - begin;
    return rest < layout->block ? rest : layout->block;
}

static inline vertex_ref ref_make(uint32_t owner, uint32_t local)
{
    return (uint64_t)owner << 32 | local;
}

static inline uint32_t ref_owner(vertex_ref ref)
{
    return (uint32_t)(ref >> 32);
}

static inline uint32_t ref_local(vertex_ref ref)
{
    return (uint32_t)ref;
}

static inline vertex_ref layout_ref(const struct layout *layout, uint64_t vertex)
{
    return ref_make((uint32_t)(vertex / layout->block), (uint32_t)(vertex % layout->block));
}

static inline uint64_t layout_vertex(const struct layout *layout, vertex_ref ref)
{
    return layout->block * ref_owner(ref) + ref_local(ref);
}

#endif
