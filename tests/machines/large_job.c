// Two ranks of a large job, of which no other rank ever starts (large_job.py): they send to each other, and make groups of half of
// the ranks. Rank 0 prints the memory that it holds after each of the two, in KiB.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long own_memory(void) {
    static const char name[] = "RssAnon:";
    char line[256];
    long memory = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, name, sizeof name - 1)) memory = atol(line + sizeof name - 1);
    return memory;
}

int main(int argc, char **argv) {
    enum { GROUPS = 64 };
    int rank, size, of_half, of_last, provided, word = 7;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv_replace(&word, 1, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long first = own_memory();

    MPI_Group world, half[GROUPS];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int every_second[1][3] = {{0, size - 1, 2}}, last = size - 2 + size % 2;
    for (int group = 0; group < GROUPS; group++) MPI_Group_range_incl(world, 1, every_second, &half[group]);
    MPI_Group_size(half[0], &of_half);
    MPI_Group_translate_ranks(world, 1, &last, half[GROUPS - 1], &of_last);
    if (word != 7 || of_half != (size + 1) / 2 || of_last != of_half - 1) {
        fprintf(stderr, "%d of %d ranks in a group, and the last one is rank %d\n", of_half, size, of_last);
        _Exit(1);
    }
    if (!rank) printf("%ld %ld\n", first, own_memory());
    fflush(stdout);
    _Exit(0); // MPI_Finalize would wait for the others
}
