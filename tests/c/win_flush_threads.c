// Threads get and put long and short data at one target at once, and each flushes: what it has asked for is done then, however
// much the others have asked for meanwhile.
// ranks: 2-4
// levels: multiple
#include "threads.h"

enum { THREADS = 4, LONG = 1 << 19, ROUNDS = 40, SHORT_ROUNDS = 100 };

static MPI_Win win;
static int target;

// Element i of the first half of the target's memory is i.
static void get_and_check(int *data, int count, int from) {
    memset(data, 0xff, sizeof(int) * (size_t)count);
    CHECK_OK(MPI_Get(data, count, MPI_INT, target, from, count, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(target, win));
    for (int i = 0; i < count; i += count > 100 ? 97 : 1) {
        if (!CHECK_EQ(data[i], from + i)) return;
    }
    CHECK_EQ(data[count - 1], from + count - 1);
}

// Only this thread writes the second half of the target's memory.
static void put_and_check(int *data, int round) {
    for (int i = 0; i < LONG; i++) data[i] = round + i;
    CHECK_OK(MPI_Put(data, LONG, MPI_INT, target, LONG, LONG, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(target, win));
    for (int at = LONG - 1; at > 0; at -= LONG / 5) {
        int got = -1;
        CHECK_OK(MPI_Get(&got, 1, MPI_INT, target, LONG + at, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_flush(target, win));
        CHECK_EQ(got, round + at);
    }
}

static void of_one_thread(int index, void *shared) {
    (void)shared;
    int *data = check_alloc(sizeof(int) * LONG);
    if (index == 0) {
        for (int i = 0; i < ROUNDS; i++) get_and_check(data, LONG - i, i);
    } else if (index == 1) {
        for (int i = 0; i < ROUNDS; i++) put_and_check(data, i);
    } else {
        for (int i = 0; i < ROUNDS * SHORT_ROUNDS; i++) get_and_check(data, index, i);
    }
    free(data);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int *memory;
    CHECK_OK(MPI_Win_allocate(2 * sizeof(int) * LONG, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    for (int i = 0; i < LONG; i++) memory[i] = i;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    target = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Win_lock_all(0, win));
    threads_run(THREADS, of_one_thread, NULL);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
