// Execution offload: a process with offload threads may fork. The child, which has no offload threads, ends or becomes another
// program; the parent goes on.
// ranks: 2
// levels: multiple single
// heddle: only
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child) {
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

int main(int argc, char **argv) {
    setenv("HEDDLE_MODEL", "offload", 1);
    check_start(argc, argv);
    int peer = 1 - check_rank;
    for (int round = 0; round < 20; round++) {
        int in = -1;
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, peer, round, MPI_COMM_WORLD, &request));
        pid_t child = fork();
        if (child == 0) {
            if (round % 2 == 0) _exit(3);
            execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
            _exit(4);
        }
        CHECK(child > 0);
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, peer, round, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, round);
        int status = status_of(child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    // A child that calls exit runs the functions that the library has registered for that.
    pid_t child = fork();
    if (child == 0) exit(5);
    int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return check_finish();
}
