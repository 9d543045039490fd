/* Readers are inside together where the kind has readers, and a writer is alone: what the attempts of other processes
 * are told while one process has the lock. */
#include "check.h"

static int rank, size;

/* Tries while process 0 has the lock, and gives back what it got. */
static heddle_rma_status try(heddle_rma_lock *lock, int writes)
{
    heddle_rma_status status =
        writes ? heddle_rma_lock_try_acquire_write(lock) : heddle_rma_lock_try_acquire_read(lock);
    if (status == HEDDLE_RMA_STATUS_OK)
        CHECK_OK(writes ? heddle_rma_lock_release_write(lock) : heddle_rma_lock_release_read(lock));
    return status;
}

static void one_kind(const char *kind)
{
    heddle_rma_lock *lock;
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_WORLD, kind, NULL, &lock));
    /* Process 0 reads; all others together: only the kinds with readers let them in. */
    if (rank == 0)
        CHECK_OK(heddle_rma_lock_acquire_read(lock));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        CHECK(try(lock, 1) == HEDDLE_RMA_STATUS_BUSY);
        if (!has_readers(kind)) {
            CHECK(try(lock, 0) == HEDDLE_RMA_STATUS_BUSY);
        } else if (size == 2) {
            /* Alone beside the reader, so that no writer's attempt disturbs. */
            CHECK(try(lock, 0) == HEDDLE_RMA_STATUS_OK);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_readers(kind) && rank != 0)
        CHECK_OK(heddle_rma_lock_acquire_read(lock));
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_readers(kind) || rank == 0)
        CHECK_OK(heddle_rma_lock_release_read(lock));
    MPI_Barrier(MPI_COMM_WORLD);
    /* Process 0 writes. */
    if (rank == 0) {
        CHECK_OK(heddle_rma_lock_acquire_write(lock));
        CHECK(heddle_rma_lock_try_acquire_write(lock) == HEDDLE_RMA_STATUS_BUSY);
        CHECK(heddle_rma_lock_acquire_write(lock) == HEDDLE_RMA_STATUS_WOULD_DEADLOCK);
        CHECK(heddle_rma_lock_acquire_read(lock) == HEDDLE_RMA_STATUS_WOULD_DEADLOCK);
        CHECK(heddle_rma_lock_free(lock) == HEDDLE_RMA_STATUS_BUSY);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        CHECK(try(lock, 0) == HEDDLE_RMA_STATUS_BUSY);
        CHECK(try(lock, 1) == HEDDLE_RMA_STATUS_BUSY);
        CHECK(heddle_rma_lock_release_write(lock) == HEDDLE_RMA_STATUS_NOT_HOLDER);
        CHECK(heddle_rma_lock_release_read(lock) == HEDDLE_RMA_STATUS_NOT_HOLDER);
        if (is_timed(kind)) {
            CHECK(heddle_rma_lock_acquire_write_timed(lock, 1000) == HEDDLE_RMA_STATUS_TIMED_OUT);
            CHECK(heddle_rma_lock_acquire_read_timed(lock, 1000) == HEDDLE_RMA_STATUS_TIMED_OUT);
        } else {
            CHECK(heddle_rma_lock_acquire_write_timed(lock, 1) == HEDDLE_RMA_STATUS_NOT_SUPPORTED);
            CHECK(heddle_rma_lock_acquire_read_timed(lock, 1) == HEDDLE_RMA_STATUS_NOT_SUPPORTED);
            CHECK(strstr(heddle_rma_last_error(), "spin") != NULL);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_OK(heddle_rma_lock_release_write(lock));
    /* After all those attempts it works as before. */
    CHECK_OK(heddle_rma_lock_acquire_write(lock));
    CHECK_OK(heddle_rma_lock_release_write(lock));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(try(lock, 1) == HEDDLE_RMA_STATUS_OK);
    CHECK_OK(heddle_rma_lock_free(lock));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(for_each_kind(one_kind) == 7);
    MPI_Finalize();
    return 0;
}
