/* Operations that reduce. */
#ifndef REDUCTION_H
#define REDUCTION_H

#include "blocks.h"
#include "forms.h"
#include "operators.h"

static void reduction(void)
{
    draw_form();
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
        code = large ? CALL_C(in_place, Reduce, reduce, address, rank == root ? receive.address : NULL, count, handle, op, root, world)
                     : CALL(in_place, Reduce, reduce, address, rank == root ? receive.address : NULL, n, handle, op, root, world);
        break;
    case ALLREDUCE:
        code = large ? CALL_C(in_place, Allreduce, allreduce, address, receive.address, count, handle, op, world)
                     : CALL(in_place, Allreduce, allreduce, address, receive.address, n, handle, op, world);
        break;
    case SCAN:
        code = CALL(in_place, Scan, scan, address, receive.address, n, handle, op, world);
        break;
    case EXSCAN:
        code = CALL(in_place, Exscan, exscan, address, receive.address, n, handle, op, world);
        break;
    case SCATTER:
        code = large ? CALL_C(in_place, Reduce_scatter, reduce_scatter, address, receive.address, blocks.large_counts, handle, op, world)
                     : CALL(in_place, Reduce_scatter, reduce_scatter, address, receive.address, blocks.counts, handle, op, world);
        break;
    default:
        code = CALL(in_place, Reduce_scatter_block, reduce_scatter_block, address, receive.address, blocks.counts[0], handle, op, world);
    }
    /* In place, the data behind this rank's block is undefined afterwards. */
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

#endif
