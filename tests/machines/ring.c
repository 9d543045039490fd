// A token goes round all ranks; every rank says on how many machines they are. With the argument `killed`, the last rank is
// killed in the middle while the others wait for it. With `long`, rank 0 says when half is done, and the token goes round
// more often.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, token = 0, local, first, machines = 0;
    MPI_Comm machine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local);
    first = local == 0;
    MPI_Allreduce(&first, &machines, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int rounds = argc > 1 && strcmp(argv[1], "long") == 0 ? 100000 : 1000;
    for (int round = 0; round < rounds; round++) {
        if (rounds > 1000 && rank == 0 && round == 1000) {
            printf("on the way\n");
            fflush(stdout);
        }
        if (argc > 1 && strcmp(argv[1], "killed") == 0 && round == 500 && rank == size - 1) raise(SIGKILL);
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("%d ranks on %d machines: the token was passed on %d times\n", size, machines, token);
        if (token != rounds * (size - 1)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&machine);
    MPI_Finalize();
    return 0;
}
