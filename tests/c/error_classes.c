// Every function of collectives in three forms, neighbourhoods, intercommunicators, partitioned messages, sessions, buffers and the environment gives the
// right class for each kind of wrong argument, and nothing is broken afterwards.
// ranks: 1-3 7
// heddle: only
#include "error_cases.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++) {
        cases_seen = 0;
        all_cases(MPI_ERRORS_RETURN);
    }
    // Correct calls still work after all that.
    int sum = 0;
    MPI_Request all;
    CHECK_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    return check_finish();
}
