// Without memory for a ring its sender ends the job with advice, instead of being killed by SIGBUS: at the first message to a
// peer, or at the first that takes the bulk area.
// ranks: 2
// levels: single multiple
// expect: exit 1
// output: skipped|no shared memory for messages to rank 1: No space left.*HEDDLE_VNIS
// heddle: only
#include "check.h"
#include "memory_limit.h"

int main(int argc, char **argv) {
    static char bytes[10000];
    check_start(argc, argv);
    bool ring_is_open = check_level_asked(argc, argv) == MPI_THREAD_SINGLE;
    if (check_rank != 0) {
        if (ring_is_open) CHECK_OK(MPI_Recv(bytes, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 0;
    }
    if (ring_is_open) CHECK_OK(MPI_Send(bytes, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    if (!leave_no_memory()) {
        fprintf(stderr, "skipped: no seccomp here\n");
        return 1;
    }
    MPI_Send(bytes, ring_is_open ? sizeof bytes : 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize(); // under offload the message may leave only now
    return 0;
}
