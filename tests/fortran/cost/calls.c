/* The calls of calls.F90 in C. */
#include <mpi.h>

#include <stdlib.h>

int main(int argc, char **argv) {
    int number = argc > 2 ? atoi(argv[1]) : 0, which = argc > 2 ? atoi(argv[2]) : 0, buffer[100] = {0};
    MPI_Comm world = MPI_COMM_WORLD, own;
    MPI_Datatype type = MPI_INTEGER;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int i = 0; i < number; i++) {
        switch (which) {
        case 1: MPI_Send(buffer, 10, type, MPI_PROC_NULL, 1, world); break;
        case 2: MPI_Recv(buffer, 10, type, MPI_PROC_NULL, 1, world, &status); break;
        case 3:
            MPI_Isend(buffer, 10, type, MPI_PROC_NULL, 1, world, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 4: MPI_Send(buffer, 10, type, MPI_PROC_NULL, 1, own); break;
        case 5: MPI_Send(buffer, 100, type, MPI_PROC_NULL, 1, world); break;
        }
    }
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
