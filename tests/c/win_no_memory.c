// Memory that is not there: requests for too much fail with MPI_ERR_NO_MEM in all processes, and smaller ones succeed afterwards.
// If one process fails to make its part of a window, all do, and none waits for ever.
// heddle: only
#include "check.h"

#include <limits.h>

static void works(void) {
    long *memory, *block;
    MPI_Win win;
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Win_allocate_shared(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &block));
    memset(block, check_rank, 1 << 20);
    *memory = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    long rank = check_rank;
    CHECK_OK(MPI_Put(&rank, 1, MPI_LONG, next, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(*memory, before);
    for (int i = 0; i < 1 << 17; i++) {
        if (!CHECK_EQ(block[i], check_rank * 0x0101010101010101L)) break;
    }
    CHECK_OK(MPI_Free_mem(block));
    CHECK_OK(MPI_Win_free(&win));
}

static void too_much(void) {
    static const MPI_Aint sizes[] = {1L << 42, 1L << 50, 1L << 61, 1L << 62, LONG_MAX - 4096, LONG_MAX};
    void *memory;
    MPI_Win win = MPI_WIN_NULL;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            CHECK_CLASS(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
            CHECK_CLASS(MPI_Win_allocate(sizes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_NO_MEM);
            CHECK_CLASS(MPI_Win_allocate_shared(sizes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_NO_MEM);
            // The last one alone wants that much.
            MPI_Aint size = check_rank == check_size - 1 ? sizes[i] : 8;
            CHECK_CLASS(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_NO_MEM);
            CHECK_CLASS(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_NO_MEM);
            CHECK(win == MPI_WIN_NULL);
        }
        works();
    }
}

static void wrong_parts(void) {
    static char room[64];
    void *memory;
    MPI_Win win = MPI_WIN_NULL;
    for (int culprit = 0; culprit < check_size; culprit++) {
        bool wrong = culprit == check_rank;
        CHECK_CLASS(MPI_Win_create(room, wrong ? -1 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
        CHECK_CLASS(MPI_Win_create(room, 64, wrong ? 0 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_create(room, 64, wrong ? -8 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_create(wrong ? NULL : room, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
        CHECK_CLASS(MPI_Win_allocate(wrong ? -1 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_SIZE);
        CHECK_CLASS(MPI_Win_allocate(64, wrong ? 0 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_allocate_shared(wrong ? LONG_MIN : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_SIZE);
        CHECK_CLASS(MPI_Win_allocate_shared(64, wrong ? -1 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_create_c(room, 64, wrong ? -1 : (MPI_Aint)1 << 40, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
        MPI_Info info = wrong ? (MPI_Info)(intptr_t)0x5550 : MPI_INFO_NULL;
        CHECK_CLASS(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win), MPI_ERR_INFO);
        CHECK_CLASS(MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &memory, &win), MPI_ERR_INFO);
        CHECK_CLASS(MPI_Win_create(room, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, wrong ? NULL : &win), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, wrong ? NULL : &memory, &win), MPI_ERR_ARG);
        CHECK(win == MPI_WIN_NULL);
    }
    works();
}

// Arguments that are wrong in all processes.
static void wrong_everywhere(void) {
    void *memory;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &memory, &win), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &win), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Win_allocate(8, 1, (MPI_Info)(intptr_t)0x5550, MPI_COMM_WORLD, &memory, &win), MPI_ERR_INFO);
    CHECK(win == MPI_WIN_NULL);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    works();
    too_much();
    wrong_parts();
    wrong_everywhere();
    return check_finish();
}
