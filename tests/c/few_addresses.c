// The library takes addresses as it needs them: a program that limits its address space after the first operations can start
// threads, and has requests, as long as there are addresses. The error for their end is MPI_ERR_NO_MEM.
// ranks: 1-4
// levels: multiple
// heddle: only
#define _GNU_SOURCE
#include "threads.h"
#include <sys/resource.h>

enum { THREADS = 4, COUNT = 5000, SLACK = 128 << 20, MOST = 3 << 28 };

// The addresses that this process uses, in bytes.
static size_t used(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) exit(2);
    fclose(file);
    return (size_t)pages * 4096;
}

static void communicate(int index, void *shared) {
    (void)shared;
    static int in[THREADS][COUNT];
    static MPI_Request requests[THREADS][COUNT];
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Irecv(&in[index][i], 1, MPI_INT, 0, index * COUNT + i, MPI_COMM_SELF, &requests[index][i]));
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, index * COUNT + i, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitall(COUNT, requests[index], MPI_STATUSES_IGNORE));
    CHECK_EQ(in[index][COUNT - 1], COUNT - 1);
}

int main(int argc, char **argv) {
    struct rlimit before, few;
    pthread_attr_t small;
    check_start(argc, argv);
    int one = 1, all = 0;
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, check_size);
    check_that(used() < MOST, __FILE__, __LINE__, "addresses after the first operations");
    getrlimit(RLIMIT_AS, &before);
    few = before;
    few.rlim_cur = used() + SLACK;
    if (few.rlim_cur > before.rlim_max) return check_finish();
    CHECK(setrlimit(RLIMIT_AS, &few) == 0);
    pthread_attr_init(&small);
    // glibc reserves addresses for a heap of each thread, besides its stack.
    pthread_attr_setstacksize(&small, 1 << 20);
    pthread_setattr_default_np(&small);
    threads_run(THREADS, communicate, NULL);
    setrlimit(RLIMIT_AS, &before);
    return check_finish();
}
