/* Random collective operations, checked byte by byte.
 *
 *   fuzz SEED OPERATIONS [LARGEST_INTS]
 *
 * All ranks draw the same random numbers, so each knows what every other one contributes and computes by itself what
 * must come out. Ranks may describe equal data by different datatypes. Nothing but the operation's own messages is
 * used, so that operations of different kinds follow each other without a pause. */
#include "layout.h"

static int rank, size, failures;
static long operation, largest;
static uint64_t state;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t below)
{
    state = mix(state);
    return state % below;
}

/* The `index`-th int that `from` sends to `to`. */
static int value(int from, int to, long index)
{
    uint64_t x = mix((uint64_t)operation * 31 + (uint64_t)from);
    return (int)(mix(mix(x + (uint64_t)to) + (uint64_t)index) & 0x7fffffff);
}

/* A number of ints that all types divide: often few, and enough larger ones on both sides of all switch points. */
static long draw_ints(void)
{
    static const long most_twelves[] = {2, 4, 4, 200, 1000, 2500};
    long most = most_twelves[draw(6)];
    if (!draw(24) || most > largest / 12)
        most = largest / 12;
    return 12 * (long)draw((uint64_t)most + 1);
}

/* A type for each rank. */
static const struct type *draw_types(void)
{
    const struct type *mine = NULL;
    int same = draw(2) != 0, common = (int)draw((uint64_t)type_count);
    for (int r = 0; r < size; r++) {
        int which = (int)draw((uint64_t)type_count);
        if (r == rank)
            mine = &types[same ? common : which];
    }
    return mine;
}

static void verify(const char *what, int code, struct array *array)
{
    long where = 0;
    if (code == MPI_SUCCESS && (!array || is_as_expected(array, &where)))
        return;
    if (failures++ < 5)
        fprintf(stderr, "rank %d of %d, operation %ld: %s: code %d, wrong at byte %ld (%s)\n", rank, size, operation,
                what, code, where, array ? array->type->name : "");
}

static void bcast(void)
{
    int root = (int)draw((uint64_t)size), large = (int)draw(2);
    long ints = draw_ints();
    const struct type *type = draw_types();
    struct array data = new_array(type, ints / type->ints);
    long count = ints / type->ints;
    if (rank == root)
        for (long i = 0; i < ints; i++)
            put(&data, 0, i, value(root, 0, i));
    begin(&data);
    for (long i = 0; i < ints; i++)
        expect(&data, 0, i, value(root, 0, i));
    int code = large ? MPI_Bcast_c(data.address, count, type->handle, root, MPI_COMM_WORLD)
                     : MPI_Bcast(data.address, (int)count, type->handle, root, MPI_COMM_WORLD);
    verify("bcast", code, &data);
    free_array(&data);
}

/* Sizes and places of blocks, one for each rank, in elements of this rank's type. */
struct blocks {
    int *counts, *displs;
    MPI_Count *large_counts;
    MPI_Aint *large_displs;
    long elements;
};

static struct blocks new_blocks(void)
{
    size_t n = (size_t)size;
    return (struct blocks){malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc(n * sizeof(MPI_Count)),
                           malloc(n * sizeof(MPI_Aint)), 0};
}

static void free_blocks(struct blocks *blocks)
{
    free(blocks->counts);
    free(blocks->displs);
    free(blocks->large_counts);
    free(blocks->large_displs);
}

/* Blocks of `ints[r]`, in order or backwards, with some room between them if `gap`. */
static struct blocks lay_out(const struct type *type, const long *ints, int backwards, int gap)
{
    struct blocks blocks = new_blocks();
    for (int i = 0; i < size; i++) {
        int r = backwards ? size - 1 - i : i;
        blocks.counts[r] = (int)(ints[r] / type->ints);
        blocks.displs[r] = (int)blocks.elements;
        blocks.large_counts[r] = blocks.counts[r];
        blocks.large_displs[r] = blocks.displs[r];
        blocks.elements += blocks.counts[r] + gap;
    }
    return blocks;
}

static long *equal_ints(long ints)
{
    long *list = malloc((size_t)size * sizeof *list);
    for (int r = 0; r < size; r++)
        list[r] = ints;
    return list;
}

static long *draw_ints_each(void)
{
    long *list = malloc((size_t)size * sizeof *list);
    for (int r = 0; r < size; r++)
        list[r] = draw(3) ? draw_ints() : 0;
    return list;
}

