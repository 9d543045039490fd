// A process that exits with a session fails, and the launcher says why.
// levels: none
// ranks: 1-3
// expect: fail
// output: rank 0 .*exited with code 0 after MPI_Session_init without MPI_Session_finalize
// heddle: only
#include "sessions.h"

int main(void) {
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "open");
    CHECK_OK(MPI_Comm_rank(comm, &check_rank));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    if (check_rank != 0) session_end(&session);
    return 0;
}
