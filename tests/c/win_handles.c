// Every function of windows refuses MPI_WIN_NULL, handles of other objects, values that are no handle, and windows that were freed.
// heddle: only
#include "check.h"

static MPI_Win bad;

static void each(void) {
    long origin = 0, result = 0;
    int flag, unit, len;
    void *value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint size;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win win = bad;
#define REFUSED(call) CHECK_CLASS(call, MPI_ERR_WIN)
    REFUSED(MPI_Put(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad));
    REFUSED(MPI_Get(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad));
    REFUSED(MPI_Accumulate(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, bad));
    REFUSED(MPI_Get_accumulate(&origin, 1, MPI_LONG, &result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, bad));
    REFUSED(MPI_Fetch_and_op(&origin, &result, MPI_LONG, 0, 0, MPI_SUM, bad));
    REFUSED(MPI_Fetch_and_op(&origin, &result, MPI_LONG, 0, 0, MPI_PROD, bad));
    REFUSED(MPI_Compare_and_swap(&origin, &origin, &result, MPI_LONG, 0, 0, bad));
    REFUSED(MPI_Rput(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad, &request));
    REFUSED(MPI_Rget(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad, &request));
    REFUSED(MPI_Raccumulate(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, bad, &request));
    REFUSED(MPI_Rget_accumulate(&origin, 1, MPI_LONG, &result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, bad, &request));
    REFUSED(MPI_Put_c(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad));
    REFUSED(MPI_Get_c(&origin, 1, MPI_LONG, 0, 0, 1, MPI_LONG, bad));
    REFUSED(MPI_Win_fence(0, bad));
    REFUSED(MPI_Win_post(MPI_GROUP_EMPTY, 0, bad));
    REFUSED(MPI_Win_start(MPI_GROUP_EMPTY, 0, bad));
    REFUSED(MPI_Win_complete(bad));
    REFUSED(MPI_Win_wait(bad));
    REFUSED(MPI_Win_test(bad, &flag));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, bad));
    REFUSED(MPI_Win_unlock(0, bad));
    REFUSED(MPI_Win_lock_all(0, bad));
    REFUSED(MPI_Win_unlock_all(bad));
    REFUSED(MPI_Win_flush(0, bad));
    REFUSED(MPI_Win_flush_all(bad));
    REFUSED(MPI_Win_flush_local(0, bad));
    REFUSED(MPI_Win_flush_local_all(bad));
    REFUSED(MPI_Win_sync(bad));
    REFUSED(MPI_Win_attach(bad, &origin, sizeof origin));
    REFUSED(MPI_Win_detach(bad, &origin));
    REFUSED(MPI_Win_free(&win));
    CHECK(win == bad);
    REFUSED(MPI_Win_get_group(bad, &group));
    REFUSED(MPI_Win_get_info(bad, &info));
    REFUSED(MPI_Win_set_info(bad, MPI_INFO_NULL));
    // The null handle has a name.
    if (bad != MPI_WIN_NULL) REFUSED(MPI_Win_get_name(bad, name, &len));
    REFUSED(MPI_Win_set_name(bad, "name"));
    REFUSED(MPI_Win_get_attr(bad, MPI_WIN_BASE, &value, &flag));
    REFUSED(MPI_Win_set_attr(bad, MPI_WIN_BASE, &flag));
    REFUSED(MPI_Win_delete_attr(bad, MPI_WIN_BASE));
    REFUSED(MPI_Win_get_errhandler(bad, &handler));
    REFUSED(MPI_Win_set_errhandler(bad, MPI_ERRORS_RETURN));
    REFUSED(MPI_Win_call_errhandler(bad, MPI_ERR_OTHER));
    REFUSED(MPI_Win_shared_query(bad, 0, &size, &unit, &value));
    REFUSED(MPI_Win_fence(0, bad));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    const intptr_t values[] = {0, 1, 0x5551, -1, -8, INTPTR_MAX, INTPTR_MIN, (intptr_t)&bad};
    MPI_Win freed, other;
    void *memory;
    bad = MPI_WIN_NULL;
    each();
    bad = (MPI_Win)MPI_COMM_WORLD;
    each();
    bad = (MPI_Win)MPI_INT;
    each();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bad = (MPI_Win)values[i];
        each();
    }
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &freed));
        bad = freed;
        // The last window that this thread has used is the one that is gone.
        CHECK_OK(MPI_Win_lock_all(0, freed));
        long one = 1;
        CHECK_OK(MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, freed));
        CHECK_OK(MPI_Win_unlock_all(freed));
        CHECK_OK(MPI_Win_free(&freed));
        each();
        // Another one in its place.
        CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other));
        CHECK_OK(MPI_Win_fence(0, other));
        each();
        CHECK_OK(MPI_Win_free(&other));
    }
    return check_finish();
}
