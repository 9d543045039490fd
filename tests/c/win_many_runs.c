// Many short runs into and out of windows of every kind: puts, gets and accumulates with derived datatypes at either side move
// every run, and leave alone what lies between, which the target and others change meanwhile.
// ranks: 1-4
// levels: single multiple
#include "win_flavors.h"

enum { RUNS = 9000, STRIDE = 4, INTS = RUNS * STRIDE, LAYOUTS = 4 };

static int out[INTS], in[INTS];
static MPI_Datatype layouts[LAYOUTS];

// Layouts of RUNS ints at multiples of STRIDE: ascending, descending, in lists longer than any bound, and in blocks that lie apart.
static void make_layouts(int *places[LAYOUTS]) {
    static int order[LAYOUTS][RUNS];
    for (int i = 0; i < RUNS; i++) {
        order[0][i] = i * STRIDE;
        order[1][i] = (RUNS - 1 - i) * STRIDE;
        order[2][i] = (int)((long)i * 7919 % RUNS) * STRIDE;
        order[3][i] = (i % 3 * (RUNS / 3) + i / 3) * STRIDE;
    }
    for (int i = 0; i < LAYOUTS; i++) {
        places[i] = order[i];
        CHECK_OK(MPI_Type_create_indexed_block(RUNS, 1, order[i], MPI_INT, &layouts[i]));
        CHECK_OK(MPI_Type_commit(&layouts[i]));
    }
}

// The ints between the runs count how often their owner has changed them; nobody else does.
static void change_between(int *memory) {
    for (int i = 0; i < INTS; i++) {
        if (i % STRIDE) ((volatile int *)memory)[i]++;
    }
}

static void attempt(struct flavored *at, int target_layout, int origin_layout, int *places[LAYOUTS]) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    int *memory = (int *)at->memory;
    MPI_Datatype here = origin_layout < 0 ? MPI_INT : layouts[origin_layout], there = layouts[target_layout];
    int count = origin_layout < 0 ? RUNS : 1;
    const int *order = places[target_layout];
    memset(memory, 0, INTS * sizeof *memory);
    for (int i = 0; i < RUNS; i++) out[origin_layout < 0 ? i : places[origin_layout][i]] = check_rank * RUNS + i + 1;
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Win_fence(0, at->win));
    CHECK_OK(MPI_Put(out, count, here, next, at->bases[next], 1, there, at->win));
    change_between(memory);
    CHECK_OK(MPI_Win_fence(0, at->win));
    for (int i = 0; i < RUNS; i++) {
        if (!CHECK_EQ(memory[order[i]], before * RUNS + i + 1)) break;
    }
    CHECK_OK(MPI_Get(in, count, here, next, at->bases[next], 1, there, at->win));
    change_between(memory);
    CHECK_OK(MPI_Win_fence(0, at->win));
    for (int i = 0; i < INTS; i++) {
        int want = origin_layout < 0 ? (i < RUNS ? out[i] : 0) : (i % STRIDE ? 0 : out[i]);
        if (!CHECK_EQ(in[i], want)) break;
    }
    CHECK_OK(MPI_Accumulate(out, count, here, next, at->bases[next], 1, there, MPI_SUM, at->win));
    change_between(memory);
    CHECK_OK(MPI_Win_fence(0, at->win));
    CHECK_OK(MPI_Get_accumulate(out, count, here, in, count, here, next, at->bases[next], 1, there, MPI_SUM, at->win));
    change_between(memory);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at->win));
    for (int i = 0; i < RUNS; i++) {
        int k = origin_layout < 0 ? i : places[origin_layout][i];
        if (!CHECK_EQ(in[k], 2 * out[k]) || !CHECK_EQ(memory[order[i]], 3 * (before * RUNS + i + 1))) break;
    }
    for (int i = 0; i < INTS; i++) {
        if (i % STRIDE && !CHECK_EQ(memory[i], 4)) break;
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Runs of several numbers each, far apart: a list of them has more bytes than one of single numbers.
static void longer_runs(struct flavored *at) {
    enum { COUNT = 560, BLOCK = 6, APART = 64, BYTES = COUNT * APART * sizeof(int) };
    static int data[COUNT * BLOCK], back[COUNT * BLOCK];
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    int *memory = (int *)at->memory;
    MPI_Datatype blocks;
    _Static_assert(BYTES <= INTS * sizeof(int), "the window has room");
    CHECK_OK(MPI_Type_vector(COUNT, BLOCK, APART, MPI_INT, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    memset(memory, 0, BYTES);
    memset(back, 0, sizeof back);
    for (int i = 0; i < COUNT * BLOCK; i++) data[i] = check_rank * COUNT * BLOCK + i + 1;
    CHECK_OK(MPI_Win_fence(0, at->win));
    CHECK_OK(MPI_Put(data, COUNT * BLOCK, MPI_INT, next, at->bases[next], 1, blocks, at->win));
    CHECK_OK(MPI_Win_fence(0, at->win));
    for (int i = 0; i < COUNT * APART; i++) {
        int k = i % APART < BLOCK ? i / APART * BLOCK + i % APART : -1;
        if (!CHECK_EQ(memory[i], k < 0 ? 0 : before * COUNT * BLOCK + k + 1)) break;
    }
    CHECK_OK(MPI_Get(back, COUNT * BLOCK, MPI_INT, next, at->bases[next], 1, blocks, at->win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at->win));
    CHECK(memcmp(back, data, sizeof data) == 0);
    CHECK_OK(MPI_Type_free(&blocks));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void every_flavor(int *places[LAYOUTS]) {
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, INTS * sizeof(int), MPI_COMM_WORLD);
        for (int target = 0; target < LAYOUTS; target++) {
            attempt(&at, target, -1, places);
            attempt(&at, target, (target + 1) % LAYOUTS, places);
        }
        longer_runs(&at);
        flavored_free(&at);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int *places[LAYOUTS];
    make_layouts(places);
    every_flavor(places);
    // A library may have threads for a bounded number of windows.
    enum { MANY = 9, LONG = 1 << 16 };
    MPI_Win others[MANY];
    char *memory = check_alloc(MANY * LONG);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Win_create(memory + i * LONG, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &others[i]));
    }
    every_flavor(places);
    for (int i = 0; i < MANY; i++) CHECK_OK(MPI_Win_free(&others[i]));
    free(memory);
    for (int i = 0; i < LAYOUTS; i++) CHECK_OK(MPI_Type_free(&layouts[i]));
    return check_finish();
}
