/* Every kind, on every shape of the machine, by all processes: increments under the lock for writing are not lost, and
 * no reader sees the two numbers differ. Acquires by waiting, by trying and for a time. */
#include "check.h"

static int rank, size;
static numbers shared;
static int turns = 180;

/* Acquires in one of three ways; returns whether the lock is the caller's. */
static int acquire(heddle_rma_lock *lock, const char *kind, int way, int writes)
{
    heddle_rma_status status;
    switch (way) {
    case 0:
        status = writes ? heddle_rma_lock_acquire_write(lock) : heddle_rma_lock_acquire_read(lock);
        break;
    case 1:
        status = writes ? heddle_rma_lock_try_acquire_write(lock) : heddle_rma_lock_try_acquire_read(lock);
        CHECK(status == HEDDLE_RMA_STATUS_OK || status == HEDDLE_RMA_STATUS_BUSY);
        return status == HEDDLE_RMA_STATUS_OK;
    default:
        status = writes ? heddle_rma_lock_acquire_write_timed(lock, 200000)
                        : heddle_rma_lock_acquire_read_timed(lock, 200000);
        if (!is_timed(kind)) {
            CHECK(status == HEDDLE_RMA_STATUS_NOT_SUPPORTED);
            return acquire(lock, kind, 0, writes);
        }
        CHECK(status == HEDDLE_RMA_STATUS_OK || status == HEDDLE_RMA_STATUS_TIMED_OUT);
        return status == HEDDLE_RMA_STATUS_OK;
    }
    CHECK(status == HEDDLE_RMA_STATUS_OK);
    return 1;
}

static void use(const char *kind, const heddle_rma_lock_options *options)
{
    heddle_rma_lock *lock;
    int64_t own = 0, all;
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_WORLD, kind, options, &lock));
    if (rank == 0)
        number_put(&shared, 0, 0), number_put(&shared, 1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < turns; turn++) {
        int writes = (turn + rank) % 3 == 0;
        if (!acquire(lock, kind, (turn / 3) % 3, writes))
            continue;
        if (writes) {
            numbers_increment(&shared);
            own++;
            CHECK_OK(heddle_rma_lock_release_write(lock));
        } else {
            int64_t left = number_get(&shared, 0);
            CHECK(number_get(&shared, 1) == left);
            CHECK_OK(heddle_rma_lock_release_read(lock));
        }
    }
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all >= (int64_t)size * (turns / 9));
    CHECK(number_get(&shared, 0) == all);
    CHECK_OK(heddle_rma_lock_free(lock));
}

static void every_shape(const char *kind)
{
    const int32_t two[1] = { rank / 2 }, three[2] = { -(rank % 2), rank / 2 };
    const uint64_t once[2] = { 1, 1 };
    heddle_rma_lock_options flat = { .writers = 2, .readers = 1, .counter_distance = 1, .home = size - 1 };
    heddle_rma_lock_options given = { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN, .levels = 1, .elements = two,
                                      .locality = once, .writers = 1, .counter_distance = 2 };
    heddle_rma_lock_options deep = { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN, .levels = 2, .elements = three };
    heddle_rma_lock_options machines = { .topology = HEDDLE_RMA_TOPOLOGY_SHARED };
    use(kind, NULL);
    use(kind, &flat);
    if (strcmp(kind, "rma-rw") == 0 || strcmp(kind, "rma-mcs") == 0 || strcmp(kind, "adaptive") == 0) {
        use(kind, &given);
        use(kind, &deep);
        use(kind, &machines);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        turns = atoi(argv[1]);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shared = numbers_make();
    CHECK(for_each_kind(every_shape) == 7);
    numbers_free(&shared);
    MPI_Finalize();
    return 0;
}
