/* Several threads of each process use one handle. Where MPI gives no MPI_THREAD_MULTIPLE there is nothing to test. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 3, TURNS = 100 };

static int rank, size;
static numbers shared;
static heddle_rma_lock *lock;

static void *work(void *number)
{
    int64_t own = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t left;
        if ((turn + (int)(intptr_t)number) % 2 == 0) {
            heddle_rma_status status = turn % 5 == 0 ? heddle_rma_lock_try_acquire_write(lock)
                                                     : heddle_rma_lock_acquire_write(lock);
            if (turn % 5 == 0 && status == HEDDLE_RMA_STATUS_BUSY)
                continue;
            CHECK(status == HEDDLE_RMA_STATUS_OK);
            CHECK(heddle_rma_lock_acquire_write(lock) == HEDDLE_RMA_STATUS_WOULD_DEADLOCK);
            numbers_increment(&shared);
            own++;
            CHECK_OK(heddle_rma_lock_release_write(lock));
            continue;
        }
        CHECK_OK(heddle_rma_lock_acquire_read(lock));
        left = number_get(&shared, 0);
        CHECK(number_get(&shared, 1) == left);
        CHECK_OK(heddle_rma_lock_release_read(lock));
    }
    return (void *)(intptr_t)own;
}

static void one_kind(const char *kind)
{
    heddle_rma_lock_options options = { .writers = 2, .counter_distance = 1 };
    pthread_t threads[THREADS];
    int64_t own = 0, all;
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_WORLD, kind, &options, &lock));
    if (rank == 0)
        number_put(&shared, 0, 0), number_put(&shared, 1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        CHECK(pthread_join(threads[i], &sum) == 0);
        own += (intptr_t)sum;
    }
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(number_get(&shared, 0) == all);
    CHECK_OK(heddle_rma_lock_free(lock));
}

/* With a kind as an argument: this one alone. */
int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level == MPI_THREAD_MULTIPLE) {
        shared = numbers_make();
        if (argc > 1)
            one_kind(argv[1]);
        else
            CHECK(for_each_kind(one_kind) == 7);
        numbers_free(&shared);
    } else if (rank == 0) {
        puts("no MPI_THREAD_MULTIPLE");
    }
    MPI_Finalize();
    return 0;
}
