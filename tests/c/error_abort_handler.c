// MPI_ERRORS_ABORT ends the processes of the communicator with a failure.
// expect: fail
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT));
    int value = 0;
    if (check_rank == 0) MPI_Send(&value, 1, MPI_INT, -77, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
