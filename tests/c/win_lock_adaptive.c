// The window lock adaptive chooses its parameters while it runs: it begins with turns of eight writers, which heddle_win_lock_writers
// allows, and where heddle_win_lock_patience asks for one writer between two turns of the readers it comes to that.
// ranks: 4
// levels: multiple
// models: default
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <unistd.h>

// The last rank reads, the others write. After FOUND entries the lock has chosen.
enum { FOUND = 1500, ENTRIES = 3000, EIGHT = 8, FEW = 3 };

// In memory that all ranks share: the entries, the writers since the last reader, and which ranks ask for the lock or have ended.
struct board {
    atomic_int entries, writers, asks[8], has_ended[8];
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

// A process that has asked for the lock and sleeps has its place in the queue, or is counted as a reader.
static bool is_asleep(int rank) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pids[rank]);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

// While this rank has the lock, all others come to wait for it.
static void let_all_ask(void) {
    for (int rank = 0; rank < check_size; rank++) {
        if (rank == check_rank) continue;
        while (!atomic_load(&board->has_ended[rank]) && !(atomic_load(&board->asks[rank]) && is_asleep(rank))) sched_yield();
    }
}

static MPI_Win make(void) {
    MPI_Info info, used;
    MPI_Win win;
    int *memory, flag;
    char value[16] = "";
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock", "adaptive"));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_writers", "8"));
    // One counter, so that the reader keeps its place: where its counter is closed it has to come again.
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_counter_distance", "4"));
    CHECK_OK(MPI_Info_set(info, "heddle_win_lock_patience", "1"));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_get_info(win, &used));
    CHECK_OK(MPI_Info_get(used, "heddle_win_lock_patience", sizeof value - 1, value, &flag));
    CHECK(flag && strcmp(value, "1") == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_free(&used));
    return win;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    open_board();
    MPI_Win win = make();
    bool reads = check_rank == check_size - 1;
    long turns = 0, writers = 0;
    int longest = 0, entries = 0;
    while (entries < ENTRIES) {
        atomic_store(&board->asks[check_rank], 1);
        CHECK_OK(MPI_Win_lock(reads ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
        atomic_store(&board->asks[check_rank], 0);
        entries = atomic_fetch_add(&board->entries, 1);
        if (!reads) {
            atomic_fetch_add(&board->writers, 1);
        } else {
            int before = atomic_exchange(&board->writers, 0);
            if (entries > FOUND && entries < ENTRIES) turns++, writers += before;
            if (before > longest && turns == 0) longest = before;
        }
        let_all_ask();
        CHECK_OK(MPI_Win_unlock(0, win));
        // The reader comes once in a turn: it lets a writer have the lock before it comes again.
        while (reads && atomic_load(&board->writers) == 0 && atomic_load(&board->entries) < ENTRIES) sched_yield();
    }
    atomic_store(&board->has_ended[check_rank], 1);
    if (reads) {
        CHECK_EQ(longest, EIGHT);
        CHECK(turns > 0 && writers <= FEW * turns);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_free(&board_win));
    free(pids);
    return check_finish();
}
