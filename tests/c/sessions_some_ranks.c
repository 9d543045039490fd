// Sessions concern the processes that communicate: one rank never calls MPI, one has a session alone, the others talk without
// them and leave at different times; what was sent before the end of a session arrives after it.
// levels: none
// ranks: 4-6
// heddle: only
#include "sessions.h"

#include <time.h>

enum { LARGE = 300000, MANY = 3000 };

static unsigned char data[LARGE];

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

// The first rank of the pair sends buffered messages and is gone; the second receives them late. One message is in the buffer of
// a communicator that is freed at once, which the end of the session does not know.
static void gone_before_receipt(MPI_Session session, MPI_Comm pair, int rank) {
    MPI_Comm freed = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(pair, &freed));
    if (rank == 0) {
        CHECK_OK(MPI_Comm_attach_buffer(freed, MPI_BUFFER_AUTOMATIC, 0));
        pattern_fill(data, LARGE, 2);
        CHECK_OK(MPI_Bsend(data, LARGE, MPI_BYTE, 1, 3, freed));
        CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
        pattern_fill(data, LARGE, 1);
        for (int i = 0; i < MANY; i++) CHECK_OK(MPI_Bsend(&i, 1, MPI_INT, 1, 1, pair));
        CHECK_OK(MPI_Bsend(data, LARGE, MPI_BYTE, 1, 2, pair));
    } else {
        pause_ms(100);
        for (int i = 0; i < MANY; i++) {
            int got = -1;
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE));
            if (!CHECK_EQ(got, i)) break;
        }
        CHECK_OK(MPI_Recv(data, LARGE, MPI_BYTE, 0, 2, pair, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, LARGE, 1);
        pause_ms(100);
        CHECK_OK(MPI_Recv(data, LARGE, MPI_BYTE, 0, 3, freed, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, LARGE, 2);
    }
    CHECK_OK(MPI_Comm_free(&freed));
}

int main(void) {
    check_rank = atoi(getenv("HEDDLE_RANK"));
    if (check_rank == 0) return 0;
    MPI_Session session = session_begin();
    if (check_rank == 1) {
        session_end(&session);
        return check_status();
    }
    int size = -1, ranks[2] = {2, 3}, rank = -1;
    MPI_Group world = session_group(session, "mpi://WORLD"), group;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Group_size(world, &size));
    int range[1][3] = {{2, size - 1, 1}};
    CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "most", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    session_exchange(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    if (check_rank < 4) {
        CHECK_OK(MPI_Group_incl(world, 2, ranks, &group));
        CHECK_OK(MPI_Comm_create_from_group(group, "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        gone_before_receipt(session, comm, rank);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&world));
    session_end(&session);
    return check_status();
}
