// The order in which a window's lock is granted, by its algorithm: whether a process that asks again gets it before one that
// waits, how often (heddle_win_lock_bypasses), and whether those that wait get it in the order in which they came.
// ranks: 2 4
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <unistd.h>

enum { TRIALS = 50, MOST_TRIALS = 5000, AT_MOST = 200 };

// In memory that all ranks share: who may ask for the lock, the grants, and the ranks in the order of their grants.
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

// Rank 0 gets a core of its own, if there are two: on one core, a process that is woken may take the place of the one that
// wakes it, every time.
static bool is_apart(void) {
    cpu_set_t allowed, wanted;
    int cores = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return false;
    for (int core = 0; core < CPU_SETSIZE && cores < 2; core++) {
        if (!CPU_ISSET(core, &allowed) || cores++ != (check_rank != 0)) continue;
        CPU_ZERO(&wanted);
        CPU_SET(core, &wanted);
        sched_setaffinity(0, sizeof wanted, &wanted);
    }
    return true;
}

// A process that has asked for a lock and sleeps has its place in the queue.
static bool is_asleep(int rank) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pids[rank]);
    FILE *file = fopen(path, "r");
    if (!file) return true;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = 0;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

static MPI_Win make(const char *algorithm, const char *bypasses) {
    MPI_Info info;
    MPI_Win win;
    int *memory;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock", algorithm));
    if (bypasses) CHECK_OK(MPI_Info_set(info, "heddle_win_lock_bypasses", bypasses));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    return win;
}

static void lock(MPI_Win win) { CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)); }
static void unlock(MPI_Win win) { CHECK_OK(MPI_Win_unlock(0, win)); }

// Lets a rank ask for the lock, which this one has, and waits until it sleeps there.
static void let_ask(int rank) {
    atomic_store(&board->turn, rank);
    while (atomic_load(&board->turn) != -rank) sched_yield();
    while (!is_asleep(rank)) sched_yield();
}

static void ask(MPI_Win win) {
    while (atomic_load(&board->turn) != check_rank) sched_yield();
    atomic_store(&board->turn, -check_rank);
    lock(win);
    atomic_store(&board->order[atomic_fetch_add(&board->grants, 1)], check_rank);
    unlock(win);
}

// Rank 0 gives the lock back and asks for it again while rank 1 waits. Returns how often it gets it before rank 1 at most. Whether
// rank 1 is awake in time is up to the kernel, so there are more trials until it is `wanted`.
static int entries_past_a_waiter(const char *algorithm, const char *bypasses, int wanted) {
    MPI_Win win = make(algorithm, bypasses);
    int most = 0;
    for (int trial = 0; trial < TRIALS || (most < wanted && trial < MOST_TRIALS); trial++) {
        if (check_rank == 0) {
            int entries = 0;
            atomic_store(&board->grants, 0);
            lock(win);
            let_ask(1);
            for (int i = 0; i < AT_MOST; i++) {
                unlock(win);
                lock(win);
                if (atomic_load(&board->grants) > 0) break;
                entries++;
            }
            unlock(win);
            if (entries > most) most = entries;
        } else if (check_rank == 1) {
            ask(win);
        }
        // Not before rank 1 has had the lock: rank 0 may have ended before.
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Bcast(&most, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Win_free(&win));
    return most;
}

static void waiters_are_served_in_order(const char *algorithm, const char *bypasses) {
    MPI_Win win = make(algorithm, bypasses);
    if (check_rank == 0) {
        atomic_store(&board->grants, 0);
        lock(win);
        for (int rank = 1; rank < check_size; rank++) let_ask(rank);
        unlock(win);
    } else {
        ask(win);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) {
        CHECK_EQ(atomic_load(&board->grants), check_size - 1);
        for (int i = 1; i < check_size; i++) CHECK_EQ(atomic_load(&board->order[i - 1]), i);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    open_board();
    bool apart = is_apart();
    static const char *const queues[] = {"rma-rw", "rma-mcs", "d-mcs"};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        // The strict order, a bound, and the default.
        CHECK_EQ(entries_past_a_waiter(queues[i], "0", 0), 0);
        int few = entries_past_a_waiter(queues[i], "3", apart ? 3 : 0);
        int more = entries_past_a_waiter(queues[i], NULL, apart ? 4 : 0);
        CHECK(apart ? few == 3 && more > 3 : few <= 3);
        waiters_are_served_in_order(queues[i], "0");
        waiters_are_served_in_order(queues[i], NULL);
    }
    if (apart) {
        CHECK(entries_past_a_waiter("spin", NULL, 1) > 0);
        CHECK(entries_past_a_waiter("queue-rw", NULL, 1) > 0);
    }
    waiters_are_served_in_order("queue-rw", NULL);
    // Always in order, whatever it chooses.
    CHECK_EQ(entries_past_a_waiter("adaptive", NULL, 0), 0);
    waiters_are_served_in_order("adaptive", NULL);
    CHECK_OK(MPI_Win_free(&board_win));
    free(pids);
    return check_finish();
}
