// Synchronisation of windows: fences, post and start in every order, locks and flushes, with their assertions.
#include "win_flavors.h"

enum { ROUNDS = 25 };

static MPI_Group everybody;

// One number for each rank, in memory that the window allocates.
static MPI_Win make(long **memory) {
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(check_size * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    for (int i = 0; i < check_size; i++) (*memory)[i] = -1;
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return win;
}

static void put(MPI_Win win, int target, long value) {
    static long values[ROUNDS + 8];
    static int next;
    long *origin = &values[next++ % (ROUNDS + 8)];
    *origin = value;
    CHECK_OK(MPI_Put(origin, 1, MPI_LONG, target, check_rank, 1, MPI_LONG, win));
}

static MPI_Group group_of(int n, const int *ranks) {
    MPI_Group group;
    CHECK_OK(MPI_Group_incl(everybody, n, ranks, &group));
    return group;
}

static void fences(void) {
    long *memory, value = -1;
    MPI_Win win = make(&memory);
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    for (int round = 0; round < ROUNDS; round++) {
        bool last = round == ROUNDS - 1;
        CHECK_OK(MPI_Win_fence(round == 0 ? MPI_MODE_NOPRECEDE : 0, win));
        put(win, next, round);
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE, win));
        CHECK_EQ(memory[before], round);
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, next, check_rank, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSTORE | (last ? MPI_MODE_NOSUCCEED : 0), win));
        CHECK_EQ(value, round);
    }
    // No epoch is open now.
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    CHECK_OK(MPI_Win_unlock(next, win));
    // A fence that could be followed by operations opens an epoch, which the lock of any target ends.
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    put(win, next, 77);
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
    CHECK_EQ(memory[before], 77);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

static void wait_or_test(MPI_Win win, bool test) {
    int flag = 0;
    if (!test) {
        CHECK_OK(MPI_Win_wait(win));
        return;
    }
    while (!flag) CHECK_OK(MPI_Win_test(win, &flag));
}

// All ranks expose and access at once: all targets, in another order in each round.
static void all_to_all(void) {
    long *memory;
    MPI_Win win = make(&memory);
    int *ranks = check_alloc((size_t)check_size * sizeof *ranks);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < check_size; i++) {
            ranks[i] = round % 2 ? (i + round) % check_size : (check_size - 1 - i + round) % check_size;
        }
        MPI_Group targets = group_of(check_size, ranks);
        CHECK_OK(MPI_Win_post(round % 3 ? targets : everybody, 0, win));
        CHECK_OK(MPI_Win_start(targets, 0, win));
        for (int i = 0; i < check_size; i++) put(win, ranks[i], round * 100 + check_rank);
        CHECK_OK(MPI_Win_complete(win));
        wait_or_test(win, round % 2);
        for (int i = 0; i < check_size; i++) CHECK_EQ(memory[i], round * 100 + i);
        CHECK_OK(MPI_Group_free(&targets));
    }
    CHECK_OK(MPI_Win_free(&win));
    free(ranks);
}

// Each rank exposes to the next one and accesses the one before: half of them start before they post. A ring of at least three.
static void ring(void) {
    if (check_size < 3) return;
    long *memory;
    MPI_Win win = make(&memory);
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    MPI_Group origin = group_of(1, &next), target = group_of(1, &before);
    bool starts_first = check_rank != 0;
    for (int round = 0; round < ROUNDS; round++) {
        // The rank that posts first lets the others start one after the other.
        if (!starts_first) CHECK_OK(MPI_Win_post(origin, MPI_MODE_NOSTORE, win));
        CHECK_OK(MPI_Win_start(target, 0, win));
        if (starts_first) CHECK_OK(MPI_Win_post(origin, 0, win));
        put(win, before, round);
        CHECK_OK(MPI_Win_complete(win));
        wait_or_test(win, (round + check_rank) % 2);
        CHECK_EQ(memory[next], round);
    }
    CHECK_OK(MPI_Group_free(&origin));
    CHECK_OK(MPI_Group_free(&target));
    CHECK_OK(MPI_Win_free(&win));
}

// Rank 0 is the only target, then the only origin; the group of the others changes from round to round.
static void one_and_many(void) {
    if (check_size < 2) return;
    long *memory;
    MPI_Win win = make(&memory);
    int zero = 0, *others = check_alloc((size_t)check_size * sizeof *others);
    MPI_Group first = group_of(1, &zero);
    for (int round = 0; round < ROUNDS; round++) {
        int n = 0;
        bool member = false;
        for (int rank = check_size - 1; rank > 0; rank--) {
            if ((rank + round) % 3 == 0) continue;
            others[n++] = rank;
            member = member || rank == check_rank;
        }
        MPI_Group some = group_of(n, others);
        if (check_rank == 0) {
            CHECK_OK(MPI_Win_post(some, 0, win));
            CHECK_OK(MPI_Win_wait(win));
            for (int i = 0; i < n; i++) CHECK_EQ(memory[others[i]], round);
            CHECK_OK(MPI_Win_start(some, 0, win));
            for (int i = 0; i < n; i++) put(win, others[i], -round);
            CHECK_OK(MPI_Win_complete(win));
        } else if (member) {
            CHECK_OK(MPI_Win_start(first, 0, win));
            put(win, 0, round);
            CHECK_OK(MPI_Win_complete(win));
            CHECK_OK(MPI_Win_post(first, 0, win));
            wait_or_test(win, round % 2);
            CHECK_EQ(memory[0], -round);
        }
        CHECK_OK(MPI_Group_free(&some));
    }
    CHECK_OK(MPI_Group_free(&first));
    CHECK_OK(MPI_Win_free(&win));
    free(others);
}

