/* The threads of one process.
 *
 * The calling thread is thread 0; the others sleep between jobs. A job runs on all
 * threads at once (SPMD) and may use team_barrier(), which parks a thread that has
 * to wait: having more threads than cores is normal here. */
#ifndef GRAPH500_TEAM_H
#define GRAPH500_TEAM_H

#include <pthread.h>
#include <stdbool.h>

enum { TEAM_THREADS_MAX = 256 };

typedef void (*team_job)(void *argument, int thread);

struct team {
    int threads;
    pthread_barrier_t barrier;

    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t start;
    pthread_cond_t finished;
    team_job job;
    void *argument;
    unsigned long generation; /* of the job; a worker runs each one once */
    int busy;                 /* workers that have not finished the job */
    bool closing;

    struct team_worker *workers; /* threads - 1 of them */
};

/* Starts `threads` - 1 threads. Ends the job if the system refuses. */
void team_open(struct team *team, int threads);

/* Runs `job` on every thread and returns when all have returned from it. */
void team_run(struct team *team, team_job job, void *argument);

/* To be called by every thread of a running job. */
void team_barrier(struct team *team);

void team_close(struct team *team);

/* The part [*begin, *end) of `count` items that is the share of `part` of `parts`. */
void team_share(unsigned long long count, int part, int parts,
                unsigned long long *begin, unsigned long long *end);

#endif
