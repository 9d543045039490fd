// Three ranks on three machines; the link of the last one is cut. Rank 1 waits for rank 2, with which it has never exchanged
// anything, so it cannot miss it: rank 0 tells it of the loss. The ranks have sessions alone, whose errors return.
#include "../c/sessions.h"

int main(void) {
    int word = 0, rank;
    MPI_Status status;
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "hearsay");
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    if (rank == 0) {
        for (int other = 1; other < 3; other++) {
            CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0, comm, &status));
        }
        printf("all have met\n");
        fflush(stdout);
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, 2, 1, comm, &status), MPI_ERR_PROC_ABORTED);
    } else {
        CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &word, 1, MPI_INT, 0, 0, comm, &status));
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, rank == 1 ? 2 : 0, 1, comm, &status), MPI_ERR_PROC_ABORTED);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    if (rank == 1) {
        printf("rank 1 has heard of it\n");
        fflush(stdout);
    }
    return check_status();
}
