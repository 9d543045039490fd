/* Common parts of the test programs: a check that prints its location and ends the job, a loop over the kinds, and
 * numbers at process 0 that only a lock guards. */
#ifndef CHECK_H
#define CHECK_H

#include <heddle_rma_locks.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition,          \
                    heddle_rma_last_error());                                                                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

#define CHECK_OK(call) CHECK((call) == HEDDLE_RMA_STATUS_OK)

/* Calls `use` with each kind; returns how many there are. */
static inline int for_each_kind(void (*use)(const char *kind))
{
    int count = 0;
    for (const char *names = heddle_rma_lock_kinds(); *names != '\0'; count++) {
        char name[64];
        size_t length = strcspn(names, " ");
        CHECK(length > 0 && length < sizeof name);
        memcpy(name, names, length);
        name[length] = '\0';
        use(name);
        names += length + (names[length] == ' ');
    }
    return count;
}

/* True if several may read at once. */
static inline int has_readers(const char *kind)
{
    return strcmp(kind, "rma-rw") == 0 || strcmp(kind, "rw") == 0 || strcmp(kind, "queue-rw") == 0
           || strcmp(kind, "adaptive") == 0;
}

/* True if the kind can wait for a time. */
static inline int is_timed(const char *kind)
{
    return strcmp(kind, "spin") == 0 || strcmp(kind, "rw") == 0 || strcmp(kind, "queue-rw") == 0;
}

/* Two numbers at process 0. They are read and written by get and put, so only a lock keeps increments. */
typedef struct {
    MPI_Win win;
    int64_t *base;
} numbers;

static inline numbers numbers_make(void)
{
    numbers made;
    MPI_Win_allocate(2 * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &made.base, &made.win);
    made.base[0] = made.base[1] = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, made.win);
    MPI_Win_sync(made.win);
    MPI_Barrier(MPI_COMM_WORLD);
    return made;
}

static inline int64_t number_get(const numbers *all, int which)
{
    int64_t value;
    MPI_Get(&value, 1, MPI_INT64_T, 0, which, 1, MPI_INT64_T, all->win);
    MPI_Win_flush(0, all->win);
    return value;
}

static inline void number_put(const numbers *all, int which, int64_t value)
{
    MPI_Put(&value, 1, MPI_INT64_T, 0, which, 1, MPI_INT64_T, all->win);
    MPI_Win_flush(0, all->win);
}

/* To be called with the lock for writing. */
static inline void numbers_increment(const numbers *all)
{
    int64_t left = number_get(all, 0);
    CHECK(number_get(all, 1) == left);
    number_put(all, 0, left + 1);
    number_put(all, 1, left + 1);
}

static inline void numbers_free(numbers *all)
{
    MPI_Win_unlock_all(all->win);
    MPI_Win_free(&all->win);
}

#endif
