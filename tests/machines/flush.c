// Ranks 2 and 3 are on another machine. Rank 2 stands still, with operations of rank 0 on it under way, while rank 0 completes those
// on rank 3: by a flush, and by the end of its lock. If these waited for rank 2, it would be missed.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { STILL = 2, HELPER = 3 };

static long value(MPI_Win window, int rank, int at) {
    long got = -1;
    MPI_Get(&got, 1, MPI_LONG, rank, at, 1, MPI_LONG, window);
    MPI_Win_flush(rank, window);
    return got;
}

int main(int argc, char **argv) {
    int rank, pid = getpid();
    long *memory;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int at = 0; at < 4; at++) memory[at] = 0;
    MPI_Bcast(&pid, 1, MPI_INT, STILL, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == HELPER) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        kill(pid, SIGSTOP);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        kill(pid, SIGCONT);
    }
    if (rank == 0) {
        long one = 1, old[4];
        MPI_Win_lock(MPI_LOCK_SHARED, STILL, 0, window);
        MPI_Win_lock(MPI_LOCK_SHARED, HELPER, 0, window);
        MPI_Sendrecv(NULL, 0, MPI_INT, HELPER, 0, NULL, 0, MPI_INT, HELPER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int target = STILL; target <= HELPER; target++) {
            MPI_Put(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, window);
            MPI_Accumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, window);
            MPI_Fetch_and_op(&one, &old[target], MPI_LONG, target, 2, MPI_SUM, window);
        }
        MPI_Win_flush(HELPER, window);
        for (int at = 0; at < 3; at++)
            if (value(window, HELPER, at) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Win_unlock(HELPER, window);
        MPI_Send(NULL, 0, MPI_INT, HELPER, 0, MPI_COMM_WORLD);
        MPI_Win_flush(STILL, window);
        for (int at = 0; at < 3; at++)
            if (value(window, STILL, at) != 1) MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Win_unlock(STILL, window);
        printf("a flush and an unlock waited for their rank alone\n");
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
