// Without copies between processes, shared memory works as ever; an operation on private memory of another process is an error that says
// so, and one on a process's own memory works.
// heddle: only
#include "win_flavors.h"

static void attempt(struct flavored *at, bool refused) {
    int next = (check_rank + 1) % check_size;
    MPI_Aint disp = at->bases[next] + check_rank * 8;
    long value = 5, result = 7;
    int want = refused ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS;
    CHECK_CLASS(MPI_Put(&value, 1, MPI_LONG, next, disp, 1, MPI_LONG, at->win), want);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_SUM, at->win), want);
    CHECK_CLASS(MPI_Fetch_and_op(&value, &result, MPI_LONG, next, disp, MPI_SUM, at->win), want);
    CHECK_EQ(result, refused ? 7 : 10);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, &result, MPI_LONG, next, disp, at->win), want);
    CHECK_EQ(result, refused ? 7 : 15);
    CHECK_CLASS(MPI_Get_accumulate(&value, 1, MPI_LONG, &result, 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_NO_OP, at->win), want);
    CHECK_CLASS(MPI_Get(&result, 1, MPI_LONG, next, disp, 1, MPI_LONG, at->win), want);
    CHECK_EQ(result, refused ? 7 : 15);
    // Nothing is copied here.
    CHECK_OK(MPI_Put(&value, 0, MPI_LONG, next, disp, 0, MPI_LONG, at->win));
}

int main(int argc, char **argv) {
    setenv("HEDDLE_SINGLE_COPY", "off", 1);
    check_start(argc, argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, (size_t)check_size * 8, MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_set_errhandler(at.win, MPI_ERRORS_RETURN));
        CHECK_OK(MPI_Win_lock_all(0, at.win));
        attempt(&at, is_private(flavor) && check_size > 1);
        CHECK_OK(MPI_Win_unlock_all(at.win));
        CHECK_OK(MPI_Win_fence(0, at.win));
        long own = check_rank;
        MPI_Aint disp = at.bases[check_rank] + check_rank * 8;
        CHECK_OK(MPI_Put(&own, 1, MPI_LONG, check_rank, disp, 1, MPI_LONG, at.win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at.win));
        CHECK_EQ(((const long *)(const void *)at.memory)[check_rank], check_rank);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    return check_finish();
}
