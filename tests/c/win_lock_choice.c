// HEDDLE_WIN_LOCK chooses the algorithm of window locks and HEDDLE_WIN_LOCK_BYPASSES its order, and the info keys of a window replace
// them for that window; a wrong value is ignored.
// ranks: 1 3
// levels: multiple
// variants: spin rw rma-rw rma-mcs d-mcs adaptive
// settings: HEDDLE_WIN_LOCK_BYPASSES=7
// settings spin: HEDDLE_WIN_LOCK=spin
// settings rw: HEDDLE_WIN_LOCK=rw
// settings rma-rw: HEDDLE_WIN_LOCK=rma-rw
// settings rma-mcs: HEDDLE_WIN_LOCK=rma-mcs
// settings d-mcs: HEDDLE_WIN_LOCK=d-mcs
// settings adaptive: HEDDLE_WIN_LOCK=adaptive
// heddle: only
#include "check.h"

static void has(const char *key, const char *asked, const char *want) {
    MPI_Info given, used;
    MPI_Win win;
    int *memory, flag;
    char value[64] = "";
    CHECK_OK(MPI_Info_create(&given));
    // Rank 0's value counts.
    if (asked && check_rank == 0) CHECK_OK(MPI_Info_set(given, key, asked));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, given, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get(used, key, sizeof value - 1, value, &flag));
    CHECK(flag && strcmp(value, want) == 0);
    CHECK_OK(MPI_Info_free(&given));
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    const char *chosen = argv[argc - 1];
    has("heddle_win_lock", NULL, chosen);
    has("heddle_win_lock", "queue-rw", "queue-rw");
    has("heddle_win_lock", "mutex", chosen);
    // The algorithm brings its usual parameters.
    has("heddle_win_lock_writers", NULL, strcmp(chosen, "adaptive") == 0 ? "100" : "16");
    has("heddle_win_lock_bypasses", NULL, "7");
    has("heddle_win_lock_bypasses", "0", "0");
    has("heddle_win_lock_bypasses", "-1", "7");
    return check_finish();
}
