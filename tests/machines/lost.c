// All ranks exchange messages; then the last one says so, and the others wait for messages of it that never come. With the
// argument `compute` they never call MPI again, with `exchange` they exchange messages for ever.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, word = 0;
    const char *then = argc > 1 ? argv[1] : "wait";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool said = false;
    do {
        for (int other = 0; other < size; other++)
            MPI_Sendrecv(&rank, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1 && !said) {
            printf("all have met\n");
            fflush(stdout);
            said = true;
        }
    } while (strcmp(then, "exchange") == 0);
    while (strcmp(then, "compute") == 0) pause();
    MPI_Recv(&word, 1, MPI_INT, rank == size - 1 ? 0 : size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
