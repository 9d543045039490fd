// Dynamic windows: data may lie over several attached regions, neighbours that touch or blocks of a datatype with memory between them
// that is not attached. Data of which a byte is not attached is MPI_ERR_RMA_RANGE, and nothing of it is moved. A region of no bytes
// can be attached anywhere, and is detached like any other.
// ranks: 1-4
#include "check.h"

#include <stddef.h>

enum { PARTS = 6, PART = 600, N = PARTS * PART, APART = 5 };

struct pair {
    short value;
    int index;
};

static int next, before, memory[N], out[N], in[N], apart[APART][64];
static struct pair pair;
static MPI_Win win;

static MPI_Aint address_of(void *mine) {
    MPI_Aint here, there;
    MPI_Get_address(mine, &here);
    CHECK_OK(MPI_Sendrecv(&here, 1, MPI_AINT, before, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return there;
}

// Every target is accessed by one rank, which here waits for the one that accesses its own memory.
static void sync_all(void) {
    CHECK_OK(MPI_Win_flush_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Puts, gets and accumulates whose data is the whole of `memory`, in the order of a datatype.
static void whole(MPI_Aint there, MPI_Datatype type, int count, const int *order) {
    for (int i = 0; i < N; i++) out[i] = check_rank * N + i, in[i] = -1, memory[i] = -2;
    sync_all();
    CHECK_OK(MPI_Put(out, N, MPI_INT, next, there, count, type, win));
    sync_all();
    for (int i = 0; i < N; i++) {
        if (!CHECK_EQ(memory[order[i]], before * N + i)) break;
    }
    sync_all();
    CHECK_OK(MPI_Get(in, N, MPI_INT, next, there, count, type, win));
    CHECK_OK(MPI_Win_flush(next, win));
    CHECK(memcmp(in, out, sizeof in) == 0);
    sync_all();
    CHECK_OK(MPI_Accumulate(out, N, MPI_INT, next, there, count, type, MPI_SUM, win));
    sync_all();
    CHECK_OK(MPI_Get_accumulate(out, N, MPI_INT, in, N, MPI_INT, next, there, count, type, MPI_SUM, win));
    sync_all();
    for (int i = 0; i < N; i++) {
        if (!CHECK_EQ(in[i], 2 * out[i]) || !CHECK_EQ(memory[order[i]], 3 * (before * N + i))) break;
    }
}

static void neighbours(void) {
    static int forwards[N], backwards[N];
    for (int i = 0; i < N; i++) forwards[i] = i, backwards[i] = N - 1 - i;
    MPI_Datatype reversed;
    CHECK_OK(MPI_Type_vector(N, 1, -1, MPI_INT, &reversed));
    CHECK_OK(MPI_Type_commit(&reversed));
    MPI_Aint there = address_of(memory);
    for (int order = 0; order < 3; order++) {
        // In three orders, so that the list of regions is not sorted by address.
        for (int i = 0; i < PARTS; i++) CHECK_OK(MPI_Win_attach(win, memory + (order * 2 + 1) * (i + 1) % 7 % PARTS * PART, PART * sizeof(int)));
        CHECK_CLASS(MPI_Win_attach(win, memory + PART - 1, 2 * sizeof(int)), MPI_ERR_RMA_ATTACH);
        sync_all();
        whole(there, MPI_INT, N, forwards);
        whole(there + (N - 1) * (MPI_Aint)sizeof(int), reversed, 1, backwards);
        // A part in the middle is missing: nothing is moved, not even before it.
        sync_all();
        CHECK_OK(MPI_Win_detach(win, memory + 3 * PART));
        for (int i = 0; i < N; i++) memory[i] = 7;
        sync_all();
        CHECK_CLASS(MPI_Put(out, N, MPI_INT, next, there, N, MPI_INT, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Get(in, N, MPI_INT, next, there, N, MPI_INT, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Accumulate(out, N, MPI_INT, next, there, N, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(out, N, MPI_INT, next, there + (N - 1) * (MPI_Aint)sizeof(int), 1, reversed, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(out, 1, MPI_INT, next, there + 3 * PART * (MPI_Aint)sizeof(int) - 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(out, 1, MPI_INT, next, there + N * (MPI_Aint)sizeof(int) - 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        sync_all();
        for (int i = 0; i < N; i++) {
            if (!CHECK_EQ(memory[i], 7)) break;
        }
        sync_all();
        // What surrounds the gap is attached all the same.
        int around[] = {0, 4 * PART}, lengths[] = {3 * PART, 2 * PART};
        MPI_Datatype two;
        CHECK_OK(MPI_Type_indexed(2, lengths, around, MPI_INT, &two));
        CHECK_OK(MPI_Type_commit(&two));
        CHECK_OK(MPI_Put(out, N - PART, MPI_INT, next, there, 1, two, win));
        CHECK_OK(MPI_Type_free(&two));
        sync_all();
        for (int i = 0; i < N; i++) {
            if (!CHECK_EQ(memory[i], i / PART == 3 ? 7 : before * N + (i < 3 * PART ? i : i - PART))) break;
        }
        for (int i = 0; i < PARTS; i++) {
            if (i != 3) CHECK_OK(MPI_Win_detach(win, memory + i * PART));
        }
        sync_all();
    }
    CHECK_OK(MPI_Type_free(&reversed));
}

// One datatype with a block in each of several arrays; its displacements are addresses, and count from 0.
static void blocks(void) {
    MPI_Aint places[APART];
    int lengths[APART];
    for (int i = 0; i < APART; i++) {
        places[i] = address_of(apart[i] + 1), lengths[i] = 8 + i;
        CHECK_OK(MPI_Win_attach(win, apart[i] + 1, (8 + (size_t)i) * sizeof(int)));
    }
    MPI_Datatype all;
    CHECK_OK(MPI_Type_create_hindexed(APART, lengths, places, MPI_INT, &all));
    CHECK_OK(MPI_Type_commit(&all));
    int total = 8 * APART + APART * (APART - 1) / 2;
    for (int i = 0; i < total; i++) out[i] = check_rank + 10 * i;
    memset(apart, 0, sizeof apart);
    sync_all();
    CHECK_OK(MPI_Put(out, total, MPI_INT, next, 0, 1, all, win));
    sync_all();
    CHECK_OK(MPI_Get_accumulate(out, total, MPI_INT, in, total, MPI_INT, next, 0, 1, all, MPI_SUM, win));
    sync_all();
    CHECK(memcmp(in, out, (size_t)total * sizeof *in) == 0);
    for (int i = 0, at = 0; i < APART; i++) {
        for (int k = 0; k < 64; k++) {
            bool inside = k >= 1 && k < 9 + i;
            CHECK_EQ(apart[i][k], inside ? 2 * (before + 10 * at++) : 0);
        }
    }
    CHECK_CLASS(MPI_Put(out, 2 * total, MPI_INT, next, 0, 2, all, win), MPI_ERR_RMA_RANGE);
    sync_all();
    CHECK_OK(MPI_Win_detach(win, apart[2] + 1));
    sync_all();
    CHECK_CLASS(MPI_Put(out, total, MPI_INT, next, 0, 1, all, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(in, total, MPI_INT, next, 0, 1, all, win), MPI_ERR_RMA_RANGE);
    sync_all();
    for (int i = 0; i < APART; i++) {
        if (i != 2) CHECK_OK(MPI_Win_detach(win, apart[i] + 1));
    }
    CHECK_OK(MPI_Type_free(&all));
}

// The bytes between the parts of an element are no data, and need not be attached.
static void element_with_a_gap(void) {
    pair = (struct pair){5, 1};
    CHECK_OK(MPI_Win_attach(win, &pair.value, sizeof pair.value));
    CHECK_OK(MPI_Win_attach(win, &pair.index, sizeof pair.index));
    MPI_Aint there = address_of(&pair);
    struct pair mine = {9, 100 + check_rank}, old = {0, 0};
    sync_all();
    CHECK_OK(MPI_Get_accumulate(&mine, 1, MPI_SHORT_INT, &old, 1, MPI_SHORT_INT, next, there, 1, MPI_SHORT_INT, MPI_MAXLOC, win));
    sync_all();
    CHECK_EQ(old.value, 5), CHECK_EQ(old.index, 1);
    CHECK_EQ(pair.value, 9), CHECK_EQ(pair.index, 100 + before);
    CHECK_OK(MPI_Win_detach(win, &pair.index));
    sync_all();
    CHECK_CLASS(MPI_Accumulate(&mine, 1, MPI_SHORT_INT, next, there, 1, MPI_SHORT_INT, MPI_MAXLOC, win), MPI_ERR_RMA_RANGE);
    sync_all();
    CHECK_OK(MPI_Win_detach(win, &pair.value));
}

// Regions of no bytes, before, at the start of, within and behind one that has some, which can be accessed all the time.
static void regions_of_no_bytes(void) {
    static int bytes[8];
    static int *const places[] = {bytes, bytes, bytes + 2, bytes + 4, bytes + 8, NULL};
    enum { PLACES = sizeof places / sizeof *places };
    MPI_Aint there = address_of(bytes + 2);
    CHECK_OK(MPI_Win_attach(win, bytes + 2, 4 * sizeof(int)));
    for (int i = 0; i < PLACES; i++) CHECK_OK(MPI_Win_attach(win, places[i], 0));
    sync_all();
    CHECK_OK(MPI_Put(out, 4, MPI_INT, next, there, 4, MPI_INT, win));
    CHECK_CLASS(MPI_Put(out, 5, MPI_INT, next, there, 5, MPI_INT, win), MPI_ERR_RMA_RANGE);
    sync_all();
    for (int i = 0; i < PLACES; i++) CHECK_OK(MPI_Win_detach(win, places[i]));
    sync_all();
    CHECK_OK(MPI_Put(out, 4, MPI_INT, next, there, 4, MPI_INT, win));
    sync_all();
    CHECK_OK(MPI_Win_detach(win, bytes + 2));
    for (int i = 0; i < PLACES && !oracle; i++) CHECK_CLASS(MPI_Win_detach(win, places[i]), MPI_ERR_RMA_ATTACH);
    sync_all();
}

// Regions that come and go, and as many at once as a window has room for.
static void many_regions(void) {
    enum { MOST = 4096 };
    static char bytes[2 * MOST + 2];
    for (int i = 0; i < MOST + 100; i++) {
        CHECK_OK(MPI_Win_attach(win, bytes, 1));
        CHECK_OK(MPI_Win_detach(win, bytes));
    }
    if (oracle) return;
    for (int i = 0; i < MOST; i++) CHECK_OK(MPI_Win_attach(win, bytes + 2 * i, 1));
    CHECK_CLASS(MPI_Win_attach(win, bytes + 2 * MOST, 1), MPI_ERR_RMA_ATTACH);
    CHECK_OK(MPI_Win_detach(win, bytes + 2 * 7));
    CHECK_OK(MPI_Win_attach(win, bytes + 2 * MOST, 1));
    CHECK_OK(MPI_Win_detach(win, bytes + 2 * MOST));
    for (int i = 0; i < MOST; i++) {
        if (i != 7) CHECK_OK(MPI_Win_detach(win, bytes + 2 * i));
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock_all(0, win));
    neighbours();
    blocks();
    element_with_a_gap();
    regions_of_no_bytes();
    many_regions();
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