// An exposure that is posted again before the other side has completed the next access; NOCHECK where the post is known.
static void ahead(void) {
    MPI_Comm pair;
    int rank = -1;
    // The window's memory is private, and so only processes that copy reach it.
    if (!check_pair(&pair, &rank)) return;
    long memory[2] = {-1, -1};
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, pair, &win));
    MPI_Group both, other;
    int peer = 1 - rank;
    CHECK_OK(MPI_Win_get_group(win, &both));
    CHECK_OK(MPI_Group_incl(both, 1, &peer, &other));
    long value;
    for (long round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            CHECK_OK(MPI_Win_post(other, MPI_MODE_NOCHECK | MPI_MODE_NOPUT, win));
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, pair));
            CHECK_OK(MPI_Win_wait(win));
            memory[0]++;
        } else {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Win_start(other, MPI_MODE_NOCHECK, win));
            CHECK_OK(MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
            CHECK_OK(MPI_Win_complete(win));
            CHECK_EQ(value, round - 1);
        }
    }
    // Empty groups wait for nobody.
    CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    CHECK_OK(MPI_Win_complete(win));
    int flag = 0;
    CHECK_OK(MPI_Win_test(win, &flag));
    CHECK_EQ(flag, 1);
    // A test before the access has ended says no.
    if (rank == 0) {
        CHECK_OK(MPI_Win_post(other, 0, win));
        flag = 7;
        CHECK_OK(MPI_Win_test(win, &flag));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, pair));
        CHECK_OK(MPI_Win_wait(win));
    } else {
        CHECK_OK(MPI_Win_start(other, 0, win));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_complete(win));
    }
    CHECK_OK(MPI_Group_free(&both));
    CHECK_OK(MPI_Group_free(&other));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&pair));
}

// Locks of several targets at a time, and what each kind of flush promises.
static void locks(void) {
    long *memory, value = 0, sum = 0, one = 1;
    MPI_Win win = make(&memory);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    for (int i = 0; i < check_size; i++) memory[i] = 0;
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < ROUNDS; round++) {
        for (int rank = 0; rank < check_size; rank++) CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
        for (int rank = 0; rank < check_size; rank++) {
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, rank, check_rank, 1, MPI_LONG, MPI_SUM, win));
        }
        if (round % 2) CHECK_OK(MPI_Win_flush_local_all(win));
        CHECK_OK(MPI_Win_flush_all(win));
        for (int rank = check_size - 1; rank >= 0; rank--) {
            CHECK_OK(MPI_Get(&value, 1, MPI_LONG, rank, check_rank, 1, MPI_LONG, win));
            CHECK_OK(round % 2 ? MPI_Win_flush(rank, win) : MPI_Win_flush_local(rank, win));
            CHECK_EQ(value, round + 1);
            CHECK_OK(MPI_Win_unlock(rank, win));
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int rank = 0; rank < check_size; rank++) {
        CHECK_OK(MPI_Get(&value, 1, MPI_LONG, rank, (rank + 1) % check_size, 1, MPI_LONG, win));
        CHECK_OK(MPI_Win_flush_local_all(win));
        sum += value;
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_EQ(sum, (long)ROUNDS * check_size);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // Everybody agrees that only one rank locks: no check is needed.
    int next = (check_rank + 1) % check_size;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, win));
    put(win, next, 5);
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    CHECK_OK(MPI_Win_unlock(next, win));
    // Nobody is locked and accessed in vain.
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    CHECK_OK(MPI_Put(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    CHECK_OK(MPI_Win_free(&win));
}

// Many fences and posts on windows of different groups of ranks that live at one time.
static void of_parts(void) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &comm));
    int rank, size;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    long *small, *large;
    MPI_Win part, all = make(&large);
    CHECK_OK(MPI_Win_allocate(sizeof(long), 1, MPI_INFO_NULL, comm, &small, &part));
    CHECK_OK(MPI_Win_fence(0, part));
    CHECK_OK(MPI_Win_post(everybody, 0, all));
    CHECK_OK(MPI_Win_start(everybody, 0, all));
    for (long round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Put(&round, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, part));
        put(all, (check_rank + 1) % check_size, round);
        CHECK_OK(MPI_Win_fence(0, part));
        CHECK_EQ(*small, round);
        CHECK_OK(MPI_Win_fence(0, part));
        CHECK_OK(MPI_Win_complete(all));
        CHECK_OK(MPI_Win_wait(all));
        CHECK_EQ(large[(check_rank + check_size - 1) % check_size], round);
        CHECK_OK(MPI_Win_post(everybody, 0, all));
        CHECK_OK(MPI_Win_start(everybody, 0, all));
    }
    CHECK_OK(MPI_Win_complete(all));
    CHECK_OK(MPI_Win_wait(all));
    CHECK_OK(MPI_Win_free(&part));
    CHECK_OK(MPI_Win_free(&all));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    fences();
    all_to_all();
    ring();
    one_and_many();
    ahead();
    locks();
    of_parts();
    CHECK_OK(MPI_Group_free(&everybody));
    return check_finish();
}
