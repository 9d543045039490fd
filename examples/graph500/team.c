#include "team.h"

#include "fatal.h"

#include <stdlib.h>
#include <string.h>

struct team_worker {
    struct team *team;
    pthread_t handle;
    int thread;
};

static void *worker_main(void *argument)
{
    struct team_worker *self = argument;
    struct team *team = self->team;
    unsigned long seen = 0;

    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (team->generation == seen && !team->closing)
            pthread_cond_wait(&team->start, &team->mutex);
        if (team->closing)
            break;
        seen = team->generation;
        team_job job = team->job;
        void *job_argument = team->argument;
        pthread_mutex_unlock(&team->mutex);

        job(job_argument, self->thread);

        pthread_mutex_lock(&team->mutex);
        if (--team->busy == 0)
            pthread_cond_signal(&team->finished);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

void team_open(struct team *team, int threads)
{
    memset(team, 0, sizeof *team);
    team->threads = threads;
    pthread_barrier_init(&team->barrier, NULL, (unsigned)threads);
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->start, NULL);
    pthread_cond_init(&team->finished, NULL);
    team->workers = allocate("the thread team", (size_t)threads, sizeof *team->workers);
    for (int i = 1; i < threads; i++) {
        struct team_worker *worker = &team->workers[i - 1];
        worker->team = team;
        worker->thread = i;
        int error = pthread_create(&worker->handle, NULL, worker_main, worker);
        if (error != 0)
            fatal("cannot start thread %d of %d: %s; use fewer with --threads", i + 1, threads,
                  strerror(error));
    }
}

void team_run(struct team *team, team_job job, void *argument)
{
    pthread_mutex_lock(&team->mutex);
    team->job = job;
    team->argument = argument;
    team->busy = team->threads - 1;
    team->generation++;
    pthread_cond_broadcast(&team->start);
    pthread_mutex_unlock(&team->mutex);

    job(argument, 0);

    pthread_mutex_lock(&team->mutex);
    while (team->busy > 0)
        pthread_cond_wait(&team->finished, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

void team_barrier(struct team *team)
{
    if (team->threads > 1)
        pthread_barrier_wait(&team->barrier);
}

void team_close(struct team *team)
{
    pthread_mutex_lock(&team->mutex);
    team->closing = true;
    pthread_cond_broadcast(&team->start);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 1; i < team->threads; i++)
        pthread_join(team->workers[i - 1].handle, NULL);
    free(team->workers);
    pthread_cond_destroy(&team->finished);
    pthread_cond_destroy(&team->start);
    pthread_mutex_destroy(&team->mutex);
    pthread_barrier_destroy(&team->barrier);
}

void team_share(unsigned long long count, int part, int parts,
                unsigned long long *begin, unsigned long long *end)
{
    /* Whole and rest apart, so that count * part cannot overflow. */
    unsigned long long whole = count / (unsigned)parts;
    unsigned long long rest = count % (unsigned)parts;
    unsigned long long index = (unsigned)part;
    *begin = whole * index + (index < rest ? index : rest);
    *end = *begin + whole + (index < rest ? 1 : 0);
}
