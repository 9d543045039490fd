// The handler of MPI_FILE_NULL can be fatal.
// expect: fail
// ranks: 2
// output: MPI_File_open failed on rank [01] in MPI_FILE_NULL: MPI_ERR_UNSUPPORTED_OPERATION
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    MPI_File file;
    check_start(argc, argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Finalize();
    return 0;
}
