// Without memory for this process's part of the shared memory MPI_Init fails with advice, instead of SIGBUS.
// ranks: 2
// levels: none
// expect: fail
// output: skipped|MPI_Init failed: MPI_ERR_OTHER: no memory for .*No space left.*HEDDLE_VNIS
// heddle: only
#include "check.h"
#include "memory_limit.h"

int main(int argc, char **argv) {
    if (!leave_no_memory()) {
        fprintf(stderr, "skipped: no seccomp here\n");
        return 1;
    }
    MPI_Init(&argc, &argv);
    return 0;
}
