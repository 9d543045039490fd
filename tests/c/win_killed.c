// A process is killed while it holds a window lock: the job ends with a message that names it, and nobody waits for ever.
// ranks: 2 4
// expect: fail
// output: rank 1 .* was killed by signal 9
// heddle: only
#include "check.h"

#include <signal.h>

int main(int argc, char **argv) {
    check_start(argc, argv);
    int *memory;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    if (check_rank == 1) CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 1) raise(SIGKILL);
    CHECK_OK(MPI_Win_lock(check_rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
    return 0;
}
