// A handler that the program sets on MPI_COMM_SELF counts, also the one that was there: the handler of MPI_COMM_WORLD does not.
// expect: fail
// ranks: 2
// output: MPI_Type_free failed on rank [01] in MPI_COMM_SELF: MPI_ERR_TYPE
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    MPI_Datatype type = MPI_INT;
    check_start(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
