/* The option `readers` (the paper's T_R): a writer that was passed the lock lets that many readers of its counter come before it
 * ends their turn, and waits for a while only if they do not. The program stands between the lock and MPI, so it sees each
 * look of the writer, and lets a reader come before it. */
#include "check.h"

enum { HOLDER, WRITER, FIRST_READER, QUEUED = 1, RELEASED, COME, INSIDE };

static int rank, size;

/* In the writer: */
static int armed, passed, looks;
/* How many readers may come, and did. */
static int coming, came;
static MPI_Aint status_word = -1;

static void tell(int to, int what)
{
    MPI_Send(NULL, 0, MPI_INT, to, what, MPI_COMM_WORLD);
}

static void hear(int from, int what)
{
    MPI_Recv(NULL, 0, MPI_INT, from, what, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Called by the lock for each look at a word, among others. */
int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint word, MPI_Op op, MPI_Win win)
{
    if (armed && op == MPI_NO_OP && !passed) {
        /* The first look at its own word, in which it finds that the lock was passed on. */
        passed = 1;
        status_word = word;
        tell(HOLDER, QUEUED);
        hear(HOLDER, RELEASED);
    } else if (armed && op == MPI_NO_OP && !(target == rank && word == status_word)) {
        /* Looks at the counter; until the writer adds its mark there. */
        looks++;
        if (came < coming) {
            int reader = FIRST_READER + came++;
            tell(reader, COME);
            hear(reader, INSIDE);
        }
    } else if (passed && op == MPI_SUM) {
        armed = 0;
    }
    return PMPI_Fetch_and_op(origin, result, type, target, word, op, win);
}

/* Process 0 passes the lock to process 1, and `readers` others come when that one looks for them. */
static void passes(uint64_t awaited, int readers)
{
    heddle_rma_lock *lock;
    heddle_rma_lock_options options = { .writers = 1, .readers = awaited, .counter_distance = size };
    CHECK_OK(heddle_rma_lock_create(MPI_COMM_WORLD, "rma-rw", &options, &lock));
    if (rank == HOLDER) {
        CHECK_OK(heddle_rma_lock_acquire_write(lock));
        MPI_Barrier(MPI_COMM_WORLD);
        hear(WRITER, QUEUED);
        CHECK_OK(heddle_rma_lock_release_write(lock));
        tell(WRITER, RELEASED);
    } else if (rank == WRITER) {
        MPI_Barrier(MPI_COMM_WORLD);
        passed = looks = came = 0;
        coming = readers;
        armed = 1;
        CHECK_OK(heddle_rma_lock_acquire_write(lock));
        armed = 0;
        CHECK(passed && came == readers);
        /* It goes on as soon as all have come, and when it has waited for a while. */
        CHECK(awaited == (uint64_t)readers ? looks == readers : looks > readers + 1);
        CHECK_OK(heddle_rma_lock_release_write(lock));
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank < FIRST_READER + readers) {
            hear(WRITER, COME);
            CHECK_OK(heddle_rma_lock_acquire_read(lock));
            tell(WRITER, INSIDE);
            CHECK_OK(heddle_rma_lock_release_read(lock));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(heddle_rma_lock_free(lock));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int readers = 0; readers <= size - FIRST_READER && readers <= 4; readers++) {
        passes((uint64_t)readers, readers);
        passes((uint64_t)readers + 1, readers);
    }
    MPI_Finalize();
    return 0;
}
