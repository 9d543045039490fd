/* Each edge descends `scale` times into one quadrant of the adjacency matrix, with the
 * probabilities A, B, C, D of the specification (R-MAT; D. Chakrabarti, Y. Zhan,
 * C. Faloutsos, SIAM SDM 2004, doi:10.1137/1.9781611972740.43).
 *
 * The specification then permutes the vertices and shuffles the edges. The vertices are
 * permuted here by a function with an inverse, which needs no table. The edges need no
 * shuffle: each is drawn from the same distribution, independently of its place in the
 * list, so every order of the list is as probable as every other already. */
#include "generator.h"

#include "fatal.h"
#include "progress.h"
#include "random.h"

static const double A = 0.57, B = 0.19, C = 0.19;

enum { STREAM_VERTICES = 1, STREAM_EDGES = 2 };

struct kronecker {
    struct team *team;
    struct edge_list *list;
    uint64_t first; /* number of this process's first edge in the whole list */
    uint64_t seed;
    int scale;
    /* Probabilities as thresholds for a 32-bit draw. */
    uint32_t lower_half;        /* row bit is 1 unless the draw is below: A + B */
    uint32_t right_given_upper; /* column bit is 1 unless below: A / (A + B) */
    uint32_t right_given_lower; /* the same if the row bit is 1: C / (C + D) */
};

static uint32_t threshold(double probability)
{
    return (uint32_t)(probability * 4294967296.0);
}

static struct edge draw_edge(const struct kronecker *k, uint64_t number)
{
    uint64_t row = 0, column = 0;
    uint64_t key = random_at(k->seed, STREAM_EDGES, number);
    for (int level = 0; level < k->scale; level++) {
        uint64_t draw = random_at(key, 0, (uint64_t)level);
        uint64_t row_bit = (uint32_t)draw >= k->lower_half;
        uint32_t limit = row_bit ? k->right_given_lower : k->right_given_upper;
        uint64_t column_bit = (uint32_t)(draw >> 32) >= limit;
        row |= row_bit << level;
        column |= column_bit << level;
    }
    struct edge edge = {random_permute(k->seed, STREAM_VERTICES, k->scale, row),
                        random_permute(k->seed, STREAM_VERTICES, k->scale, column)};
    return edge;
}

static void generate_share(void *argument, int thread)
{
    const struct kronecker *k = argument;
    unsigned long long begin, end;
    team_share(k->list->count, thread, k->team->threads, &begin, &end);
    for (unsigned long long i = begin; i < end; i++) {
        k->list->items[i] = draw_edge(k, k->first + i);
        if (thread == 0 && i % 4096 == 0)
            progress_show((double)(i - begin) / (double)(end - begin), "generating edges");
    }
}

struct edge_list generate_kronecker(struct team *team, int scale, int edgefactor, uint64_t seed,
                                    int rank, int ranks)
{
    struct edge_list list = {.vertices = UINT64_C(1) << scale};
    list.total = list.vertices * (uint64_t)edgefactor;
    unsigned long long begin, end;
    team_share(list.total, rank, ranks, &begin, &end);
    list.count = end - begin;
    list.items = allocate("the edge list", list.count, sizeof *list.items);

    struct kronecker k = {
        .team = team,
        .list = &list,
        .first = begin,
        .seed = seed,
        .scale = scale,
        .lower_half = threshold(A + B),
        .right_given_upper = threshold(A / (A + B)),
        .right_given_lower = threshold(C / (1 - (A + B))),
    };
    team_run(team, generate_share, &k);
    return list;
}
