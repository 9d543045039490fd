/* Wrong arguments: each has its status and a text, nothing hangs, and a failure of one process is one of all. */
#include "check.h"

static int rank, size;

static heddle_rma_lock *const UNTOUCHED = (heddle_rma_lock *)&rank;

/* Makes a lock, which has to fail. */
static heddle_rma_status refused(MPI_Comm comm, const char *kind, const heddle_rma_lock_options *options)
{
    heddle_rma_lock *lock = UNTOUCHED;
    heddle_rma_status status = heddle_rma_lock_create(comm, kind, options, &lock);
    CHECK(status != HEDDLE_RMA_STATUS_OK && lock == NULL);
    CHECK(strncmp(heddle_rma_last_error(), "heddle_rma_lock_create: ", 24) == 0);
    return status;
}

static void wrong_options(void)
{
    const uint64_t much = UINT64_MAX;
    const heddle_rma_lock_options wrong[] = {
        { .topology = 3 },
        { .topology = -1 },
        { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN },
        { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN, .levels = -1 },
        { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN, .levels = 17 },
        { .topology = HEDDLE_RMA_TOPOLOGY_SHARED, .locality = &much },
        { .writers = UINT64_MAX },
        { .counter_distance = -1 },
        { .readers = UINT64_MAX },
        { .patience = UINT64_MAX },
        { .home = -1 },
        { .home = size },
    };
    const heddle_rma_lock_options no_elements = { .topology = HEDDLE_RMA_TOPOLOGY_GIVEN, .levels = 1 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(refused(MPI_COMM_WORLD, "rma-rw", &wrong[i]) == HEDDLE_RMA_STATUS_WRONG_ARGUMENT);
    CHECK(refused(MPI_COMM_WORLD, "rma-rw", &no_elements) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(refused(MPI_COMM_WORLD, "mutex", NULL) == HEDDLE_RMA_STATUS_UNKNOWN_KIND);
    CHECK(strstr(heddle_rma_last_error(), "rma-mcs, d-mcs") != NULL);
    CHECK(refused(MPI_COMM_WORLD, NULL, NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(refused(MPI_COMM_NULL, "spin", NULL) == HEDDLE_RMA_STATUS_WRONG_ARGUMENT);
    CHECK(heddle_rma_lock_create(MPI_COMM_WORLD, "spin", NULL, NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
}

/* The last process does something else than the others. */
static void disagreements(void)
{
    const int other = rank == size - 1;
    heddle_rma_status status;
    const uint64_t locality = (uint64_t)(1 + other);
    heddle_rma_lock_options writers = { .writers = 1 + (uint64_t)other };
    heddle_rma_lock_options readers = { .readers = 1 + (uint64_t)other };
    heddle_rma_lock_options patience = { .patience = 1 + (uint64_t)other };
    heddle_rma_lock_options passings = { .topology = HEDDLE_RMA_TOPOLOGY_SHARED, .locality = &locality };
    CHECK(refused(MPI_COMM_WORLD, other ? "rw" : "spin", NULL) == HEDDLE_RMA_STATUS_DISAGREEMENT);
    CHECK(refused(MPI_COMM_WORLD, "rma-rw", &writers) == HEDDLE_RMA_STATUS_DISAGREEMENT);
    CHECK(refused(MPI_COMM_WORLD, "rma-rw", &readers) == HEDDLE_RMA_STATUS_DISAGREEMENT);
    CHECK(refused(MPI_COMM_WORLD, "adaptive", &patience) == HEDDLE_RMA_STATUS_DISAGREEMENT);
    CHECK(refused(MPI_COMM_WORLD, "rma-mcs", &passings) == HEDDLE_RMA_STATUS_DISAGREEMENT);
    status = refused(MPI_COMM_WORLD, other ? "none" : "spin", NULL);
    CHECK(status == (other ? HEDDLE_RMA_STATUS_UNKNOWN_KIND : HEDDLE_RMA_STATUS_DISAGREEMENT));
    if (!other) {
        char words[80];
        snprintf(words, sizeof words, "the call failed in process %d", size - 1);
        CHECK(strstr(heddle_rma_last_error(), words) != NULL);
    }
}

static void null_and_free_handles(void)
{
    heddle_rma_lock *lock;
    CHECK(heddle_rma_lock_acquire_write(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_acquire_read(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_try_acquire_write(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_try_acquire_read(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_acquire_write_timed(NULL, 0) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_acquire_read_timed(NULL, 0) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_release_write(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(heddle_rma_lock_release_read(NULL) == HEDDLE_RMA_STATUS_NULL_POINTER);
    CHECK(strcmp(heddle_rma_last_error(), "heddle_rma_lock_release_read: lock is null") == 0);
    CHECK_OK(heddle_rma_lock_free(NULL));
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_SELF, "rma-rw", NULL, &lock));
    CHECK(heddle_rma_lock_release_write(lock) == HEDDLE_RMA_STATUS_NOT_HOLDER);
    CHECK(heddle_rma_lock_release_read(lock) == HEDDLE_RMA_STATUS_NOT_HOLDER);
    CHECK_OK(heddle_rma_lock_acquire_read(lock));
    CHECK(heddle_rma_lock_free(lock) == HEDDLE_RMA_STATUS_BUSY);
    CHECK_OK(heddle_rma_lock_release_read(lock));
    CHECK_OK(heddle_rma_lock_free(lock));
}

static void texts(void)
{
    for (int status = 0; status <= HEDDLE_RMA_STATUS_MPI_FAILED; status++) {
        CHECK(strcmp(heddle_rma_status_text(status), "not a status") != 0);
        for (int other = 0; other < status; other++)
            CHECK(strcmp(heddle_rma_status_text(status), heddle_rma_status_text(other)) != 0);
    }
    CHECK(strcmp(heddle_rma_status_text(HEDDLE_RMA_STATUS_MPI_FAILED + 1), "not a status") == 0);
    CHECK(strcmp(heddle_rma_status_text(-1), "not a status") == 0);
}

int main(void)
{
    heddle_rma_lock *lock;
    MPI_Comm half, between;
    CHECK(heddle_rma_last_error()[0] == '\0');
    CHECK(refused(MPI_COMM_WORLD, "spin", NULL) == HEDDLE_RMA_STATUS_NOT_READY);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    texts();
    wrong_options();
    if (size > 1)
        disagreements();
    null_and_free_handles();
    /* A lock outlives its communicator; an inter-communicator has none. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    CHECK_OK(heddle_rma_lock_create(half, "queue-rw", NULL, &lock));
    if (size > 1) {
        /* Not every library has them. */
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
        if (MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between) == MPI_SUCCESS) {
            CHECK(refused(between, "spin", NULL) == HEDDLE_RMA_STATUS_WRONG_ARGUMENT);
            MPI_Comm_free(&between);
        }
    }
    MPI_Comm_free(&half);
    CHECK_OK(heddle_rma_lock_acquire_write(lock));
    CHECK_OK(heddle_rma_lock_release_write(lock));
    CHECK_OK(heddle_rma_lock_free(lock));
    MPI_Finalize();
    CHECK(refused(MPI_COMM_WORLD, "spin", NULL) == HEDDLE_RMA_STATUS_NOT_READY);
    return 0;
}
