// No process leaves a barrier before the last one has entered it, each being the last in turn: blocking, nonblocking and
// persistent, on shared memory and by messages, in one group and between two.
// ranks: 2-8
// variants: blackboards messages
#include "check.h"
#include <sched.h>

enum { FORMS = 3, YIELDS = 50 };

// At each process, for each other one: the last barrier that it has entered, and that it is about to enter.
static MPI_Win win;
static int entered;

static void tell(int place, int rank) {
    CHECK_OK(MPI_Accumulate(&entered, 1, MPI_INT, rank, place, 1, MPI_INT, MPI_REPLACE, win));
    CHECK_OK(MPI_Win_flush(rank, win));
}

static int told(int place) {
    int number = -1;
    CHECK_OK(MPI_Fetch_and_op(NULL, &number, MPI_INT, check_rank, place, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_flush(check_rank, win));
    return number;
}

static void barrier(MPI_Comm comm, int form) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == 0) {
        CHECK_OK(MPI_Barrier(comm));
    } else if (form == 1) {
        CHECK_OK(MPI_Ibarrier(comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&request));
    }
}

static void last(int late, MPI_Comm comm, int form) {
    entered++;
    if (check_rank == late) {
        // The others have time to leave, if nothing holds them back.
        for (int r = 0; r < check_size; r++)
            while (r != late && told(check_size + r) < entered) sched_yield();
        for (int i = 0; i < YIELDS; i++) sched_yield();
    } else {
        tell(check_size + check_rank, late);
    }
    for (int r = 0; r < check_size; r++) tell(check_rank, r);
    barrier(comm, form);
    for (int r = 0; r < check_size; r++) CHECK(told(r) >= entered);
}

int main(int argc, char **argv) {
    if (strcmp(argv[argc - 1], "messages") == 0) setenv("HEDDLE_BLACKBOARDS", "off", 1);
    check_start(argc, argv);
    int *places;
    MPI_Comm half, comm, between;
    MPI_Aint bytes = (MPI_Aint)sizeof(int) * 2 * check_size;
    CHECK_OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &places, &win));
    memset(places, 0, (size_t)bytes);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 0, &between));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int late = 0; late < check_size; late++) {
        for (int form = 0; form < FORMS; form++) {
            for (int round = 0; round < 3; round++) last(late, comm, form);
            last(late, between, form);
        }
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&between));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free(&half));
    return check_finish();
}
