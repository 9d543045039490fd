// While a thread waits for a lock, its process does not hold it: unlock, flush, operations and every other epoch are MPI_ERR_RMA_SYNC
// there, nothing is released, and the lock is granted after its holder's unlock. The same for MPI_Win_lock_all, and for
// MPI_Win_complete while a thread waits in MPI_Win_start.
// levels: multiple
// ranks: 2-4
// oracle: skip two threads of a process must not lock one target
#include "threads.h"

enum { HOLDER, WAITER };
static const char *const algorithms[] = {"spin", "rw", "rma-rw", "rma-mcs", "d-mcs", "queue-rw", "adaptive", NULL};

static MPI_Win win;
static long *memory;
// How the threads of the waiter lock: a lock type, or 0 for all targets.
static int kind;
static atomic_int granted;

static int lock(int type, int rank) { return type == 0 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(type, rank, 0, win); }
static int unlock(int type, int rank) { return type == 0 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(rank, win); }

static void all_is_refused(void) {
    MPI_Group world, none = MPI_GROUP_EMPTY;
    MPI_Win copy = win;
    long value = 9, other = 9;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_CLASS(MPI_Win_unlock(HOLDER, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(HOLDER, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local(HOLDER, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, HOLDER, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, HOLDER, MPI_MODE_NOCHECK, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(none, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(world, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Get(&other, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &other, MPI_LONG, HOLDER, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Group_free(&world));
}

// Both threads lock what the holder holds: one gets an error at once, and then the other one waits, or is about to.
static void lock_twice(int index, void *shared) {
    (void)index, (void)shared;
    int code = lock(kind, HOLDER);
    if (code == MPI_SUCCESS) {
        CHECK_EQ(atomic_exchange(&granted, 1), 0);
        // The holder has released it before: it stored this last.
        long value;
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(HOLDER, win));
        CHECK_EQ(value, 5);
        return;
    }
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    all_is_refused();
    CHECK_EQ(atomic_load(&granted), 0);
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, HOLDER, 0, MPI_COMM_WORLD));
}

static void pending_locks(void) {
    static const int kinds[] = {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, 0};
    for (int i = 0; i < 3; i++) {
        kind = kinds[i];
        granted = 0;
        *memory = 0;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (check_rank == HOLDER) CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, HOLDER, 0, win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (check_rank == HOLDER) {
            long value = 5;
            CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, WAITER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_EQ(*memory, 0);
            CHECK_OK(MPI_Put(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_unlock(HOLDER, win));
        } else if (check_rank == WAITER) {
            threads_run(2, lock_twice, NULL);
            CHECK_EQ(granted, 1);
            CHECK_OK(unlock(kind, HOLDER));
            CHECK_CLASS(unlock(kind, HOLDER), MPI_ERR_RMA_SYNC);
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

// Of two threads that start an access to ranks which have not posted one waits, and the other one cannot complete.
static void start_twice(int index, void *shared) {
    (void)index;
    int code = MPI_Win_start(*(MPI_Group *)shared, 0, win);
    if (code == MPI_SUCCESS) {
        CHECK_EQ(atomic_exchange(&granted, 1), 0);
        return;
    }
    CHECK_CLASS(code, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_EQ(atomic_load(&granted), 0);
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, HOLDER, 0, MPI_COMM_WORLD));
}

static void pending_start(void) {
    MPI_Group world, other;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &(int){check_rank == HOLDER ? WAITER : HOLDER}, &other));
    granted = 0;
    *memory = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == HOLDER) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, WAITER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_post(other, 0, win));
        CHECK_OK(MPI_Win_wait(win));
        CHECK_EQ(*memory, 6);
    } else if (check_rank == WAITER) {
        long value = 6;
        threads_run(2, start_twice, &other);
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_complete(win));
        CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Put(&value, 1, MPI_LONG, HOLDER, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Group_free(&other));
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int i = 0; algorithms[i]; i++) {
        MPI_Info info;
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithms[i]));
        CHECK_OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &memory, &win));
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        pending_locks();
        pending_start();
        CHECK_OK(MPI_Win_free(&win));
    }
    return check_finish();
}
