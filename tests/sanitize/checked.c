// A program that its author checks with ThreadSanitizer: threads exchange messages through the library as it is installed. With
// the argument `race` two of them also write a variable of the program without a lock.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 10, LONGEST = 100000 };

static int rank, size, racing, shared;

static void *exchange(void *arg) {
    int tag = (int)(size_t)arg;
    char *out = malloc(LONGEST), *in = malloc(LONGEST);
    for (int round = 0; round < ROUNDS; round++) {
        for (int len = 8; len <= LONGEST; len = len * 100 / 8) {
            memset(out, rank + round, (size_t)len);
            MPI_Sendrecv(out, len, MPI_BYTE, (rank + 1) % size, tag, in, len, MPI_BYTE, (rank + size - 1) % size, tag,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (in[len - 1] != (char)((rank + size - 1) % size + round)) abort();
        }
        if (racing) shared++;
    }
    free(in);
    free(out);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, one = 1, sum = 0, *memory;
    MPI_Win win;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    racing = argc > 1 && strcmp(argv[1], "race") == 0;
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, exchange, (void *)i);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) abort();
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (*memory != 1) abort();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
