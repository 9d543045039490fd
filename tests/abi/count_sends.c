/* A profiling tool as people write them: preloaded, it counts a program's calls of MPI_Send. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    if (dest != MPI_PROC_NULL && comm == MPI_COMM_WORLD)
        sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Finalize(void)
{
    printf("count_sends: %d sends\n", sends);
    fflush(stdout);
    return PMPI_Finalize();
}
