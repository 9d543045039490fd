// A process that begins and ends sessions does not grow: groups and communicators of each, alone and beside a session that
// stays; the library ends and starts again with each in the first half.
// levels: none
// ranks: 1-4
// heddle: only
#include "resident.h"
#include "sessions.h"

enum { ROUNDS = 4000, GROWTH_KIB = 1 << 10 };

static void round_of(int i) {
    MPI_Session session = session_begin();
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    MPI_Comm comm = session_comm(session, i % 4 ? "mpi://SELF" : "mpi://WORLD", "flat"), dup = MPI_COMM_NULL;
    int rank = -1, size = -1, got = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_dup(comm, &dup));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Bsend(&i, 1, MPI_INT, (rank + 1) % size, 0, dup));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 0, dup, MPI_STATUS_IGNORE));
    CHECK_EQ(got, i);
    CHECK_OK(MPI_Comm_free(&dup));
    session_end(&session);
}

static void rounds(int count) {
    for (int i = 0; i < count; i++) round_of(i);
}

int main(void) {
    for (int beside = 0; beside < 2; beside++) {
        MPI_Session stays = beside ? session_begin() : MPI_SESSION_NULL;
        rounds(ROUNDS / 4);
        long before = resident_kib();
        rounds(ROUNDS);
        long grown = resident_kib() - before;
        if (!CHECK(grown < GROWTH_KIB)) fprintf(stderr, "grew by %ld KiB\n", grown);
        if (beside) session_end(&stays);
    }
    return check_status();
}
