// A process forks while its threads communicate. A child that only calls exit ends, although it has inherited locks of the
// library that other threads held at the fork, without these threads.
// ranks: 1
// levels: multiple
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, CHILDREN = 500, WINDOW = 600 };

static atomic_bool stop;

// Takes more requests than a thread keeps for itself, so that the threads meet where all requests come from.
static void *communicate(void *unused) {
    (void)unused;
    int in[WINDOW];
    MPI_Request requests[WINDOW];
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    while (!atomic_load(&stop)) {
        for (int i = 0; i < WINDOW; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &requests[i]));
        for (int i = 0; i < WINDOW; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i, comm));
        CHECK_OK(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    return NULL;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int out = 0, in;
    MPI_Request request;
    // This thread has requests of its own, which it would return at its end.
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, communicate, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) exit(i % 7);
        int status = -1;
        if (!CHECK(child > 0) || !CHECK_EQ(waitpid(child, &status, 0), child)) break;
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == i % 7);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return check_finish();
}
