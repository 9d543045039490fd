// Ranks in PID namespaces of their own, as in containers: the process id of a peer means another process here, perhaps this
// one. Large messages arrive all the same. The memory of all ranks is laid out alike, so that an address of the peer's is
// valid here, too.
// ranks: 2 3
// levels: none
// heddle: only
#include "check.h"

#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20, LENGTH = 1 << 20 };

static unsigned char out[LENGTH], in[LENGTH];

// Whether this user may make such namespaces here.
static bool can_unshare(void) {
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        execlp("unshare", "unshare", "-Urpf", "true", (char *)NULL);
        _exit(1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        personality(ADDR_NO_RANDOMIZE);
        if (can_unshare()) execlp("unshare", "unshare", "-Urpf", argv[0], "inside", (char *)NULL);
        fprintf(stderr, "skipped: no namespaces can be made here; all ranks are in one\n");
    } else {
        CHECK_EQ(getpid(), 1);
    }
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int round = 0; round < ROUNDS; round++) {
        memset(in, 0, LENGTH);
        pattern_fill(out, LENGTH, (unsigned)(check_rank + round));
        MPI_Request requests[2];
        CHECK_OK(MPI_Irecv(in, LENGTH, MPI_BYTE, from, round, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(out, LENGTH, MPI_BYTE, to, round, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_PATTERN(in, LENGTH, (unsigned)(from + round));
        CHECK_PATTERN(out, LENGTH, (unsigned)(check_rank + round));
    }
    return check_finish();
}
