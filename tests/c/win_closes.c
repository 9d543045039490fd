// The accumulate lock of a target closes when accumulates are long, and opens when they are short, while threads of all ranks change
// the same elements in every way. No change is lost. With elements it stays open.
// ranks: 2 4
// levels: multiple
// models: default
// variants: chosen elements
// settings elements: HEDDLE_ACCUMULATE_GRANULARITY=1
// heddle: only
#include "counters.h"
#include "threads.h"
#include "win_flavors.h"

enum { THREADS = 3, ROUNDS = 2000, WORDS = 1500, FEW = 4, MOST_PHASES = 1000 };

static MPI_Win win;
static bool many;

static void add_to_all(int target) {
    int64_t ones[WORDS];
    for (int i = 0; i < WORDS; i++) ones[i] = 1;
    CHECK_OK(MPI_Accumulate(ones, WORDS, MPI_INT64_T, target, 0, WORDS, MPI_INT64_T, MPI_SUM, win));
}

// Adds 1 to an element, in one of four ways; to the elements from `FEW` on in some, which no other way changes.
static void add_to_one(int target, int way) {
    const int64_t ones[FEW] = {1, 1, 1, 1};
    int64_t before[FEW];
    switch (way) {
    case 0: CHECK_OK(MPI_Accumulate(ones, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win)); break;
    case 1: CHECK_OK(MPI_Fetch_and_op(ones, before, MPI_INT64_T, target, 0, MPI_SUM, win)); break;
    case 2: CHECK_OK(MPI_Get_accumulate(ones, 1, MPI_INT64_T, before, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win)); break;
    default:
        for (int64_t expected = 0, now = -1, next;; expected = now) {
            next = expected + 1;
            CHECK_OK(MPI_Compare_and_swap(&next, &expected, &now, MPI_INT64_T, target, 0, win));
            if (now == expected) break;
        }
    }
}

static void change(int thread, void *unused) {
    (void)unused;
    for (int round = 0; round < (many ? ROUNDS / 20 : ROUNDS); round++) {
        int target = (round + thread) % check_size;
        if (many) add_to_all(target);
        add_to_one(target, round % 4);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    bool chosen = strcmp(argv[argc - 1], "chosen") == 0;
    int64_t *memory;
    CHECK_OK(MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    check_granularity(win, chosen ? "0" : "1");
    memset(memory, 0, WORDS * 8);
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    struct counter changes = counter_start("heddle_accumulate_locks_changed");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    // More changes than ranks: some lock has opened, too.
    unsigned long long done = 0;
    int phases = 0, long_phases = 0;
    for (bool enough = false; !enough; phases++) {
        many = phases % 2 == 0;
        long_phases += many;
        threads_run(THREADS, change, NULL);
        unsigned long long mine = counter_read(&changes);
        CHECK_OK(MPI_Allreduce(&mine, &done, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
        enough = chosen ? done > (unsigned)check_size || phases == MOST_PHASES : phases == 5;
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(chosen ? done > (unsigned)check_size : done == 0);
    int64_t sums[2] = {memory[0], memory[WORDS - 1]}, all[2];
    CHECK_OK(MPI_Allreduce(sums, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    int64_t longs = (int64_t)long_phases * THREADS * (ROUNDS / 20) * check_size;
    int64_t singles = longs + (int64_t)(phases - long_phases) * THREADS * ROUNDS * check_size;
    CHECK_EQ(all[1], longs);
    CHECK_EQ(all[0], longs + singles);
    counter_end(&changes);
    CHECK_OK(MPI_T_finalize());
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
