// MPI_Abort ends every rank, and its code becomes the exit status of the job.
// expect: exit 37
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    int value = 0;
    if (check_rank == check_size / 2) MPI_Abort(MPI_COMM_WORLD, 37);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
