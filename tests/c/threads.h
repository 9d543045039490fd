// Runs one function in several threads and joins them.
#ifndef HEDDLE_TEST_THREADS_H
#define HEDDLE_TEST_THREADS_H

#include "check.h"
#include <pthread.h>

typedef void (*thread_body)(int index, void *shared);

struct thread_start {
    pthread_t id;
    thread_body body;
    int index;
    void *shared;
};

static void *thread_entry(void *arg) {
    struct thread_start *start = arg;
    start->body(start->index, start->shared);
    return NULL;
}

// Runs `body(i, shared)` for i in 0..n, each in a thread of its own, until all have returned.
CHECK_UNUSED static void threads_run(int n, thread_body body, void *shared) {
    struct thread_start *starts = check_alloc((size_t)n * sizeof *starts);
    for (int i = 0; i < n; i++) {
        starts[i] = (struct thread_start){.body = body, .index = i, .shared = shared};
        int rc = pthread_create(&starts[i].id, NULL, thread_entry, &starts[i]);
        if (rc != 0) {
            fprintf(stderr, "rank %d: cannot start thread %d: %s\n", check_rank, i, strerror(rc));
            exit(2);
        }
    }
    for (int i = 0; i < n; i++) pthread_join(starts[i].id, NULL);
    free(starts);
}

#endif
