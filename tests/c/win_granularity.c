// Accumulates of a window with a granularity change so many bytes at a time: nobody sees such a range half done. What rank 0 says
// counts, when the window is made and not later.
// heddle: only
// ranks: 2 4
#include "win_flavors.h"

enum { ROUNDS = 1000, WORDS = 512 };

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Info info;
    MPI_Win win;
    int64_t *memory, mine[WORDS], seen[WORDS], one = 1, before;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_accumulate_granularity", check_rank == 0 ? "4096" : "8"));
    CHECK_OK(MPI_Win_allocate((WORDS + 1) * 8, 8, info, MPI_COMM_WORLD, &memory, &win));
    check_granularity(win, "4096");
    CHECK_OK(MPI_Info_set(info, "mpi_accumulate_granularity", "0"));
    CHECK_OK(MPI_Win_set_info(win, info));
    check_granularity(win, "4096");
    CHECK_OK(MPI_Info_free(&info));
    memset(memory, 0, (WORDS + 1) * 8);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    int torn = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) mine[i] = (int64_t)round * check_size + check_rank;
        CHECK_OK(MPI_Accumulate(mine, WORDS, MPI_INT64_T, 0, 0, WORDS, MPI_INT64_T, MPI_REPLACE, win));
        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, seen, WORDS, MPI_INT64_T, 0, 0, WORDS, MPI_INT64_T, MPI_NO_OP, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, WORDS, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
        for (int i = 1; i < WORDS; i++) torn += seen[i] != seen[0];
    }
    CHECK_EQ(torn, 0);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) CHECK_EQ(memory[WORDS], (int64_t)ROUNDS * check_size);
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
