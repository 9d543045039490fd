// Derived datatypes on both sides of puts, gets and accumulates: vectors, indexed, structs, subarrays, resized, backwards, with
// holes; different layouts of the same data at the two sides; windows of every kind, so also by copies between processes.
#include "win_flavors.h"

enum { ROOM = 1 << 14, MIDDLE = ROOM / 2, LAYOUTS = 12 };

// Layouts that all hold ITEMS ints, in some order, within MIDDLE bytes of the place they count from.
enum { ITEMS = 24 };

static MPI_Datatype layouts[LAYOUTS];
static int counts[LAYOUTS];

static void committed(int i, MPI_Datatype type, int count) {
    CHECK_OK(MPI_Type_commit(&type));
    layouts[i] = type, counts[i] = count;
}

static void make_layouts(void) {
    MPI_Datatype type, inner;
    CHECK_OK(MPI_Type_dup(MPI_INT, &type));
    committed(0, type, ITEMS);
    CHECK_OK(MPI_Type_contiguous(ITEMS, MPI_INT, &type));
    committed(1, type, 1);
    CHECK_OK(MPI_Type_vector(6, 2, 5, MPI_INT, &type));
    committed(2, type, 2);
    CHECK_OK(MPI_Type_vector(8, 3, -7, MPI_INT, &type));
    committed(3, type, 1);
    int lens[] = {3, 1, 2}, places[] = {10, 0, 5};
    CHECK_OK(MPI_Type_indexed(3, lens, places, MPI_INT, &type));
    committed(4, type, 4);
    int backwards[] = {9, 6, 3, 0};
    CHECK_OK(MPI_Type_create_indexed_block(4, 1, backwards, MPI_INT, &type));
    committed(5, type, 6);
    int sizes[] = {5, 6, 7}, subsizes[] = {2, 3, 4}, starts[] = {1, 2, 3};
    CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
    committed(6, type, 1);
    CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &type));
    committed(7, type, 1);
    CHECK_OK(MPI_Type_create_resized(MPI_INT, -8, 20, &type));
    committed(8, type, ITEMS);
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, -12, &type));
    committed(9, type, ITEMS);
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &inner));
    MPI_Aint at[] = {-100, 4, 60};
    CHECK_OK(MPI_Type_create_struct(3, (int[]){2, 1, 1}, at, (MPI_Datatype[]){MPI_INT, inner, inner}, &type));
    committed(10, type, 4);
    CHECK_OK(MPI_Type_create_hvector(4, 1, 51, inner, &type));
    CHECK_OK(MPI_Type_free(&inner));
    committed(11, type, 3);
}

// Writes the items of a layout through MPI's own unpacking.
static void scatter(char *middle, int layout, int *items) {
    int position = 0;
    CHECK_OK(MPI_Unpack(items, ITEMS * sizeof(int), &position, middle, counts[layout], layouts[layout], MPI_COMM_SELF));
}

static int item(int rank, int near, int far, int i) { return ((rank * 64 + near) * 64 + far) * 64 + i; }

static void expect(const char *middle, const int *want, int layout, const char *what) {
    static char copy[ROOM];
    memset(copy, 0x5a, ROOM);
    scatter(copy + MIDDLE, layout, (int *)want);
    // Everything between the items is as it was.
    if (memcmp(copy, middle - MIDDLE, ROOM) == 0) return;
    size_t i = 0;
    while (copy[i] == (middle - MIDDLE)[i]) i++;
    char detail[96];
    snprintf(detail, sizeof detail, "%s: layout %d, byte %ld", what, layout, (long)i - MIDDLE);
    check_failed(__FILE__, __LINE__, "data", detail);
}