/* Gather and scatter in all forms: `to_root` gathers. */
static void with_root(int to_root)
{
    int root = (int)draw((uint64_t)size), each = (int)draw(2), large = (int)draw(2), in_place = !draw(3);
    int backwards = each && draw(2), gap = each ? (int)draw(3) : 0;
    long *ints = each ? draw_ints_each() : equal_ints(draw_ints());
    const struct type *own_type = draw_types(), *root_type = draw_types();
    struct blocks blocks = lay_out(root_type, ints, backwards, gap);
    struct array own = new_array(own_type, ints[rank] / own_type->ints);
    struct array all = new_array(root_type, rank == root ? blocks.elements : 0);
    struct array *result = to_root ? &all : &own;
    for (int r = 0; r < size; r++)
        for (long i = 0; i < ints[r]; i++) {
            if (r == rank && to_root)
                put(&own, 0, i, value(r, 0, i));
            if (rank == root && (!to_root || (in_place && r == root)))
                put(&all, blocks.displs[r], i, value(r, 0, i));
        }
    begin(result);
    int is_in_place = in_place && rank == root;
    for (int r = 0; r < size; r++)
        for (long i = 0; i < ints[r]; i++) {
            if (to_root && rank == root)
                expect(&all, blocks.displs[r], i, value(r, 0, i));
            if (!to_root && r == rank && !is_in_place)
                expect(&own, 0, i, value(r, 0, i));
        }
    char *own_address = is_in_place ? MPI_IN_PLACE : own.address, *all_address = rank == root ? all.address : NULL;
    int count = (int)(ints[rank] / own_type->ints), code;
    MPI_Datatype own_handle = is_in_place ? MPI_DATATYPE_NULL : own_type->handle;
    MPI_Datatype all_handle = rank == root ? root_type->handle : MPI_DATATYPE_NULL;
    if (to_root && each)
        code = large ? MPI_Gatherv_c(own_address, count, own_handle, all_address, blocks.large_counts,
                                     blocks.large_displs, all_handle, root, MPI_COMM_WORLD)
                     : MPI_Gatherv(own_address, count, own_handle, all_address, blocks.counts, blocks.displs,
                                   all_handle, root, MPI_COMM_WORLD);
    else if (to_root)
        code = MPI_Gather(own_address, count, own_handle, all_address, blocks.counts[0], all_handle, root,
                          MPI_COMM_WORLD);
    else if (each)
        code = large ? MPI_Scatterv_c(all_address, blocks.large_counts, blocks.large_displs, all_handle, own_address,
                                      count, own_handle, root, MPI_COMM_WORLD)
                     : MPI_Scatterv(all_address, blocks.counts, blocks.displs, all_handle, own_address, count,
                                    own_handle, root, MPI_COMM_WORLD);
    else
        code = MPI_Scatter(all_address, blocks.counts[0], all_handle, own_address, count, own_handle, root,
                           MPI_COMM_WORLD);
    verify(to_root ? (each ? "gatherv" : "gather") : (each ? "scatterv" : "scatter"), code, result);
    free_array(&own);
    free_array(&all);
    free_blocks(&blocks);
    free(ints);
}

static void gather(void)
{
    with_root(1);
}

static void scatter(void)
{
    with_root(0);
}

static void allgather(void)
{
    int each = (int)draw(2), large = (int)draw(2), in_place = !draw(3);
    int backwards = each && draw(2), gap = each ? (int)draw(3) : 0;
    long *ints = each ? draw_ints_each() : equal_ints(draw_ints());
    const struct type *own_type = draw_types(), *all_type = draw_types();
    struct blocks blocks = lay_out(all_type, ints, backwards, gap);
    struct array own = new_array(own_type, ints[rank] / own_type->ints), all = new_array(all_type, blocks.elements);
    for (long i = 0; i < ints[rank]; i++)
        if (in_place)
            put(&all, blocks.displs[rank], i, value(rank, 0, i));
        else
            put(&own, 0, i, value(rank, 0, i));
    begin(&all);
    for (int r = 0; r < size; r++)
        for (long i = 0; i < ints[r]; i++)
            expect(&all, blocks.displs[r], i, value(r, 0, i));
    char *address = in_place ? MPI_IN_PLACE : own.address;
    MPI_Datatype handle = in_place ? MPI_DATATYPE_NULL : own_type->handle;
    int count = (int)(ints[rank] / own_type->ints), code;
    if (!each)
        code = MPI_Allgather(address, count, handle, all.address, blocks.counts[0], all_type->handle, MPI_COMM_WORLD);
    else
        code = large ? MPI_Allgatherv_c(address, count, handle, all.address, blocks.large_counts,
                                        blocks.large_displs, all_type->handle, MPI_COMM_WORLD)
                     : MPI_Allgatherv(address, count, handle, all.address, blocks.counts, blocks.displs,
                                      all_type->handle, MPI_COMM_WORLD);
    verify(each ? "allgatherv" : "allgather", code, &all);
    free_array(&own);
    free_array(&all);
    free_blocks(&blocks);
    free(ints);
}

