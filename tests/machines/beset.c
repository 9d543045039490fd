// Ranks exchange messages of all lengths and use a window while strangers attack their ports: for the seconds given, and each time
// the data is right. The ranks say when they begin, and how often they did it all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 300000 };

static void wrong(const char *what, int rank, int round) {
    fprintf(stderr, "rank %d: wrong data in %s, round %d\n", rank, what, round);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank, size, round = 0, goes_on = 1;
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    long *shared;
    MPI_Win window;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    *shared = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ranks exchange messages\n");
        fflush(stdout);
    }
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (double begin = MPI_Wtime(); goes_on; round++) {
        for (int length = 1; length <= LONG; length = length * 17 + 3) {
            memset(out, rank + round, length);
            memset(in, 255, length);
            MPI_Sendrecv(out, length, MPI_BYTE, to, 0, in, length, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int at = 0; at < length; at++)
                if (in[at] != (unsigned char)(from + round)) wrong("a message", rank, round);
        }
        long one = 1, sum = 0;
        MPI_Win_lock_all(0, window);
        MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, from, 0, window);
        MPI_Get(&sum, 1, MPI_LONG, from, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(from, window);
        if (sum != round + 1) wrong("a window", rank, round);
        goes_on = MPI_Wtime() - begin < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    if (rank == 0) printf("%d ranks did it all %d times\n", size, round);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
