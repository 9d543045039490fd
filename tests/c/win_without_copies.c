// Without copies between processes a thread of the target copies: operations on private memory of other processes work as ever, also
// while the target is outside of MPI, and of any length.
// heddle: only
#include "win_flavors.h"

static void attempt(const struct flavored *at) {
    int next = (check_rank + 1) % check_size;
    MPI_Aint disp = at->bases[next] + check_rank * 8;
    long value = 5, result = 7;
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG, next, disp, 1, MPI_LONG, at->win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_SUM, at->win));
    CHECK_OK(MPI_Fetch_and_op(&value, &result, MPI_LONG, next, disp, MPI_SUM, at->win));
    CHECK_OK(MPI_Win_flush(next, at->win));
    CHECK_EQ(result, 10);
    CHECK_OK(MPI_Compare_and_swap(&value, &value, &result, MPI_LONG, next, disp, at->win));
    CHECK_OK(MPI_Win_flush(next, at->win));
    CHECK_EQ(result, 15);
    CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_LONG, &result, 1, MPI_LONG, next, disp, 1, MPI_LONG, MPI_NO_OP, at->win));
    CHECK_OK(MPI_Get(&result, 1, MPI_LONG, next, disp, 1, MPI_LONG, at->win));
    CHECK_OK(MPI_Win_flush(next, at->win));
    CHECK_EQ(result, 15);
    // Nothing is copied here.
    CHECK_OK(MPI_Put(&value, 0, MPI_LONG, next, disp, 0, MPI_LONG, at->win));
}

// Many bounce buffers long, in two pieces with a hole between them.
static void long_data(void) {
    enum { N = 50000 };
    MPI_Datatype halves;
    int lengths[] = {N / 2, N / 2}, places[] = {N / 2 + 10, 0};
    CHECK_OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &halves));
    CHECK_OK(MPI_Type_commit(&halves));
    int *memory = check_alloc((N + 10) * sizeof *memory), *out = check_alloc(N * sizeof *out), *in = check_alloc(N * sizeof *in);
    MPI_Win win;
    CHECK_OK(MPI_Win_create(memory, (N + 10) * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < N; i++) out[i] = check_rank * N + i, in[i] = -1;
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, next, 0, 1, halves, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(in, N, MPI_INT, next, 0, 1, halves, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(memcmp(in, out, N * sizeof *out) == 0);
    for (int i = 0; i < N / 2; i++) {
        CHECK_EQ(memory[i], before * N + N / 2 + i);
        CHECK_EQ(memory[N / 2 + 10 + i], before * N + i);
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Type_free(&halves));
    free(in), free(out), free(memory);
}

int main(int argc, char **argv) {
    setenv("HEDDLE_SINGLE_COPY", "off", 1);
    check_start(argc, argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct flavored at = flavored_make(flavor, (size_t)check_size * 8, MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_set_errhandler(at.win, MPI_ERRORS_RETURN));
        CHECK_OK(MPI_Win_lock_all(0, at.win));
        attempt(&at);
        CHECK_OK(MPI_Win_unlock_all(at.win));
        CHECK_OK(MPI_Win_fence(0, at.win));
        long own = check_rank;
        MPI_Aint disp = at.bases[check_rank] + check_rank * 8;
        CHECK_OK(MPI_Put(&own, 1, MPI_LONG, check_rank, disp, 1, MPI_LONG, at.win));
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at.win));
        CHECK_EQ(((const long *)(const void *)at.memory)[check_rank], check_rank);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    long_data();
    return check_finish();
}
