// The settings of the window locks rma-rw, rma-mcs and adaptive decide who gets the lock next: T_L,i by heddle_win_lock_locality, T_L,1 by
// _writers, T_R by _readers; and T_DC by _counter_distance how many counters of readers there are. Where an offload thread asks
// for the lock, a rank that sleeps may not have its place in the queue yet, so this is tried under the default model alone.
// ranks: 6
// levels: multiple
// models: default
// variants: locality-mcs locality-rw locality-adaptive writers writers-adaptive readers counters
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <unistd.h>

enum { MOST_TRIALS = 200 };

// In memory that all ranks share: who may ask for the lock, and the ranks in the order of their grants.
struct board {
    atomic_int turn, grants, order[8];
};

static struct board *board;
static MPI_Win board_win;
static int *pids;

static void open_board(void) {
    MPI_Aint size = check_rank == 0 ? sizeof *board : 0;
    int unit, pid = (int)getpid();
    void *memory;
    CHECK_OK(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &board_win));
    CHECK_OK(MPI_Win_shared_query(board_win, 0, &size, &unit, &memory));
    board = memory;
    pids = check_alloc((size_t)check_size * sizeof *pids);
    CHECK_OK(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD));
}

// The text of a file about a rank.
static void about(int rank, const char *file, char *text, size_t room) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pids[rank], file);
    FILE *opened = fopen(path, "r");
    CHECK(opened != NULL);
    text[fread(text, 1, room - 1, opened)] = 0;
    fclose(opened);
}

// A process that has asked for a lock and sleeps has its place in the queue, or is counted as a reader.
static bool is_asleep(int rank) {
    char text[512];
    about(rank, "stat", text, sizeof text);
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

// How often a rank has gone to sleep.
static long sleeps(int rank) {
    char text[4096];
    about(rank, "status", text, sizeof text);
    const char *line = strstr(text, "\nvoluntary_ctxt_switches:");
    CHECK(line != NULL);
    return line ? atol(strchr(line, ':') + 1) : 0;
}

static MPI_Win make(const char *algorithm, const char *key, const char *value) {
    MPI_Info info;
    MPI_Win win;
    int *memory;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithm));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_bypasses", "0"));
    if (strcmp(key, "heddle_win_lock_readers") == 0) CHECK_OK(MPI_Info_set(info, "heddle_win_lock_writers", "1"));
    // One counter: where adaptive closes a reader's counter, it loses its place.
    if (strcmp(key, "heddle_win_lock_writers") == 0) CHECK_OK(MPI_Info_set(info, "heddle_win_lock_counter_distance", "6"));
    CHECK_OK(MPI_Info_set(info, key, value));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    return win;
}

static long told(MPI_Win win, const char *key) {
    MPI_Info used;
    char value[32] = "";
    int flag;
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get(used, key, sizeof value - 1, value, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Info_free(&used));
    return atol(value);
}

static void is_granted(void) { atomic_store(&board->order[atomic_fetch_add(&board->grants, 1)], check_rank); }

// Lets a rank ask for the lock, which this one has, and waits until it sleeps there.
static void let_ask(int rank) {
    atomic_store(&board->turn, rank);
    while (atomic_load(&board->turn) != -rank) sched_yield();
    while (!is_asleep(rank)) sched_yield();
}

static void ask(MPI_Win win, int kind) {
    while (atomic_load(&board->turn) != check_rank) sched_yield();
    atomic_store(&board->turn, -check_rank);
    CHECK_OK(MPI_Win_lock(kind, 0, 0, win));
    is_granted();
}

// Rank 0 has the lock. The `count` ranks of `asking` ask for it one after the other, the `reader` among them to read; they get it in
// this order.
static void gives_order(const char *algorithm, const char *key, const char *value, int reader, int count, const int *asking, const int *order) {
    MPI_Win win = make(algorithm, key, value);
    bool asks = false;
    for (int i = 0; i < count; i++) asks = asks || asking[i] == check_rank;
    if (check_rank == 0) {
        atomic_store(&board->grants, 0);
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        for (int i = 0; i < count; i++) let_ask(asking[i]);
    } else if (asks) {
        ask(win, check_rank == reader ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
    }
    if (check_rank == 0 || asks) CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) CHECK_EQ(atomic_load(&board->order[i]), order[i]);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_free(&win));
}

