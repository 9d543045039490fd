#include "graph.h"

#include "fatal.h"
#include "progress.h"

/* Set in other_owner of a record that is for the mirror list. Ranks stay below it. */
static const uint32_t MIRROR = UINT32_C(1) << 31;

enum { POLL_EVERY = 256 /* edges */ };

struct distribution {
    const struct edge_list *edges;
    const struct layout *layout;
    struct team *team;
    struct exchange *exchanges;
    struct half_edges *input;
    struct half_edges *mirror;
};

struct receiver {
    struct half_edges *input;
    struct half_edges *mirror;
};

void half_edges_add(struct half_edges *list, struct half_edge item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity < 1024 ? 1024 : list->capacity + list->capacity / 2;
        list->items = grow("the distributed edges", list->items, list->capacity,
                           sizeof *list->items);
    }
    list->items[list->count++] = item;
}

static void accept(struct receiver *to, struct half_edge half)
{
    if (half.other_owner & MIRROR) {
        half.other_owner &= ~MIRROR;
        half_edges_add(to->mirror, half);
    } else {
        half_edges_add(to->input, half);
    }
}

static void on_records(void *context, int source, const void *records, uint32_t count)
{
    (void)source;
    const struct half_edge *halves = records;
    for (uint32_t i = 0; i < count; i++)
        accept(context, halves[i]);
}

static void deliver(struct exchange *x, struct receiver *self, uint32_t owner,
                    struct half_edge half)
{
    if ((int)owner == x->rank)
        accept(self, half);
    else
        *(struct half_edge *)exchange_reserve(x, (int)owner) = half;
}

static void distribute_share(void *argument, int thread)
{
    const struct distribution *d = argument;
    struct exchange *x = &d->exchanges[thread];
    struct receiver self = {&d->input[thread], &d->mirror[thread]};
    unsigned long long begin, end;
    team_share(d->edges->count, thread, d->team->threads, &begin, &end);

    exchange_begin(x, sizeof(struct half_edge), on_records, &self);
    for (unsigned long long i = begin; i < end; i++) {
        vertex_ref u = layout_ref(d->layout, d->edges->items[i].u);
        vertex_ref v = layout_ref(d->layout, d->edges->items[i].v);
        struct half_edge forward = {ref_local(u), ref_owner(v), ref_local(v)};
        struct half_edge backward = {ref_local(v), ref_owner(u) | MIRROR, ref_local(u)};
        deliver(x, &self, ref_owner(u), forward);
        if (u != v)
            deliver(x, &self, ref_owner(v), backward);
        if (i % POLL_EVERY == 0) {
            exchange_poll(x);
            if (thread == 0)
                progress_show((double)(i - begin) / (double)(end - begin), "distributing edges");
        }
    }
    exchange_finish(x);
}

void distribute_edges(const struct edge_list *edges, const struct layout *layout,
                      struct team *team, struct exchange *exchanges, struct half_edges *input,
                      struct half_edges *mirror)
{
    struct distribution d = {edges, layout, team, exchanges, input, mirror};
    team_run(team, distribute_share, &d);
    MPI_Barrier(MPI_COMM_WORLD); /* exchange.h, invariant 1 */
}
