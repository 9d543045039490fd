/* The things that the workers of all subjects use: the ranks that take part, a gate, tags, buffers. */
#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MPI_Comm participants = MPI_COMM_WORLD;

void gate_wait(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    unsigned round = g->round;
    if (++g->waiting == g->members) {
        g->waiting = 0;
        g->round++;
        pthread_cond_broadcast(&g->opened);
    } else {
        while (g->round == round) pthread_cond_wait(&g->opened, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}

int tag_of(const struct bench *b, int thread) { return b->opt.comms == COMMS_PER_THREAD ? 0 : thread; }

void *buffer_new(size_t bytes) {
    size_t page = 4096, rounded = (bytes + page) / page * page;
    void *memory = aligned_alloc(page, rounded);
    if (!memory) {
        fprintf(stderr, "mtbench: no memory for a buffer of %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(memory, 0, rounded);
    return memory;
}
