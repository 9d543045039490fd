// A limit on the size of files (ulimit -f) that the job's memory exceeds is an error of MPI_Init with advice, not SIGXFSZ.
// ranks: 2 4
// levels: none
// expect: exit 16
// output: MPI_Init failed: MPI_ERR_OTHER: .*ulimit -f unlimited
// heddle: only
#include "check.h"

#include <sys/resource.h>

int main(int argc, char **argv) {
    struct rlimit limit = {1 << 20, 1 << 20};
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    MPI_Init(&argc, &argv);
    return 0;
}
