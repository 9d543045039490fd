// Three ranks on three machines; the link of the last one is cut. Rank 1 waits for rank 2, with which it has never exchanged
// anything, so it cannot miss it: rank 0 tells it of the loss.
#include "../c/check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int word = 0;
    MPI_Status status;
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (check_rank == 0) {
        for (int other = 1; other < 3; other++) {
            CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &status));
        }
        printf("all have met\n");
        fflush(stdout);
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    } else {
        CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status));
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, check_rank == 1 ? 2 : 0, 1, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    }
    int failed = check_finish();
    if (check_rank == 1) {
        printf("rank 1 has heard of it\n");
        fflush(stdout);
    }
    return failed;
}
