// HEDDLE_WIN_LOCK chooses the algorithm of window locks, and the info key of a window replaces it for that window; a wrong name is
// ignored.
// ranks: 1 3
// heddle: only
#include "check.h"

static void has(const char *asked, const char *want) {
    MPI_Info given, used;
    MPI_Win win;
    int *memory, flag;
    char value[64] = "";
    CHECK_OK(MPI_Info_create(&given));
    // Rank 0's value counts.
    if (asked && check_rank == 0) CHECK_OK(MPI_Info_set(given, "heddle_win_lock", asked));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, given, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get(used, "heddle_win_lock", sizeof value - 1, value, &flag));
    CHECK(flag && strcmp(value, want) == 0);
    CHECK_OK(MPI_Info_free(&given));
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    setenv("HEDDLE_WIN_LOCK", "spin", 1);
    check_start(argc, argv);
    has(NULL, "spin");
    has("rma-rw", "rma-rw");
    has("mutex", "spin");
    return check_finish();
}
