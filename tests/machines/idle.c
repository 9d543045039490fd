// A rank that waits for a message from another machine takes no core: it sleeps until the message comes, and none of its
// threads wakes often. It takes little memory, unless tcp;ofi_rxm was asked for.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rusage process(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used;
}

static double processor(struct rusage used) {
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    enum { SECONDS = 2 };
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        sleep(SECONDS); // the time in which rank 0 is idle
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        struct rusage begin = process(), end;
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end = process();
        double used = processor(end) - processor(begin);
        long sleeps = end.ru_nvcsw - begin.ru_nvcsw;
        long most = getenv("HEDDLE_FABRIC") ? 120 : 24; // MiB
        printf("idle for %d s: %.3f s of processor, %ld sleeps, %ld MiB\n", SECONDS, used, sleeps, end.ru_maxrss >> 10);
        if (word != 1 || used > 0.25 * SECONDS || sleeps > 250 * SECONDS) MPI_Abort(MPI_COMM_WORLD, 1);
        if (end.ru_maxrss >> 10 >= most) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
