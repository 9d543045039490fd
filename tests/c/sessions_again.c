// A session before MPI_Init and one after MPI_Finalize, which reaches ranks that nobody has spoken to before.
// levels: none
// ranks: 1-4
#include "sessions.h"

int main(void) {
    MPI_Session session = session_begin();
    session_end(&session);
    CHECK_OK(MPI_Init(NULL, NULL));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK_OK(MPI_Finalize());

    session = session_begin();
    MPI_Comm world = session_comm(session, "mpi://WORLD", "again");
    int size = -1;
    CHECK_OK(MPI_Comm_size(world, &size));
    for (int distance = 0; distance < size; distance++) {
        int to = (check_rank + distance) % size, from = (check_rank + size - distance) % size, got = -1;
        CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, world, MPI_STATUS_IGNORE));
        CHECK_EQ(got, from);
    }
    CHECK_OK(MPI_Comm_free(&world));
    session_end(&session);
    return check_status();
}
