// The default error handler ends the job when one rank makes an error; the others are waiting.
// expect: fail
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    int value = 0;
    if (check_rank == check_size - 1) MPI_Send(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
