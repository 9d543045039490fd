// Datatypes belong to no session: one that is made and committed in a session serves after MPI_Init, after MPI_Finalize, and in the next session.
// levels: none
// ranks: 1-2
#include "sessions.h"

static MPI_Datatype every_other;

// All ranks send three numbers with gaps to the next one.
static void use(MPI_Comm comm) {
    int rank = -1, size = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int out[5] = {rank, -1, rank + 10, -1, rank + 20}, in[5] = {7, 7, 7, 7, 7};
    CHECK_OK(MPI_Sendrecv(out, 1, every_other, to, 1, in, 1, every_other, from, 1, comm, MPI_STATUS_IGNORE));
    CHECK(in[0] == from && in[1] == 7 && in[2] == from + 10 && in[3] == 7 && in[4] == from + 20);
}

static void in_session(MPI_Session session) {
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "types");
    CHECK_OK(MPI_Comm_rank(comm, &check_rank));
    use(comm);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    MPI_Session first = session_begin();
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &every_other));
    CHECK_OK(MPI_Type_commit(&every_other));
    in_session(first);
    CHECK_OK(MPI_Init(&argc, &argv));
    use(MPI_COMM_WORLD);
    CHECK_OK(MPI_Finalize());
    MPI_Session second = session_begin();
    session_end(&first);
    in_session(second);
    CHECK_OK(MPI_Type_free(&every_other));
    CHECK(every_other == MPI_DATATYPE_NULL);
    session_end(&second);
    return check_status();
}
