// A core that is not there is refused by MPI_Init, which says which ones there are.
// ranks: 1
// levels: none
// expect: fail
// output: core 1023, where it cannot run.*may run on cores [0-9]
// settings: HEDDLE_MODEL=offload HEDDLE_OFFLOAD_CORES=1023
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    return 0;
}
