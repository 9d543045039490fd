// Before MPI_Init the initial error handler takes the errors of the functions of Fortran's ABI, and it is fatal.
// levels: none
// ranks: 1
// expect: fail
// output: MPI_Abi_set_fortran_booleans failed.*MPI_ERR_ABI.*gfortran and flang.*MPI_Abi_get_fortran_booleans
// heddle: only
#include "check.h"

int main(void) {
    int one = 1, zero = 0;
    MPI_Abi_set_fortran_booleans(4, &one, &zero);
    return 0;
}
