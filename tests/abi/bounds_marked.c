/* MPI_LB and MPI_UB, which MPI 3.0 removed and MPICH's header still has: marks of a datatype's bounds. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define CHECK(good)                                                   \
    do {                                                              \
        if (!(good)) {                                                \
            printf("line %d: not so: %s\n", __LINE__, #good);         \
            MPI_Abort(MPI_COMM_WORLD, 1);                             \
        }                                                             \
    } while (0)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int lengths[] = {1, 1, 1}, size, rank;
    MPI_Aint at[] = {-4, 0, 12}, lb, extent;
    MPI_Datatype parts[] = {MPI_LB, MPI_INT, MPI_UB}, made;
    CHECK(MPI_Type_create_struct(3, lengths, at, parts, &made) == MPI_SUCCESS);
    MPI_Type_commit(&made);
    MPI_Type_get_extent(made, &lb, &extent);
    MPI_Type_size(made, &size);
    CHECK(lb == -4 && extent == 16 && size == 4);

    int integers[4], envelope[4];
    MPI_Aint addresses[3];
    MPI_Datatype types[3], mark = MPI_UB;
    CHECK(MPI_Type_get_contents(made, 4, 3, 3, integers, addresses, types) == MPI_SUCCESS);
    MPI_Type_get_envelope(types[0], &envelope[0], &envelope[1], &envelope[2], &envelope[3]);
    CHECK(envelope[0] == 0 && envelope[3] == MPI_COMBINER_NAMED);
    MPI_Type_size(MPI_UB, &size);
    CHECK(size == 0 && MPI_Type_free(&mark) != MPI_SUCCESS);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_get_name(MPI_LB, name, &size);
    CHECK(strcmp(name, "MPI_LB") == 0);

    /* Items lie an extent apart. */
    int from[8] = {1, 0, 0, 0, 2}, to[8] = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(from, 2, made, rank, 0, to, 2, made, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(to[0] == 1 && to[4] == 2);
    MPI_Type_free(&made);
    if (rank == 0) printf("bounds_marked: good\n");
    MPI_Finalize();
    return 0;
}
