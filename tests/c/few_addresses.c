// The library takes addresses as it needs them: a program that limits its address space after the first operations can start
// threads, and has requests, as long as there are addresses. The error for their end is MPI_ERR_NO_MEM.
// ranks: 1-4
// levels: multiple
// heddle: only
#define _GNU_SOURCE
#include "threads.h"
#include <sys/resource.h>

enum { THREADS = 4, COUNT = 5000, SLACK = 128 << 20, LARGE = 192 << 20, MOST = 3 << 28 };

// The addresses that this process uses, in bytes.
static size_t used(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) exit(2);
    fclose(file);
    return (size_t)pages * 4096;
}

static void keep(void *in, void *inout, int *len, MPI_Datatype *type) { (void)in, (void)inout, (void)len, (void)type; }

static void communicate(int index, void *shared) {
    (void)shared;
    static int in[THREADS][COUNT];
    static MPI_Request requests[THREADS][COUNT];
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Irecv(&in[index][i], 1, MPI_INT, 0, index * COUNT + i, MPI_COMM_SELF, &requests[index][i]));
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, index * COUNT + i, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitall(COUNT, requests[index], MPI_STATUSES_IGNORE));
    CHECK_EQ(in[index][COUNT - 1], COUNT - 1);
}

static void check_no_memory(int code, const char *what) {
    int class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    check_that(class == MPI_ERR_NO_MEM, __FILE__, __LINE__, what);
}

// What needs more memory than the limit leaves fails, and leaves nothing behind.
static void beyond(char *data, char *more) {
    MPI_Win win;
    MPI_Op op;
    void *base = NULL;
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    check_no_memory(MPI_Bsend(data, LARGE, MPI_CHAR, 0, 0, MPI_COMM_SELF), "MPI_Bsend");
    check_no_memory(MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &base), "MPI_Alloc_mem");
    check_no_memory(MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), "MPI_Win_allocate");
    CHECK_OK(MPI_Op_create(keep, 0, &op));
    check_no_memory(MPI_Scan(data, more, LARGE, MPI_CHAR, op, MPI_COMM_SELF), "MPI_Scan");
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Bsend(data, 1000, MPI_CHAR, 0, 1, MPI_COMM_SELF));
    CHECK_OK(MPI_Recv(more, 1000, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    void *detached;
    int size;
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
}

int main(int argc, char **argv) {
    struct rlimit before, few;
    pthread_attr_t small;
    check_start(argc, argv);
    int one = 1, all = 0;
    char *data = check_alloc(LARGE), *more = check_alloc(LARGE);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, check_size);
    check_that(used() - 2 * (size_t)LARGE < MOST, __FILE__, __LINE__, "addresses after the first operations");
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
    beyond(data, more);
    setrlimit(RLIMIT_AS, &before);
    return check_finish();
}