// `disps[r]` is where MIDDLE lies in the memory of rank r.
static void exchange(MPI_Win win, char *memory, const MPI_Aint *disps) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    static char local[ROOM];
    int items[ITEMS], got[ITEMS];
    for (int near = 0; near < LAYOUTS; near++) {
        for (int far = 0; far < LAYOUTS; far++) {
            if (near != far && (near + far) % 3 != 0 && near > 1 && far > 1) continue;
            CHECK_OK(MPI_Win_fence(0, win));
            memset(memory, 0x5a, ROOM);
            memset(local, 0x5a, ROOM);
            for (int i = 0; i < ITEMS; i++) items[i] = item(check_rank, near, far, i);
            scatter(local + MIDDLE, near, items);
            CHECK_OK(MPI_Win_fence(0, win));
            CHECK_OK(MPI_Put(local + MIDDLE, counts[near], layouts[near], next, disps[next], counts[far], layouts[far], win));
            CHECK_OK(MPI_Win_fence(0, win));
            for (int i = 0; i < ITEMS; i++) items[i] = item(before, near, far, i);
            expect(memory + MIDDLE, items, far, "put");
            memset(local, 0x5a, ROOM);
            CHECK_OK(MPI_Win_fence(0, win));
            CHECK_OK(MPI_Get(local + MIDDLE, counts[near], layouts[near], next, disps[next], counts[far], layouts[far], win));
            CHECK_OK(MPI_Win_fence(0, win));
            for (int i = 0; i < ITEMS; i++) items[i] = item(check_rank, near, far, i);
            expect(local + MIDDLE, items, near, "get");
            // Adds what is there to itself, and gets what was there.
            memset(got, 0, sizeof got);
            CHECK_OK(MPI_Get_accumulate(local + MIDDLE, counts[near], layouts[near], got, ITEMS, MPI_INT, next, disps[next], counts[far],
                                        layouts[far], MPI_SUM, win));
            CHECK_OK(MPI_Win_fence(0, win));
            for (int i = 0; i < ITEMS; i++) CHECK_EQ(got[i], items[i]);
            for (int i = 0; i < ITEMS; i++) items[i] = 2 * item(before, near, far, i);
            expect(memory + MIDDLE, items, far, "accumulate");
            memset(local, 0x5a, ROOM);
            CHECK_OK(MPI_Win_fence(0, win));
            CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, local + MIDDLE, counts[near], layouts[near], next, disps[next], counts[far],
                                        layouts[far], MPI_NO_OP, win));
            CHECK_OK(MPI_Win_fence(0, win));
            for (int i = 0; i < ITEMS; i++) items[i] = 2 * item(check_rank, near, far, i);
            expect(local + MIDDLE, items, near, "get-accumulate without an operation");
        }
    }
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

// Types with absolute addresses at the origin, different basic types of one signature, and the forms with large counts.
static void more(MPI_Win win, char *memory, const MPI_Aint *disps) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    int value = 1000 + check_rank;
    double number = check_rank + 0.5;
    MPI_Aint at[2];
    CHECK_OK(MPI_Get_address(&value, &at[0]));
    CHECK_OK(MPI_Get_address(&number, &at[1]));
    MPI_Datatype absolute, local, empty;
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &absolute));
    MPI_Aint places[] = {16, 0};
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &local));
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &empty));
    CHECK_OK(MPI_Type_commit(&absolute));
    CHECK_OK(MPI_Type_commit(&local));
    CHECK_OK(MPI_Type_commit(&empty));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(MPI_BOTTOM, 1, absolute, next, disps[next], 1, local, win));
    CHECK_OK(MPI_Put(&value, 5, empty, next, disps[next], 7, empty, win));
    CHECK_OK(MPI_Get(&value, 5, empty, next, disps[next], 7, empty, win));
    CHECK_OK(MPI_Accumulate(&value, 5, empty, next, disps[next], 7, empty, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&value, 1, empty, next, disps[next], 0, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Accumulate(&value, 0, MPI_BYTE, next, disps[next], 0, MPI_BYTE, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    memcpy(&value, memory + MIDDLE + 16, sizeof value);
    memcpy(&number, memory + MIDDLE, sizeof number);
    CHECK_EQ(value, 1000 + before);
    CHECK(number == before + 0.5);
    value = -1, number = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get_c(MPI_BOTTOM, 1, absolute, next, disps[next], 1, local, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQ(value, 1000 + check_rank);
    CHECK(number == check_rank + 0.5);
    MPI_Request request;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    value = 77;
    CHECK_OK(MPI_Rput_c(&value, 1, MPI_INT, next, disps[next], 1, MPI_INT, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int other = 0;
    CHECK_OK(MPI_Win_flush(next, win));
    CHECK_OK(MPI_Rget_accumulate_c(&value, 1, MPI_INT, &other, 1, MPI_INT, next, disps[next], 1, MPI_INT, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(other, 77);
    CHECK_OK(MPI_Raccumulate_c(&value, 1, MPI_INT, next, disps[next], 1, MPI_INT, MPI_SUM, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Rget_c(&other, 1, MPI_INT, next, disps[next], 1, MPI_INT, win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(other, 3 * 77);
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK_OK(MPI_Type_free(&absolute));
    CHECK_OK(MPI_Type_free(&local));
    CHECK_OK(MPI_Type_free(&empty));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    make_layouts();
    MPI_Aint *disps = check_alloc((size_t)check_size * sizeof *disps);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, ROOM, MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_set_errhandler(at.win, MPI_ERRORS_RETURN));
        for (int i = 0; i < check_size; i++) disps[i] = at.bases[i] + MIDDLE;
        exchange(at.win, at.memory, disps);
        more(at.win, at.memory, disps);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    for (int i = 0; i < LAYOUTS; i++) CHECK_OK(MPI_Type_free(&layouts[i]));
    free(disps);
    return check_finish();
}
