/* Random collective operations, checked byte by byte.
 *
 *   fuzz SEED OPERATIONS [LARGEST_INTS]
 *
 * All ranks draw the same random numbers, so each knows what every other one contributes and computes by itself what
 * must come out. Ranks may describe equal data by different datatypes. Each operation comes in one of its forms, and up
 * to four others are under way meanwhile. Nothing but the operation's own messages is
 * used, so that operations of different kinds follow each other without a pause. */
#include "movement.h"
#include "reduction.h"

static void barrier(void)
{
    draw_form();
    int code = form == BLOCKING      ? MPI_Barrier(MPI_COMM_WORLD)
               : form == NONBLOCKING ? completed(MPI_Ibarrier(MPI_COMM_WORLD, &request))
                                     : started(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request), 0);
    verify("barrier", code, NULL);
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
        if (!draw(3))
            go_on_with_others();
    }
    end_with_others();
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
