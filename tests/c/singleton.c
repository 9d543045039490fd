// A program started without mpiexec is a world of one.
// launcher: none
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_EQ(check_rank, 0);
    CHECK_EQ(check_size, 1);
    int in = 0, out = 5, sum = 0;
    MPI_Comm dup, split;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 5);
    CHECK_OK(MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(sum, 5);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_split(dup, 0, 0, &split));
    CHECK_OK(MPI_Bcast(&out, 1, MPI_INT, 0, split));
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free(&dup));
    return check_finish();
}
