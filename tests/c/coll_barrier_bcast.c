// Barrier beside messages; Bcast from every root, in every size class, with unlike types on the two sides.
#include "check.h"

// Each rank tells its neighbours before a barrier; after it their messages are there.
static void barrier(void) {
    for (int round = 0; round < 50; round++) {
        int to = (check_rank + 1 + round) % check_size, flag = 0, in = -1;
        MPI_Status status;
        MPI_Request request;
        CHECK_OK(MPI_Issend(&round, 1, MPI_INT, to, round, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &status));
        while (!flag) CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &status));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status));
        CHECK_EQ(in, round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void bcast(int n) {
    unsigned char *buf = check_alloc((size_t)n + 1);
    for (int root = 0; root < check_size; root++) {
        unsigned seed = (unsigned)(root * 7 + n);
        memset(buf, 0, (size_t)n);
        buf[n] = 0xab;
        if (check_rank == root) pattern_fill(buf, (size_t)n, seed);
        CHECK_OK(MPI_Bcast(buf, n, MPI_BYTE, root, MPI_COMM_WORLD));
        CHECK_PATTERN(buf, (size_t)n, seed);
        CHECK_EQ(buf[n], 0xab);
    }
    free(buf);
}

static void bcast_types(int n) {
    MPI_Datatype strided;
    int *buf = check_alloc(sizeof(int) * 3 * (size_t)n), wrong = 0;
    CHECK_OK(MPI_Type_vector(n, 1, 3, MPI_INT, &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    for (int root = 0; root < check_size; root++) {
        // Odd ranks hold the data with gaps, even ranks without.
        int stride = check_rank % 2 ? 3 : 1;
        for (int i = 0; i < n * stride; i++) buf[i] = check_rank == root && i % stride == 0 ? i / stride + root : -1;
        if (stride == 3) {
            CHECK_OK(MPI_Bcast(buf, 1, strided, root, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD));
        }
        for (int i = 0; i < n * stride; i++) wrong += buf[i] != (i % stride == 0 ? i / stride + root : -1);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&strided));
    free(buf);
}

// Many without anything between them: a fast root does not mix them up.
static void bcast_stream(void) {
    for (int i = 0; i < 2000; i++) {
        int value = check_rank == i % check_size ? i : -1;
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, i % check_size, MPI_COMM_WORLD));
        if (!CHECK_EQ(value, i)) break;
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const int sizes[] = {0, 1, 8, 40, 64, 200, 1024, 5000, 16384, 50000, 131072, 1048576};
    barrier();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) bcast(sizes[s]);
    bcast_types(1);
    bcast_types(500);
    bcast_types(20000);
    bcast_stream();
    return check_finish();
}
