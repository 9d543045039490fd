/* Uses the ABI in a small way that every part of it must get right: handles, constants, statuses, large counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "exchange: line %d: %s does not hold\n", __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                   \
        }                                                                                   \
    } while (0)

static void pass_around(int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < 10; round++) {
        int sent = 100 * rank + round, received = -1, count = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &request);
        MPI_Send(&sent, 1, MPI_INT, right, round, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(request == MPI_REQUEST_NULL && count == 1);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == round);
        CHECK(received == 100 * left + round);
    }
}

static void large_counts(int rank)
{
    double values[3] = {rank, 1, 2}, sums[3];
    MPI_Count size = 0;
    MPI_Type_size_c(MPI_DOUBLE, &size);
    CHECK(size == sizeof(double));
    MPI_Allreduce_c(values, sums, (MPI_Count)3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int processes;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    CHECK(sums[0] == processes * (processes - 1) / 2 && sums[1] == processes && sums[2] == 2 * processes);
}

static void errors_return(void)
{
    int class = -1, value = 0;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    int code = MPI_Send(&value, 1, MPI_INT, 1000000, 0, copy);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_RANK);
    CHECK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, copy) == MPI_SUCCESS);
    MPI_Comm_free(&copy);
    CHECK(copy == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    int provided, rank, size, version, subversion;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Abi_get_version(&version, &subversion);
    CHECK(version == MPI_ABI_VERSION);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pass_around(rank, size);
    large_counts(rank);
    errors_return();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("exchange: good with %d processes\n", size);
    MPI_Finalize();
    return 0;
}
