// Messages that share a packet arrive although their sender calls MPI no more: it waits for a file that the receiver makes
// once it has them.   linger FILE
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, word;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        for (int i = 0; i < 5; i++) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        while (access(argv[1], F_OK) != 0) {
        }
    } else {
        for (int i = 0; i < 5; i++) {
            MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (word != i) MPI_Abort(MPI_COMM_WORLD, 1);
        }
        FILE *file = fopen(argv[1], "w");
        if (!file || fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
        printf("all messages have arrived\n");
    }
    MPI_Finalize();
    return 0;
}
