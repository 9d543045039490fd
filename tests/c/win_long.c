// Puts and gets of data longer than the caches, at odd places, to another rank and to the own one.
// ranks: 2 3
// levels: multiple
// models: default
#include "check.h"

enum { LEN = (9 << 20) + 77, ROOM = LEN + 100 };

static unsigned char byte_of(int rank, size_t at) { return (unsigned char)(at * 7 + at / 4099 + (size_t)rank); }

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Win win;
    unsigned char *memory, *mine = check_alloc(ROOM);
    CHECK_OK(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    for (int step = 0; step < check_size; step++) {
        int to = (check_rank + step) % check_size, from = (check_rank + check_size - step) % check_size, offset = 3 + 10 * step;
        memset(memory, 0xaa, ROOM);
        for (size_t i = 0; i < LEN; i++) mine[i] = byte_of(check_rank, i);
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Put(mine, LEN, MPI_BYTE, to, offset, LEN, MPI_BYTE, win));
        CHECK_OK(MPI_Win_fence(0, win));
        size_t wrong = 0;
        for (size_t i = 0; i < ROOM; i++) {
            bool inside = i >= (size_t)offset && i < (size_t)offset + LEN;
            wrong += memory[i] != (inside ? byte_of(from, i - (size_t)offset) : 0xaa);
        }
        CHECK_EQ(wrong, 0);
        CHECK_OK(MPI_Get(mine, LEN, MPI_BYTE, to, offset, LEN, MPI_BYTE, win));
        CHECK_OK(MPI_Win_fence(0, win));
        for (size_t i = 0; i < LEN; i++) wrong += mine[i] != byte_of(check_rank, i);
        CHECK_EQ(wrong, 0);
    }
    CHECK_OK(MPI_Win_free(&win));
    free(mine);
    return check_finish();
}