// The ranks 0, 2, 4 are in one package, and 1, 3 in the other. Where processes cannot be bound to two cores there is one queue. A
// package whose locality is used up asks for the lock anew, so no more than one rank may be left that asks then.
static void locality(const char *algorithm) {
    MPI_Win win = make(algorithm, "heddle_win_lock_locality", "1");
    long levels = told(win, "heddle_win_lock_levels");
    CHECK_OK(MPI_Win_free(&win));
    if (levels < 2) return;
    const int asking[] = {1, 3, 2, 4};
    gives_order(algorithm, "heddle_win_lock_locality", "1", -1, 4, asking, (const int[]){2, 1, 3, 4});
    gives_order(algorithm, "heddle_win_lock_locality", "2", -1, 4, asking, (const int[]){2, 4, 1, 3});
}

static void writers(const char *algorithm) {
    const int asking[] = {1, 2, 3, 4, 5};
    gives_order(algorithm, "heddle_win_lock_writers", "1", 5, 5, asking, (const int[]){5, 1, 2, 3, 4});
    gives_order(algorithm, "heddle_win_lock_writers", "3", 5, 5, asking, (const int[]){1, 2, 5, 3, 4});
    gives_order(algorithm, "heddle_win_lock_writers", "16", 5, 5, asking, (const int[]){1, 2, 3, 4, 5});
}

// Rank 0 lets the readers in, of whom rank 2 has asked, and writer 1 waits. Once that has gone to sleep again, rank 0 asks to read: it
// gets the lock before the writer, in some trial, if the writer waits for two readers. How late the kernel lets it ask is not known.
static bool comes_before_the_writer(const char *readers, int trials) {
    MPI_Win win = make("rma-rw", "heddle_win_lock_readers", readers);
    int before = 0;
    for (int trial = 0; trial < trials && !before; trial++) {
        if (check_rank == 0) {
            atomic_store(&board->grants, 0);
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            let_ask(1);
            let_ask(2);
            CHECK_OK(MPI_Win_unlock(0, win));
            long slept = sleeps(1);
            while (sleeps(1) == slept) sched_yield();
            atomic_store(&board->turn, 3);
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            is_granted();
            CHECK_OK(MPI_Win_unlock(0, win));
        } else if (check_rank == 1) {
            ask(win, MPI_LOCK_EXCLUSIVE);
            CHECK_OK(MPI_Win_unlock(0, win));
        } else if (check_rank == 2) {
            ask(win, MPI_LOCK_SHARED);
            while (atomic_load(&board->turn) != 3 || (atomic_load(&board->grants) == 1 && !is_asleep(0))) sched_yield();
            CHECK_OK(MPI_Win_unlock(0, win));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        before = atomic_load(&board->order[1]) == 0;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Win_free(&win));
    return before;
}

static void counters(const char *algorithm) {
    static const struct { const char *distance; long counters; } cases[] = {{"1", 6}, {"2", 3}, {"4", 2}, {"6", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MPI_Win win = make(algorithm, "heddle_win_lock_counter_distance", cases[i].distance);
        CHECK_EQ(told(win, "heddle_win_lock_counters"), cases[i].counters);
        CHECK_OK(MPI_Win_free(&win));
    }
}

static void no_counters(void) {
    MPI_Win win = make("d-mcs", "heddle_win_lock_counter_distance", "1");
    CHECK_EQ(told(win, "heddle_win_lock_counters"), 0);
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    bool packages = strncmp(variant, "locality", 8) == 0;
    if (packages) setenv("HWLOC_SYNTHETIC", "package:2 pu:2(indexes=0,2,1,3)", 1);
    check_start(argc, argv);
    if (packages) {
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(check_rank % 2, &core);
        sched_setaffinity(0, sizeof core, &core);
    }
    open_board();
    if (strcmp(variant, "locality-mcs") == 0) locality("rma-mcs");
    if (strcmp(variant, "locality-rw") == 0) locality("rma-rw");
    if (strcmp(variant, "locality-adaptive") == 0) locality("adaptive");
    if (strcmp(variant, "writers") == 0) writers("rma-rw");
    if (strcmp(variant, "writers-adaptive") == 0) writers("adaptive");
    if (strcmp(variant, "readers") == 0) {
        CHECK(!comes_before_the_writer("0", 20));
        CHECK(comes_before_the_writer("2", MOST_TRIALS));
    }
    if (strcmp(variant, "counters") == 0) {
        counters("rma-rw");
        counters("adaptive");
        no_counters();
    }
    CHECK_OK(MPI_Win_free(&board_win));
    free(pids);
    return check_finish();
}
