/* Operations that move data. */
#ifndef MOVEMENT_H
#define MOVEMENT_H

#include "blocks.h"
#include "forms.h"

static void bcast(void)
{
    draw_form();
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
    int code = large ? CALL_C(0, Bcast, bcast, data.address, count, type->handle, root, MPI_COMM_WORLD)
                     : CALL(0, Bcast, bcast, data.address, (int)count, type->handle, root, MPI_COMM_WORLD);
    verify("bcast", code, &data);
    free_array(&data);
}

/* Gather and scatter in all forms: `to_root` gathers. */
static void with_root(int to_root)
{
    draw_form();
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
        code = large ? CALL_C(in_place, Gatherv, gatherv, own_address, count, own_handle, all_address, blocks.large_counts,
                                     blocks.large_displs, all_handle, root, MPI_COMM_WORLD)
                     : CALL(in_place, Gatherv, gatherv, own_address, count, own_handle, all_address, blocks.counts, blocks.displs,
                                   all_handle, root, MPI_COMM_WORLD);
    else if (to_root)
        code = CALL(in_place, Gather, gather, own_address, count, own_handle, all_address, blocks.counts[0], all_handle, root,
                          MPI_COMM_WORLD);
    else if (each)
        code = large ? CALL_C(in_place, Scatterv, scatterv, all_address, blocks.large_counts, blocks.large_displs, all_handle, own_address,
                                      count, own_handle, root, MPI_COMM_WORLD)
                     : CALL(in_place, Scatterv, scatterv, all_address, blocks.counts, blocks.displs, all_handle, own_address, count,
                                    own_handle, root, MPI_COMM_WORLD);
    else
        code = CALL(in_place, Scatter, scatter, all_address, blocks.counts[0], all_handle, own_address, count, own_handle, root,
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
    draw_form();
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
        code = CALL(in_place, Allgather, allgather, address, count, handle, all.address, blocks.counts[0], all_type->handle, MPI_COMM_WORLD);
    else
        code = large ? CALL_C(in_place, Allgatherv, allgatherv, address, count, handle, all.address, blocks.large_counts,
                                        blocks.large_displs, all_type->handle, MPI_COMM_WORLD)
                     : CALL(in_place, Allgatherv, allgatherv, address, count, handle, all.address, blocks.counts, blocks.displs,
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
    draw_form();
    enum kind kind = (enum kind)draw(3);
    int large = (int)draw(2), in_place = !draw(3), backwards = kind != EQUAL && draw(2);
    int gap = kind == EQUAL ? 0 : (int)draw(3);
    /* The amount that each rank sends to each; in place both directions of a pair are equal. */
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
        code = CALL(in_place, Alltoall, alltoall, address, out.counts[0], in_place ? MPI_DATATYPE_NULL : send_type->handle, incoming.address,
                            in.counts[0], receive_type->handle, MPI_COMM_WORLD);
    else if (kind == VARIED)
        code = large ? CALL_C(in_place, Alltoallv, alltoallv, address, out.large_counts, out.large_displs, send_type->handle,
                                       incoming.address, in.large_counts, in.large_displs, receive_type->handle,
                                       MPI_COMM_WORLD)
                     : CALL(in_place, Alltoallv, alltoallv, address, out.counts, out.displs, send_type->handle, incoming.address, in.counts,
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
        code = large ? CALL_C(in_place, Alltoallw, alltoallw, address, out.large_counts, out.large_displs, send_types, incoming.address,
                                       in.large_counts, in.large_displs, receive_types, MPI_COMM_WORLD)
                     : CALL(in_place, Alltoallw, alltoallw, address, out.counts, out.displs, send_types, incoming.address, in.counts,
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

#endif
