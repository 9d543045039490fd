// The header in C++: a lock made, used and freed.
#include <heddle_rma_locks.h>

int main()
{
    heddle_rma_lock *lock = nullptr;
    MPI_Init(nullptr, nullptr);
    heddle_rma_lock_options options = heddle_rma_lock_options();
    options.counter_distance = 1;
    bool good = heddle_rma_lock_create(MPI_COMM_WORLD, "rma-rw", &options, &lock) == HEDDLE_RMA_STATUS_OK
                && heddle_rma_lock_acquire_read(lock) == HEDDLE_RMA_STATUS_OK
                && heddle_rma_lock_release_read(lock) == HEDDLE_RMA_STATUS_OK
                && heddle_rma_lock_free(lock) == HEDDLE_RMA_STATUS_OK;
    MPI_Finalize();
    return good ? 0 : 1;
}
