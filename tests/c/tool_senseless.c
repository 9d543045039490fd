// MPI_T: values that make no sense together are refused by MPI_Init, which says why.
// ranks: 1
// levels: none
// expect: fail
// output: needs granularity
#include "check.h"

int main(int argc, char **argv) {
    int provided, index = -1, count = 0, csync = 1;
    MPI_T_cvar_handle execution;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_cvar_get_index("heddle_model", &index));
    MPI_T_cvar_handle model;
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &model, &count));
    CHECK_OK(MPI_T_cvar_write(model, "global-mcs"));
    CHECK_OK(MPI_T_cvar_get_index("heddle_execution", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &execution, &count));
    CHECK_OK(MPI_T_cvar_write(execution, &csync));
    MPI_Init(&argc, &argv);
    return 0;
}
