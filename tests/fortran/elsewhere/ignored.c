/* The side in C of ignored.F90. */
#include <mpi.h>

/* Returns true if the addresses are those that C knows Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE by. */
int are_ignored_(MPI_Fint *status, MPI_Fint *statuses);
int are_ignored_(MPI_Fint *status, MPI_Fint *statuses) {
    return status == MPI_F_STATUS_IGNORE && statuses == MPI_F_STATUSES_IGNORE;
}
