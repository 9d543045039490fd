// The error for a broken promise names the promise.
// heddle: only
// ranks: 1
// expect: fail
// output: MPI_ANY_TAG in fabric, which was made with the info hint mpi_assert_no_any_tag=true
#include "check.h"

int main(int argc, char **argv) {
    MPI_Info info;
    MPI_Comm comm;
    int in;
    check_start(argc, argv);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm));
    CHECK_OK(MPI_Comm_set_name(comm, "fabric"));
    MPI_Recv(&in, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    return 0;
}
