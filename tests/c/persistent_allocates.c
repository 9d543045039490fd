// Starting a persistent collective operation and waiting for it allocates nothing, whether the operation is over when the
// start returns or not. The program's own malloc counts what a thread asks for; AddressSanitizer brings one of its own, so
// nothing is counted there.
// ranks: 1-4
// heddle: only
#include "check.h"
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static _Thread_local int counts;
static _Thread_local long asked;

#ifdef __SANITIZE_ADDRESS__
enum { IS_COUNTED = 0 };
#else
enum { IS_COUNTED = 1 };

void *malloc(size_t size) {
    asked += counts;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    asked += counts;
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    asked += counts;
    return __libc_realloc(old, size);
}
#endif

// The first starts fill queues and caches. A queue that is first used later grows then, which may happen a few times.
enum { WARM = 200, ROUNDS = 2000, FEW = 4 };

static void start_and_wait(MPI_Request *request) {
    CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    MPI_Request request;
    long out = 0, in = 0;
    setenv("HEDDLE_MODEL", "auto", 1);
    check_start(argc, argv);
    CHECK_OK(MPI_Allreduce_init(&out, &in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int i = 0; i < WARM + ROUNDS; i++) {
        out = check_rank + i;
        counts = i >= WARM;
        start_and_wait(&request);
        counts = 0;
        CHECK_EQ(in, (long)check_size * i + check_size * (check_size - 1) / 2);
    }
    CHECK(asked <= FEW);
    // It does count what MPI asks for.
    long before = asked;
    MPI_Comm comm;
    counts = 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    counts = 0;
    CHECK(!IS_COUNTED || asked > before);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Request_free(&request));
    return check_finish();
}
