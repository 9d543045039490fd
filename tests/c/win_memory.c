// Windows over every kind of memory: created, allocated, shared, attached; puts and gets between fences, attributes, queries.
#include "win_flavors.h"

enum { N = 1000 };

static long value_of(int rank, int i) { return rank * 1000003L + i; }

// Every rank puts its numbers into the next rank's window and gets them from the one before.
static void exchange(MPI_Win win, long *memory, MPI_Aint *bases) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    long out[N], in[N];
    for (int i = 0; i < N; i++) out[i] = value_of(check_rank, i), in[i] = -1;
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    MPI_Aint disp = bases ? bases[next] : 0;
    CHECK_OK(MPI_Put(out, N, MPI_LONG, next, disp, N, MPI_LONG, win));
    CHECK_OK(MPI_Put(out, 0, MPI_LONG, next, disp, 0, MPI_LONG, win));
    CHECK_OK(MPI_Put(out, N, MPI_LONG, MPI_PROC_NULL, disp, N, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++) CHECK_EQ(memory[i], value_of(before, i));
    disp = bases ? bases[next] + 8 : 1;
    CHECK_OK(MPI_Get(in, N - 1, MPI_LONG, next, disp, N - 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < N - 1; i++) CHECK_EQ(in[i], value_of(check_rank, i + 1));
    CHECK_EQ(in[N - 1], -1);
}

static void attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor) {
    void *value;
    int flag;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == base);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && *(MPI_Aint *)value == size);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag && *(int *)value == unit);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int *)value == flavor);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
}

static void created(void *memory, MPI_Aint size) {
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    attributes(win, memory, size, sizeof(long), MPI_WIN_FLAVOR_CREATE);
    exchange(win, memory, NULL);
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

static void allocated(void) {
    MPI_Win win;
    long *memory;
    CHECK_OK(MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    attributes(win, memory, N * sizeof(long), sizeof(long), MPI_WIN_FLAVOR_ALLOCATE);
    exchange(win, memory, NULL);
    CHECK_OK(MPI_Win_free(&win));
}

static void shared(const char *apart) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", apart));
    MPI_Win win;
    long *memory, *first, *other;
    MPI_Aint size = (N + check_rank) * (MPI_Aint)sizeof(long), seen;
    int unit;
    CHECK_OK(MPI_Win_allocate_shared(size, sizeof(long), info, MPI_COMM_WORLD, &memory, &win));
    attributes(win, memory, size, sizeof(long), MPI_WIN_FLAVOR_SHARED);
    exchange(win, memory, NULL);
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &seen, &unit, &first));
    CHECK_EQ(seen, N * (MPI_Aint)sizeof(long));
    CHECK_EQ(unit, sizeof(long));
    memory[0] = check_rank;
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_sync(win));
    MPI_Aint offset = 0;
    for (int rank = 0; rank < check_size; rank++) {
        CHECK_OK(MPI_Win_shared_query(win, rank, &seen, &unit, &other));
        CHECK_EQ(seen, (N + rank) * (MPI_Aint)sizeof(long));
        CHECK_EQ(other[0], rank);
        if (strcmp(apart, "false") == 0) CHECK(other == first + offset);
        offset += N + rank;
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Info_free(&info));
}

static void dynamic(void *memory, MPI_Aint size) {
    MPI_Win win;
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    CHECK_OK(MPI_Win_attach(win, memory, size));
    MPI_Aint base, *bases = check_alloc((size_t)check_size * sizeof *bases);
    CHECK_OK(MPI_Get_address(memory, &base));
    CHECK_OK(MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    exchange(win, memory, bases);
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_free(&win));
    free(bases);
}

// A window of processes that are not in the order of MPI_COMM_WORLD, while another window lives.
static void reversed(void) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &comm));
    int rank, size;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    MPI_Win win, all;
    int *memory, *of_all;
    CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of_all, &all));
    CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&check_rank, 1, MPI_INT, size - 1 - rank, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, all));
    CHECK_OK(MPI_Put(&check_rank, 1, MPI_INT, (check_rank + 1) % check_size, 0, 1, MPI_INT, all));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_fence(0, all));
    // Ranks of one parity count down: rank r of comm and rank size-1-r have these world ranks.
    CHECK_EQ(*memory, check_rank % 2 + 2 * rank);
    CHECK_EQ(*of_all, (check_rank + check_size - 1) % check_size);
    MPI_Group of_win, of_comm;
    int same;
    CHECK_OK(MPI_Win_get_group(win, &of_win));
    CHECK_OK(MPI_Comm_group(comm, &of_comm));
    CHECK_OK(MPI_Group_compare(of_win, of_comm, &same));
    CHECK_EQ(same, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&of_win));
    CHECK_OK(MPI_Group_free(&of_comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_free(&all));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Aint size = N * sizeof(long);
    long *own = check_alloc((size_t)size), *alloc;
    CHECK_OK(MPI_Alloc_mem(size + 64, MPI_INFO_NULL, &alloc));
    // Without copies between processes, private memory of others cannot be reached.
    created(own, size);
    created(alloc + 8, size);
    allocated();
    shared("false");
    shared("true");
    dynamic(own, size);
    dynamic(alloc, size);
    reversed();
    CHECK_OK(MPI_Free_mem(alloc));
    free(own);
    return check_finish();
}
