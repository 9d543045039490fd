// A setting with a slip in its name is not read, and rank 0 says so.
// ranks: 2
// levels: multiple
// models: default
// output: HEDDLE_MODLE is no setting, and is ignored; did you mean HEDDLE_MODEL\?
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    setenv("HEDDLE_MODLE", "lock-free", 1);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
