// Execution offload: a program that ends without MPI_Finalize, with messages in flight, ends at once with its own status; the
// library's threads do not delay it.
// ranks: 1
// levels: multiple single
// launcher: none
// expect: exit 6
// heddle: only
#include "check.h"

static char large[1 << 20];

static void at_exit(void) {
    // Still there, and of no harm.
    int running = 0;
    MPI_Initialized(&running);
    if (!running) _Exit(1);
}

int main(int argc, char **argv) {
    setenv("HEDDLE_MODEL", "offload", 1);
    check_start(argc, argv);
    atexit(at_exit);
    for (int i = 0; i < 50; i++) {
        MPI_Request request;
        CHECK_OK(MPI_Isend(large, i % 2 ? 1 : (int)sizeof large, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Irecv(large, 1, MPI_BYTE, MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, &request));
    }
    return 6;
}