enum kind { EQUAL, VARIED, TYPED };

static void alltoall(void)
{
    enum kind kind = (enum kind)draw(3);
    int large = (int)draw(2), in_place = !draw(3), backwards = kind != EQUAL && draw(2);
    int gap = kind == EQUAL ? 0 : (int)draw(3);
    /* What each rank sends to each; in place both directions of a pair are alike. */
    long *ints = malloc((size_t)(size * size) * sizeof *ints), all = draw_ints();
    long cap = draw(6) ? 1200 : largest;
    for (int i = 0; i < size * size; i++) {
        long drawn = draw(3) ? draw_ints() : 0;
        ints[i] = kind == EQUAL ? all : drawn > cap ? cap / 12 * 12 : drawn;
    }
    if (in_place)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < i; j++)
                ints[i * size + j] = ints[j * size + i];
    const struct type *send_type = draw_types(), *receive_type = draw_types();
    long *from = calloc((size_t)size, sizeof *from);
    for (int r = 0; r < size; r++)
        from[r] = ints[r * size + rank];
    struct blocks out = lay_out(send_type, ints + rank * size, backwards, gap);
    struct blocks in = lay_out(receive_type, from, !backwards && kind != EQUAL, gap);
    struct array outgoing = new_array(send_type, out.elements), incoming = new_array(receive_type, in.elements);
    for (int r = 0; r < size; r++)
        for (long i = 0; i < ints[rank * size + r]; i++)
            if (in_place)
                put(&incoming, in.displs[r], i, value(rank, r, i));
            else
                put(&outgoing, out.displs[r], i, value(rank, r, i));
    begin(&incoming);
    for (int r = 0; r < size; r++)
        for (long i = 0; i < from[r]; i++)
            expect(&incoming, in.displs[r], i, value(r, rank, i));
    char *address = in_place ? MPI_IN_PLACE : outgoing.address;
    int code;
    if (kind == EQUAL)
        code = MPI_Alltoall(address, out.counts[0], in_place ? MPI_DATATYPE_NULL : send_type->handle, incoming.address,
                            in.counts[0], receive_type->handle, MPI_COMM_WORLD);
    else if (kind == VARIED)
        code = large ? MPI_Alltoallv_c(address, out.large_counts, out.large_displs, send_type->handle,
                                       incoming.address, in.large_counts, in.large_displs, receive_type->handle,
                                       MPI_COMM_WORLD)
                     : MPI_Alltoallv(address, out.counts, out.displs, send_type->handle, incoming.address, in.counts,
                                     in.displs, receive_type->handle, MPI_COMM_WORLD);
    else {
        MPI_Datatype *send_types = malloc((size_t)size * sizeof *send_types);
        MPI_Datatype *receive_types = malloc((size_t)size * sizeof *receive_types);
        for (int r = 0; r < size; r++) {
            send_types[r] = send_type->handle;
            receive_types[r] = receive_type->handle;
            out.displs[r] *= (int)send_type->extent;
            in.displs[r] *= (int)receive_type->extent;
            out.large_displs[r] = out.displs[r];
            in.large_displs[r] = in.displs[r];
        }
        code = large ? MPI_Alltoallw_c(address, out.large_counts, out.large_displs, send_types, incoming.address,
                                       in.large_counts, in.large_displs, receive_types, MPI_COMM_WORLD)
                     : MPI_Alltoallw(address, out.counts, out.displs, send_types, incoming.address, in.counts,
                                     in.displs, receive_types, MPI_COMM_WORLD);
        free(send_types);
        free(receive_types);
    }
    verify(kind == EQUAL ? "alltoall" : kind == VARIED ? "alltoallv" : "alltoallw", code, &incoming);
    free_array(&outgoing);
    free_array(&incoming);
    free_blocks(&out);
    free_blocks(&in);
    free(ints);
    free(from);
}

