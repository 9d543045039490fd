/* Prints which library the loader has found. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    printf("%.*s\n", length, version);
    return 0;
}
