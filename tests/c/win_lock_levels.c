// The trees of rma-mcs, rma-rw and adaptive follow the machine: here one of two packages, which hwloc is told about, with processes bound to them.
// ranks: 1 4
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

enum { ROUNDS = 500 };

static void has_levels(const char *algorithm, int levels) {
    MPI_Info given, used;
    MPI_Win win;
    long *memory, value, one;
    int flag;
    char shown[16] = "";
    CHECK_OK(MPI_Info_create(&given));
    CHECK_OK(MPI_Info_set(given, "heddle_win_lock", algorithm));
    CHECK_OK(MPI_Info_set(given, "heddle_win_lock_locality", "3"));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, given, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get(used, "heddle_win_lock_levels", sizeof shown - 1, shown, &flag));
    CHECK(flag);
    CHECK_EQ(atoi(shown), levels);
    CHECK_OK(MPI_Info_get(used, "heddle_win_lock_locality", sizeof shown - 1, shown, &flag));
    CHECK(flag && strcmp(shown, "3") == 0);
    *memory = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // Reads and writes that only the lock keeps apart.
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush(0, win));
        one = value + 1;
        CHECK_OK(MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_EQ(value, (long)ROUNDS * check_size);
    CHECK_OK(MPI_Info_free(&given));
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    setenv("HWLOC_SYNTHETIC", "package:2 pu:2(indexes=0,2,1,3)", 1);
    check_start(argc, argv);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(check_rank % 2, &cores);
    // On a machine with one core the packages cannot be told apart, and there is one level.
    int bound = sched_setaffinity(0, sizeof cores, &cores) == 0, all_bound;
    CHECK_OK(MPI_Allreduce(&bound, &all_bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    int levels = all_bound && check_size > 2 ? 2 : 1;
    has_levels("rma-mcs", levels);
    has_levels("rma-rw", levels);
    has_levels("adaptive", levels);
    has_levels("d-mcs", 1);
    return check_finish();
}