/* Operators. An element is a list of ints, of which operators work on neighbouring pairs (a, b), or on the last one
 * alone. `compose` is associative but does not commute: the pair stands for x -> ax + b, applied left to right. */
static const struct type *operand_type;

static void add(unsigned *a, unsigned *b, const unsigned *c, const unsigned *d)
{
    *a += *c;
    *b += *d;
}

/* First (a, b), then (c, d). */
static void compose(unsigned *a, unsigned *b, const unsigned *c, const unsigned *d)
{
    *a *= *c;
    *b = *b * *c + *d;
}

typedef void pair_function(unsigned *, unsigned *, const unsigned *, const unsigned *);

static void on_elements(const char *in, char *inout, long len, MPI_Datatype handle, pair_function *function)
{
    if (handle != operand_type->handle) {
        fprintf(stderr, "rank %d: the operator's function got the wrong datatype\n", rank);
        failures++;
        return;
    }
    for (long e = 0; e < len; e++)
        for (int i = 0; i < operand_type->ints; i += 2) {
            int pair = i + 1 < operand_type->ints;
            long first = e * operand_type->extent + operand_type->offset[i];
            long second = e * operand_type->extent + operand_type->offset[pair ? i + 1 : i];
            unsigned a, b = 0, c, d = 0;
            memcpy(&a, in + first, 4);
            memcpy(&c, inout + first, 4);
            if (pair) {
                memcpy(&b, in + second, 4);
                memcpy(&d, inout + second, 4);
            }
            function(&a, &b, &c, &d);
            memcpy(inout + first, &a, 4);
            if (pair)
                memcpy(inout + second, &b, 4);
        }
}

static void user_add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, add);
}

static void user_compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, compose);
}

static void user_compose_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    on_elements(in, inout, *len, *type, compose);
}

static MPI_Op op_add, op_compose, op_compose_large;

/* What `first` to `last` make of int `index`, in the order of ranks. */
static int reduced(int first, int last, long index, pair_function *function)
{
    int ints = operand_type->ints, at = (int)(index % ints), even = at / 2 * 2;
    int pair = even + 1 < ints;
    long base = index - at + even;
    unsigned a = (unsigned)value(first, 0, base), b = pair ? (unsigned)value(first, 0, base + 1) : 0;
    for (int r = first + 1; r <= last; r++) {
        unsigned c = (unsigned)value(r, 0, base), d = pair ? (unsigned)value(r, 0, base + 1) : 0;
        function(&a, &b, &c, &d);
    }
    return (int)(at == even ? a : b);
}

