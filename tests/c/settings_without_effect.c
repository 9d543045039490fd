// A setting that changes nothing under the others is refused by MPI_Init, which says why.
// ranks: 1
// levels: none
// heddle: only
// expect: fail
// output: HEDDLE_LOW_BOUND changes nothing here: it acts under an arbitration p-X-Y
#define _GNU_SOURCE
#include "check.h"

int main(int argc, char **argv) {
    setenv("HEDDLE_MODEL", "per-vni-mcs", 1);
    setenv("HEDDLE_LOW_BOUND", "9", 1);
    MPI_Init(&argc, &argv);
    return 0;
}
