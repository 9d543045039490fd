// A rank that returns non-zero after MPI_Finalize makes the job fail with its status.
// expect: exit 5
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return check_rank == check_size - 1 ? 5 : 0;
}