static void reduction(void)
{
    enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTER, SCATTER_BLOCK, KINDS } kind = draw(KINDS);
    static const char *names[] = {"reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"};
    int root = (int)draw((uint64_t)size), in_place = !draw(3), large = (int)draw(2), choice = (int)draw(4);
    int by_block = kind == SCATTER || kind == SCATTER_BLOCK;
    long *ints = kind == SCATTER ? draw_ints_each() : equal_ints(draw_ints());
    operand_type = choice == 0 ? &types[0] : &types[draw((uint64_t)type_count)];
    MPI_Op op = (MPI_Op[]){MPI_SUM, op_add, op_compose, op_compose_large}[choice];
    pair_function *function = choice < 2 ? add : compose;
    long total = 0, start = 0;
    for (int r = 0; r < size; r++) {
        start = r == rank ? total : start;
        total += ints[r];
    }
    total = by_block ? total : ints[0];
    struct blocks blocks = lay_out(operand_type, ints, 0, 0);
    long count = total / operand_type->ints;
    struct array send = new_array(operand_type, count), receive = new_array(operand_type, count);
    int is_in_place = in_place && (kind != REDUCE || rank == root);
    for (long i = 0; i < total; i++)
        put(is_in_place ? &receive : &send, 0, i, value(rank, 0, i));
    begin(&receive);
    begin(&send);
    if (by_block)
        for (long i = 0; i < ints[rank]; i++)
            expect(&receive, 0, i, reduced(0, size - 1, start + i, function));
    else if (kind == SCAN || (kind == EXSCAN && rank > 0))
        for (long i = 0; i < total; i++)
            expect(&receive, 0, i, reduced(0, rank - (kind == EXSCAN), i, function));
    else if (kind == ALLREDUCE || (kind == REDUCE && rank == root))
        for (long i = 0; i < total; i++)
            expect(&receive, 0, i, reduced(0, size - 1, i, function));
    char *address = is_in_place ? MPI_IN_PLACE : send.address;
    MPI_Datatype handle = operand_type->handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int n = (int)count, code = MPI_SUCCESS;
    switch (kind) {
    case REDUCE:
        code = large ? MPI_Reduce_c(address, rank == root ? receive.address : NULL, count, handle, op, root, world)
                     : MPI_Reduce(address, rank == root ? receive.address : NULL, n, handle, op, root, world);
        break;
    case ALLREDUCE:
        code = large ? MPI_Allreduce_c(address, receive.address, count, handle, op, world)
                     : MPI_Allreduce(address, receive.address, n, handle, op, world);
        break;
    case SCAN:
        code = MPI_Scan(address, receive.address, n, handle, op, world);
        break;
    case EXSCAN:
        code = MPI_Exscan(address, receive.address, n, handle, op, world);
        break;
    case SCATTER:
        code = large ? MPI_Reduce_scatter_c(address, receive.address, blocks.large_counts, handle, op, world)
                     : MPI_Reduce_scatter(address, receive.address, blocks.counts, handle, op, world);
        break;
    default:
        code = MPI_Reduce_scatter_block(address, receive.address, blocks.counts[0], handle, op, world);
    }
    /* In place, what lies behind the own block afterwards is not defined. */
    if (by_block && is_in_place)
        for (long i = ints[rank]; i < total; i++) {
            put(&receive, 0, i, 0);
            expect(&receive, 0, i, 0);
        }
    verify(names[kind], code, &receive);
    verify("a reduction's send buffer", MPI_SUCCESS, &send);
    free_array(&send);
    free_array(&receive);
    free_blocks(&blocks);
    free(ints);
}

static void barrier(void)
{
    verify("barrier", MPI_Barrier(MPI_COMM_WORLD), NULL);
}

static void local_reduction(void)
{
    long ints = draw_ints();
    operand_type = &types[draw((uint64_t)type_count)];
    int commutes = (int)draw(2);
    struct array in = new_array(operand_type, ints / operand_type->ints);
    struct array inout = new_array(operand_type, ints / operand_type->ints);
    for (long i = 0; i < ints; i++) {
        put(&in, 0, i, value(0, 0, i));
        put(&inout, 0, i, value(1, 0, i));
    }
    begin(&inout);
    for (long i = 0; i < ints; i++)
        expect(&inout, 0, i, reduced(0, 1, i, commutes ? add : compose));
    int code = MPI_Reduce_local(in.address, inout.address, (int)(ints / operand_type->ints), operand_type->handle,
                                commutes ? op_add : op_compose);
    verify("reduce_local", code, &inout);
    free_array(&in);
    free_array(&inout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        fprintf(stderr, "usage: fuzz SEED OPERATIONS [LARGEST_INTS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    uint64_t seed = strtoull(argv[1], NULL, 0);
    long operations = atol(argv[2]);
    largest = argc > 3 ? atol(argv[3]) : 120000;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_types(rank);
    MPI_Op_create(user_add, 1, &op_add);
    MPI_Op_create(user_compose, 0, &op_compose);
    MPI_Op_create_c(user_compose_large, 0, &op_compose_large);

    void (*const all[])(void) = {bcast, gather, scatter, allgather, alltoall, reduction, reduction, reduction, barrier,
                                 local_reduction};
    for (operation = 0; operation < operations; operation++) {
        state = mix(seed ^ mix((uint64_t)operation));
        all[draw(sizeof all / sizeof *all)]();
    }
    int sum = 0;
    MPI_Op_free(&op_add);
    MPI_Op_free(&op_compose);
    MPI_Op_free(&op_compose_large);
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, seed %llu: %ld operations, %d failures\n", size, (unsigned long long)seed, operations, sum);
    MPI_Finalize();
    return failures != 0;
}
