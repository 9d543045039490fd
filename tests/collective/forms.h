/* The forms of an operation: blocking, nonblocking, persistent. And operations that are under way meanwhile. */
#ifndef FORMS_H
#define FORMS_H

#include "draws.h"

static enum form { BLOCKING, NONBLOCKING, PERSISTENT } form;
static MPI_Request request;

static void draw_form(void)
{
    form = (enum form)draw(3);
}

/* Completes the request by one of the completing calls. */
static int completed(int code)
{
    MPI_Status status;
    int done = 0, index;
    if (code != MPI_SUCCESS)
        return code;
    switch (draw(4)) {
    case 0:
        return MPI_Wait(&request, &status);
    case 1:
        while (!done && code == MPI_SUCCESS)
            code = MPI_Test(&request, &done, &status);
        return code;
    case 2:
        return MPI_Waitany(1, &request, &index, &status);
    default:
        while (!done && code == MPI_SUCCESS)
            code = MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
        return code;
    }
}

/* Starts and completes a persistent request, several times unless the operation overwrites its operands. */
static int started(int code, int in_place)
{
    int starts = in_place ? 1 : 1 + (int)draw(3);
    while (code == MPI_SUCCESS && starts-- > 0) {
        code = MPI_Start(&request);
        code = completed(code);
    }
    return code == MPI_SUCCESS ? MPI_Request_free(&request) : code;
}

/* Calls an operation in the form that was drawn. */
#define CALL(in_place, name, iname, ...) \
    (form == BLOCKING      ? MPI_##name(__VA_ARGS__) \
     : form == NONBLOCKING ? completed(MPI_I##iname(__VA_ARGS__, &request)) \
                           : started(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), in_place))
#define CALL_C(in_place, name, iname, ...) \
    (form == BLOCKING      ? MPI_##name##_c(__VA_ARGS__) \
     : form == NONBLOCKING ? completed(MPI_I##iname##_c(__VA_ARGS__, &request)) \
                           : started(MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), in_place))

/* Operations that are under way while others follow. */
enum { UNDER_WAY = 4, MOST_PENDING = 3000 };
static struct pending {
    MPI_Request request;
    int kind, root, count;
    int *out, *in;
    long number;
} under_way[UNDER_WAY];

static int sum_of(int index)
{
    return size * (size - 1) / 2 + size * index;
}

static void check_pending(struct pending *it)
{
    int wrong = 0;
    int block = it->count / size;
    for (int i = 0; i < it->count; i++) {
        int wanted[] = {sum_of(i), it->root + i, i / block + i % block, -1};
        wrong += it->in[i] != wanted[it->kind];
    }
    if (wrong && failures++ < 5)
        fprintf(stderr, "rank %d of %d, operation %ld, under way since %ld, kind %d: %d wrong of %d\n", rank, size,
                operation, it->number, it->kind, wrong, it->count);
    free(it->out);
    free(it->in);
    it->out = it->in = NULL;
}

/* Begins an operation that is completed later, and completes some. */
static void go_on_with_others(void)
{
    struct pending *it = &under_way[draw(UNDER_WAY)];
    if (it->out) {
        if (MPI_Wait(&it->request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            failures++;
        check_pending(it);
        return;
    }
    int block = 1 + (int)draw(draw(3) ? 20 : MOST_PENDING / (unsigned)size);
    int kind = (int)draw(4), root = (int)draw((uint64_t)size);
    *it = (struct pending){MPI_REQUEST_NULL, kind, root, block * size, NULL, NULL, operation};
    it->out = malloc((size_t)it->count * sizeof(int));
    it->in = malloc((size_t)it->count * sizeof(int));
    for (int i = 0; i < it->count; i++) {
        it->out[i] = rank + (it->kind == 2 ? i % block : i);
        it->in[i] = it->kind == 1 && rank == it->root ? rank + i : -1;
    }
    int code;
    switch (it->kind) {
    case 0:
        code = MPI_Iallreduce(it->out, it->in, it->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &it->request);
        break;
    case 1:
        code = MPI_Ibcast(it->in, it->count, MPI_INT, it->root, MPI_COMM_WORLD, &it->request);
        break;
    case 2:
        code = MPI_Ialltoall(it->out, block, MPI_INT, it->in, block, MPI_INT, MPI_COMM_WORLD, &it->request);
        break;
    default:
        code = MPI_Ibarrier(MPI_COMM_WORLD, &it->request);
    }
    failures += code != MPI_SUCCESS;
}

/* Completes all that is under way. */
static void end_with_others(void)
{
    MPI_Request requests[UNDER_WAY];
    for (int i = 0; i < UNDER_WAY; i++)
        requests[i] = under_way[i].out ? under_way[i].request : MPI_REQUEST_NULL;
    if (MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        failures++;
    for (int i = 0; i < UNDER_WAY; i++)
        if (under_way[i].out)
            check_pending(&under_way[i]);
}

#endif
