// MPI_COMM_WORLD does not exist in a program that has sessions alone, and an error without an object is fatal there.
// levels: none
// ranks: 1-2
// expect: fail
// output: MPI_Barrier failed.*MPI_ERR_COMM.*exist between MPI_Init and MPI_Finalize only.*MPI_Comm_create_from_group
#include "sessions.h"

int main(void) {
    MPI_Session session = session_begin();
    MPI_Barrier(MPI_COMM_WORLD);
    session_end(&session);
    return 0;
}
