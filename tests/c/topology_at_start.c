// The library reads the machine's topology while it is initialised, and not when threads of two cores first meet: opening hwloc
// then would leave locks of the C library taken in a child that another thread forks. It does not move the thread that reads.
// ranks: 1
// levels: multiple
// models: default
// heddle: only
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { TURNS = 10 };

static atomic_int opened, moved;
static sem_t turn[2];
static int cores[2];

// In place of the C library's, for all libraries of the process.
void *dlopen(const char *name, int flags) {
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    // Not the plugins, which the library opens itself.
    if (name && strstr(name, "libhwloc")) atomic_fetch_add(&opened, 1);
    return next(name, flags);
}

int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *set) {
    int (*next)(pid_t, size_t, const cpu_set_t *) = (int (*)(pid_t, size_t, const cpu_set_t *))dlsym(RTLD_NEXT, "sched_setaffinity");
    atomic_fetch_add(&moved, 1);
    return next(thread, bytes, set);
}

static bool find_cores(void) {
    int found = 0;
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++) {
        if (CPU_ISSET(core, &allowed)) cores[found++] = core;
    }
    return found == 2;
}

// Each turn enters the critical section of the same communicator, from another core than the turn before.
static void *take_turns(void *arg) {
    int thread = *(int *)arg;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cores[thread], &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    for (int i = 0; i < TURNS; i++) {
        int out = i, in = -1;
        sem_wait(&turn[thread]);
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sem_post(&turn[!thread]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int number[2] = {0, 1};
    pthread_t threads[2];
    check_start(argc, argv);
    CHECK_EQ(atomic_load(&opened), 1);
    CHECK_EQ(atomic_load(&moved), 0);
    if (find_cores()) {
        for (int i = 0; i < 2; i++) sem_init(&turn[i], 0, i == 0);
        for (int i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, take_turns, &number[i]), 0);
        for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    CHECK_EQ(atomic_load(&opened), 1);
    return check_finish();
}
