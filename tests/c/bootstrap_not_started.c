// A launcher that was asked for and has not started the program is an error that says so.
// launcher: none
// ranks: 1
// levels: none
// settings builtin: HEDDLE_BOOTSTRAP=builtin
// settings pmix: HEDDLE_BOOTSTRAP=pmix
// expect: fail
// output: MPI_Init failed: MPI_ERR_OTHER: HEDDLE_BOOTSTRAP is (builtin|pmix), but the environment variable (HEDDLE_RANK|PMIX_NAMESPACE) is missing
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
