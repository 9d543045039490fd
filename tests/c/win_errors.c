// Errors of one-sided communication: each wrong call fails with its class, changes nothing and leaves the window usable.
// oracle: skip it ends the program by an assertion of its own where one target of several is not locked
#include "win_flavors.h"

#include <limits.h>

enum { N = 16 };

static long *memory, origin[N], result[N];
static MPI_Win win;
static int next;

// An operation that is right but for what a macro argument changes.
#define PUT(...) MPI_Put(__VA_ARGS__, win)
#define GOOD_PUT MPI_Put(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, win)
#define GOOD_GET MPI_Get(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, win)
#define GOOD_ACC MPI_Accumulate(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win)
#define GOOD_GET_ACC MPI_Get_accumulate(origin, 1, MPI_LONG, result, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win)
#define GOOD_FETCH MPI_Fetch_and_op(origin, result, MPI_LONG, next, 0, MPI_SUM, win)
#define GOOD_CAS MPI_Compare_and_swap(origin, origin, result, MPI_LONG, next, 0, win)

static void outside_of_epochs(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(GOOD_PUT, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_GET, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_ACC, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_GET_ACC, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_FETCH, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_CAS, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rput(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rget(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Raccumulate(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rget_accumulate(origin, 1, MPI_LONG, result, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_CLASS(MPI_Win_flush(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    int flag;
    CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
}

static void epochs(void) {
    int flag;
    MPI_Group self, group;
    CHECK_OK(MPI_Win_get_group(win, &group));
    CHECK_OK(MPI_Group_incl(group, 1, &check_rank, &self));
    // Locks.
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK(win != MPI_WIN_NULL);
    CHECK_OK(GOOD_PUT);
    if (check_size > 1) {
        CHECK_CLASS(MPI_Put(origin, 1, MPI_LONG, check_rank, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_unlock(check_rank, win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_flush(check_rank, win), MPI_ERR_RMA_SYNC);
    }
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_CLASS(MPI_Win_unlock(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(GOOD_PUT, MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    // Post and start.
    CHECK_OK(MPI_Win_post(self, 0, win));
    CHECK_CLASS(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_start(self, 0, win));
    CHECK_CLASS(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    // Nor another target: the window is in an access epoch.
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win), MPI_ERR_RMA_SYNC);
    if (check_size > 1) CHECK_CLASS(GOOD_PUT, MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(check_rank, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Put(origin, 1, MPI_LONG, check_rank, 1, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_test(win, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_wait(win));
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    // A start of no ranks is an access epoch, too.
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    CHECK_CLASS(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    // Fences.
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(GOOD_PUT);
    CHECK_CLASS(MPI_Win_flush(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(next, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_CLASS(GOOD_PUT, MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Group_free(&self));
    CHECK_OK(MPI_Group_free(&group));
}

static void arguments_of_epochs(void) {
    CHECK_CLASS(MPI_Win_fence(1 << 30, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_fence(-1, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 1 << 29, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 1 << 29, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 29, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock_all(1 << 29, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED + MPI_LOCK_EXCLUSIVE + 1000, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(0, 0, 0, win), MPI_ERR_LOCKTYPE);
    int bad_ranks[] = {-77, check_size, INT_MAX, INT_MIN, MPI_ANY_SOURCE, MPI_ROOT};
    for (size_t i = 0; i < sizeof bad_ranks / sizeof *bad_ranks; i++) {
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, bad_ranks[i], 0, win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Win_unlock(bad_ranks[i], win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Win_flush(bad_ranks[i], win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Win_flush_local(bad_ranks[i], win), MPI_ERR_RANK);
    }
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Win_test(win, NULL), MPI_ERR_ARG);
    if (check_size < 2) return;
    // A window of one process: the others are not in it.
    MPI_Win alone;
    MPI_Group all;
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone));
    CHECK_OK(MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_get_group(win, &all));
    CHECK_CLASS(MPI_Win_post(all, 0, alone), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Win_start(all, 0, alone), MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Win_free(&alone));
}

static void user_sum(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static void arguments_of_operations(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype pair, uncommitted, mixed;
    CHECK_OK(MPI_Type_contiguous(2, MPI_LONG, &pair));
    CHECK_OK(MPI_Type_contiguous(2, MPI_LONG, &uncommitted));
    CHECK_OK(MPI_Type_commit(&pair));
    MPI_Aint places[] = {0, 8};
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &mixed));
    CHECK_OK(MPI_Type_commit(&mixed));
    MPI_Op user;
    CHECK_OK(MPI_Op_create(user_sum, 1, &user));
    CHECK_OK(MPI_Win_lock_all(0, win));
    int bad_ranks[] = {-77, check_size, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof bad_ranks / sizeof *bad_ranks; i++) {
        int bad = bad_ranks[i];
        CHECK_CLASS(PUT(origin, 1, MPI_LONG, bad, 0, 1, MPI_LONG), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Get(origin, 1, MPI_LONG, bad, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, bad, 0, MPI_SUM, win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, MPI_LONG, bad, 0, win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_LONG, bad, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Rput(origin, 1, MPI_LONG, bad, 0, 1, MPI_LONG, win, &request), MPI_ERR_RANK);
    }
    CHECK_CLASS(PUT(origin, 1, MPI_LONG, next, -1, 1, MPI_LONG), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Get(origin, 1, MPI_LONG, next, -1, 1, MPI_LONG, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, next, -1, MPI_SUM, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, MPI_LONG, next, -1, win), MPI_ERR_DISP);
    CHECK_CLASS(PUT(origin, -1, MPI_LONG, next, 0, 1, MPI_LONG), MPI_ERR_COUNT);
    CHECK_CLASS(PUT(origin, 1, MPI_LONG, next, 0, -1, MPI_LONG), MPI_ERR_COUNT);
    CHECK_CLASS(PUT(NULL, 1, MPI_LONG, next, 0, 1, MPI_LONG), MPI_ERR_BUFFER);
    CHECK_CLASS(PUT(origin, 1, MPI_DATATYPE_NULL, next, 0, 1, MPI_LONG), MPI_ERR_TYPE);
    CHECK_CLASS(PUT(origin, 1, MPI_LONG, next, 0, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(PUT(origin, 1, uncommitted, next, 0, 2, MPI_LONG), MPI_ERR_TYPE);
    CHECK_CLASS(PUT(origin, 2, MPI_LONG, next, 0, 1, uncommitted), MPI_ERR_TYPE);
    // Beyond the window: the last element just fits.
    CHECK_OK(PUT(origin, 1, MPI_LONG, next, N - 1, 1, MPI_LONG));
    const MPI_Aint far[] = {N, INT_MAX, 1L << 32, 1L << 60, (1L << 61) - 1, 1L << 61, LONG_MAX};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        CHECK_CLASS(PUT(origin, 1, MPI_LONG, next, far[i], 1, MPI_LONG), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Get(origin, 1, MPI_CHAR, next, far[i], 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, next, far[i], MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, MPI_LONG, next, far[i], win), MPI_ERR_RMA_RANGE);
    }
    CHECK_CLASS(PUT(origin, 2, MPI_LONG, next, N - 1, 2, MPI_LONG), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(PUT(origin, 2, MPI_LONG, next, N - 1, 1, pair), MPI_ERR_RMA_RANGE);
    // Before it: data of a type that begins below its displacement.
    MPI_Datatype below;
    CHECK_OK(MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){-(MPI_Aint)sizeof(long)}, MPI_LONG, &below));
    CHECK_OK(MPI_Type_commit(&below));
    CHECK_CLASS(PUT(origin, 1, MPI_LONG, next, 0, 1, below), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(result, 1, MPI_LONG, next, 0, 1, below, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(PUT(origin, 1, MPI_LONG, next, 1, 1, below));
    CHECK_OK(MPI_Type_free(&below));
    CHECK_CLASS(MPI_Get_accumulate(origin, 2, MPI_LONG, result, 2, MPI_LONG, next, N - 1, 2, MPI_LONG, MPI_SUM, win),
                MPI_ERR_RMA_RANGE);
    MPI_Count many = (MPI_Count)1 << 36, too_many = (MPI_Count)1 << 61;
    CHECK_CLASS(MPI_Put_c(origin, many, MPI_LONG, next, 0, many, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put_c(origin, too_many, MPI_LONG, next, 0, too_many, MPI_LONG, win), MPI_ERR_COUNT);
    // More data than room.
    CHECK_CLASS(PUT(origin, 3, MPI_LONG, next, 0, 1, pair), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Get(origin, 1, MPI_LONG, next, 0, 1, pair, win), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Accumulate(origin, 3, MPI_LONG, next, 0, 2, MPI_LONG, MPI_SUM, win), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Get_accumulate(origin, 2, MPI_LONG, result, 1, MPI_LONG, next, 0, 2, MPI_LONG, MPI_SUM, win), MPI_ERR_TRUNCATE);
    // Operators and types.
    CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, user, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Get_accumulate(origin, 1, MPI_LONG, result, 1, MPI_LONG, next, 0, 1, MPI_LONG, user, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, next, 0, user, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, next, 0, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_MAXLOC, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_DOUBLE, next, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(origin, 1, MPI_LONG, next, 0, 1, MPI_DOUBLE, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(origin, 1, mixed, next, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_accumulate(origin, 1, MPI_LONG, result, 1, MPI_DOUBLE, next, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, MPI_DOUBLE, next, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, MPI_2INT, next, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(origin, origin, result, pair, next, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Fetch_and_op(origin, result, pair, next, 0, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Rput(origin, 1, MPI_LONG, next, 0, 1, MPI_LONG, win, NULL), MPI_ERR_ARG);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Win_unlock_all(win));
    // An operation without data needs no room.
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(PUT(NULL, 0, MPI_LONG, next, N, 0, MPI_LONG));
    CHECK_OK(PUT(NULL, 0, MPI_LONG, next, 0, 0, MPI_LONG));
    CHECK_OK(MPI_Accumulate(NULL, 0, MPI_LONG, next, 0, 0, MPI_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, NULL, 0, MPI_LONG, next, 0, 0, MPI_LONG, MPI_SUM, win));
    CHECK_OK(MPI_Fetch_and_op(origin, result, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win));
    CHECK_OK(MPI_Compare_and_swap(origin, origin, result, MPI_LONG, MPI_PROC_NULL, 0, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Op_free(&user));
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&mixed));
    CHECK_OK(MPI_Type_free(&uncommitted));
}

static void attachments(void) {
    MPI_Win dynamic;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    CHECK_OK(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN));
    static char room[256];
    CHECK_OK(MPI_Win_attach(dynamic, room, 64));
    MPI_Aint base;
    CHECK_OK(MPI_Get_address(room, &base));
    MPI_Aint *bases = check_alloc((size_t)check_size * sizeof *bases);
    CHECK_OK(MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    CHECK_CLASS(MPI_Win_attach(win, room, 64), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(win, room), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_attach(dynamic, room, -1), MPI_ERR_SIZE);
    if (!oracle) {
        CHECK_CLASS(MPI_Win_attach(dynamic, room, 64), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_attach(dynamic, room + 63, 10), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_detach(dynamic, room + 1), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_detach(dynamic, room + 200), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_attach(dynamic, NULL, 64), MPI_ERR_BASE);
        CHECK_CLASS(MPI_Win_attach(dynamic, room + 128, LONG_MAX), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_attach(dynamic, (void *)(UINTPTR_MAX - 10), 64), MPI_ERR_RMA_ATTACH);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, dynamic));
        const MPI_Aint far[] = {0, 1, bases[next] - 1, bases[next] + 64, bases[next] + 60, LONG_MAX, LONG_MAX - 3, LONG_MIN, -1, -8};
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            CHECK_CLASS(MPI_Put(origin, 1, MPI_LONG, next, far[i], 1, MPI_LONG, dynamic), MPI_ERR_RMA_RANGE);
            CHECK_CLASS(MPI_Fetch_and_op(origin, result, MPI_LONG, next, far[i], MPI_SUM, dynamic), MPI_ERR_RMA_RANGE);
        }
        CHECK_OK(MPI_Win_unlock(next, dynamic));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_detach(dynamic, room));
    CHECK_OK(MPI_Win_attach(dynamic, room + 8, 64));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, dynamic));
    if (!oracle) CHECK_CLASS(MPI_Put(origin, 1, MPI_LONG, next, bases[next], 1, MPI_LONG, dynamic), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Put(origin, 1, MPI_LONG, next, bases[next] + 8, 1, MPI_LONG, dynamic));
    CHECK_OK(MPI_Win_unlock(next, dynamic));
    // Memory that is still attached when the window is freed is detached with it.
    CHECK_OK(MPI_Win_free(&dynamic));
    free(bases);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    next = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    outside_of_epochs();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    epochs();
    arguments_of_epochs();
    arguments_of_operations();
    attachments();
    outside_of_epochs();
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
