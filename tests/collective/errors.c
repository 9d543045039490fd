/* Wrong calls of collective operations: each gives the right error class, and none hangs or crashes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;

static int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static void check(int line, const char *call, int code, int class, int or_class)
{
    int got = class_of(code);
    if (got == class || got == or_class)
        return;
    failures++;
    fprintf(stderr, "rank %d, line %d: %s gave class %d, wanted %d\n", rank, line, call, got, class);
}

#define CHECK(class, call) check(__LINE__, #call, call, class, class)
#define CHECK_EITHER(class, or_class, call) check(__LINE__, #call, call, class, or_class)

static void nothing(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

/* Every rank makes the same wrong call, so no rank waits for another. */
static void wrong_arguments(void)
{
    static int a[1024], b[1024];
    int counts[64], displs[64];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Op freed;
    for (int r = 0; r < size; r++)
        counts[r] = displs[r] = 1;
    CHECK(MPI_ERR_ROOT, MPI_Bcast(a, 1, MPI_INT, size, world));
    CHECK(MPI_ERR_ROOT, MPI_Bcast(a, 1, MPI_INT, -1, world));
    CHECK(MPI_ERR_ROOT, MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, size, world));
    CHECK(MPI_ERR_ROOT, MPI_Scatterv(a, counts, displs, MPI_INT, b, 1, MPI_INT, -7, world));
    CHECK(MPI_ERR_ROOT, MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 1 << 20, world));
    CHECK(MPI_ERR_COUNT, MPI_Bcast(a, -1, MPI_INT, 0, world));
    CHECK(MPI_ERR_COUNT, MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, world));
    counts[size - 1] = -1;
    CHECK(MPI_ERR_COUNT, MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world));
    CHECK(MPI_ERR_COUNT, MPI_Allgatherv(a, 1, MPI_INT, b, counts, displs, MPI_INT, world));
    counts[size - 1] = 1;
    CHECK(MPI_ERR_TYPE, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, world));
    CHECK(MPI_ERR_TYPE, MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, world));
    CHECK(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    CHECK(MPI_ERR_COMM, MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL));
    CHECK(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, world));
    CHECK(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, world));
    CHECK(MPI_ERR_BUFFER, MPI_Allreduce(a, a, 4, MPI_INT, MPI_SUM, world));
    CHECK(MPI_ERR_BUFFER, MPI_Allreduce(a, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, world));
    CHECK(MPI_ERR_BUFFER, MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, world));
    CHECK(MPI_ERR_BUFFER, MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, world));
    CHECK(MPI_ERR_BUFFER, MPI_Scan(a, a, 1, MPI_INT, MPI_SUM, world));
    CHECK(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world));
    CHECK(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, world));
    CHECK(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, world));
    CHECK(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, world));
    CHECK(MPI_ERR_OP, MPI_Scan(a, b, 1, MPI_INT, MPI_REPLACE, world));
    CHECK(MPI_ERR_OP, MPI_Reduce_local(a, b, 1, MPI_WCHAR, MPI_SUM));
    MPI_Op sum = MPI_SUM, none = MPI_OP_NULL;
    CHECK(MPI_ERR_OP, MPI_Op_free(&sum));
    CHECK(MPI_ERR_OP, MPI_Op_free(&none));
    CHECK(MPI_SUCCESS, MPI_Op_create(nothing, 1, &freed));
    MPI_Op copy = freed;
    CHECK(MPI_SUCCESS, MPI_Op_free(&freed));
    CHECK(MPI_ERR_OP, MPI_Allreduce(a, b, 1, MPI_INT, copy, world));
    CHECK(MPI_ERR_OP, MPI_Op_free(&copy));
    CHECK(MPI_SUCCESS, MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, world));
    CHECK(MPI_SUCCESS, MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, world));
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
}

/* Ranks disagree about the amount of data. A rank that receives too much or too little gets an error, and the next operation
 * works. Amounts stay on one side of every switch point: ranks that chose different algorithms could hang. */
static void disagreeing_counts(void)
{
    static int a[64], b[64 * 64];
    MPI_Comm world = MPI_COMM_WORLD;
    if (size == 1)
        return;
    int wrong = rank == size - 1, n = wrong ? 3 : 2;
    /* The wrong rank is a leaf of every tree with root 0. */
    int code = MPI_Bcast(a, n, MPI_INT, 0, world);
    check(__LINE__, "MPI_Bcast with too much room", code, wrong ? MPI_ERR_COUNT : MPI_SUCCESS, MPI_SUCCESS);
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
    code = MPI_Bcast(a, wrong ? 1 : 2, MPI_INT, 0, world);
    check(__LINE__, "MPI_Bcast with too little room", code, wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS, MPI_SUCCESS);
    if (wrong && code == MPI_SUCCESS)
        failures++, fprintf(stderr, "a truncated broadcast succeeded\n");
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
    CHECK_EITHER(MPI_SUCCESS, MPI_ERR_TRUNCATE, MPI_Gather(a, n, MPI_INT, b, 2, MPI_INT, 0, world));
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
    code = MPI_Allgather(a, n, MPI_INT, b, 2, MPI_INT, world);
    check(__LINE__, "MPI_Allgather", code, wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS, MPI_ERR_TRUNCATE);
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
    CHECK_EITHER(wrong ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE, MPI_SUCCESS,
                 MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, world));
    CHECK(MPI_SUCCESS, MPI_Barrier(world));
    int mine = rank + 1, sum = 0;
    CHECK(MPI_SUCCESS, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, world));
    if (sum != size * (size + 1) / 2)
        failures++, fprintf(stderr, "rank %d: an operation after errors gave %d\n", rank, sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong_arguments();
    disagreeing_counts();
    int sum = 0;
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, wrong calls: %d failures\n", size, sum);
    MPI_Finalize();
    return failures != 0;
}
