// Reduce, Allreduce, Scan, Exscan, Reduce_scatter, Reduce_scatter_block, Reduce_local: sizes, roots, MPI_IN_PLACE.
#include "check.h"

static long at(int rank, int i) {
    return (long)(rank + 1) * (i % 1000 + 1) + i;
}

// The sum over ranks first..last of at(rank, i).
static long sum_at(int first, int last, int i) {
    long sum = 0;
    for (int r = first; r <= last; r++) sum += at(r, i);
    return sum;
}

static long *out, *in;

static void fill(int n) {
    for (int i = 0; i < n; i++) out[i] = at(check_rank, i), in[i] = -1;
}

static void expect_sums(const long *got, int n, int first, int last, int offset) {
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += got[i] != sum_at(first, last, i + offset);
    CHECK_EQ(wrong, 0);
}

static void reduce(int n) {
    for (int root = 0; root < check_size; root++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            bool is_root = check_rank == root;
            fill(n);
            if (is_root && in_place) {
                memcpy(in, out, sizeof(long) * (size_t)n);
                CHECK_OK(MPI_Reduce(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
            } else {
                CHECK_OK(MPI_Reduce(out, is_root ? in : NULL, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
            }
            if (is_root) expect_sums(in, n, 0, check_size - 1, 0);
            int changed = 0;
            for (int i = 0; i < n; i++) changed += out[i] != at(check_rank, i);
            CHECK_EQ(changed, 0);
        }
        if (n > 10000) break;
    }
}

static void allreduce(int n) {
    fill(n);
    CHECK_OK(MPI_Allreduce(out, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(in, n, 0, check_size - 1, 0);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(out, n, 0, check_size - 1, 0);
}

static void scans(int n) {
    fill(n);
    CHECK_OK(MPI_Scan(out, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(in, n, 0, check_rank, 0);
    CHECK_OK(MPI_Scan(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(out, n, 0, check_rank, 0);
    fill(n);
    CHECK_OK(MPI_Exscan(out, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (check_rank > 0) expect_sums(in, n, 0, check_rank - 1, 0);
    CHECK_OK(MPI_Exscan(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (check_rank > 0) expect_sums(out, n, 0, check_rank - 1, 0);
}

static void scatters(int n) {
    // n for each rank.
    fill(n * check_size);
    CHECK_OK(MPI_Reduce_scatter_block(out, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(in, n, 0, check_size - 1, check_rank * n);
    CHECK_OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(out, n, 0, check_size - 1, check_rank * n);

    // Unlike amounts, some of them none.
    int counts[16], total = 0, mine = 0;
    for (int r = 0; r < check_size; r++) {
        counts[r] = r % 3 == 1 ? 0 : n / (r + 1);
        if (r == check_rank) mine = total;
        total += counts[r];
    }
    fill(total);
    CHECK_OK(MPI_Reduce_scatter(out, in, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(in, counts[check_rank], 0, check_size - 1, mine);
    CHECK_OK(MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    expect_sums(out, counts[check_rank], 0, check_size - 1, mine);
}

static void local(int n) {
    fill(n);
    for (int i = 0; i < n; i++) in[i] = i;
    CHECK_OK(MPI_Reduce_local(out, in, n, MPI_LONG, MPI_SUM));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += in[i] != at(check_rank, i) + i;
    CHECK_EQ(wrong, 0);
}

// Equal on every rank to the last bit, run after run.
static void repeatable(void) {
    double mine[100], sum[100], again[100], least[100], most[100];
    for (int i = 0; i < 100; i++) mine[i] = 1.0 / (check_rank * 100 + i + 1);
    CHECK_OK(MPI_Allreduce(mine, sum, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(mine, again, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(memcmp(sum, again, sizeof sum) == 0);
    CHECK_OK(MPI_Allreduce(sum, least, 100, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(sum, most, 100, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CHECK(memcmp(least, most, sizeof least) == 0);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const int sizes[] = {0, 1, 5, 33, 600, 2048, 20000, 131072};
    size_t room = sizeof(long) * 131072 * 8;
    out = check_alloc(room);
    in = check_alloc(room);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        reduce(sizes[s]);
        allreduce(sizes[s]);
        scans(sizes[s]);
        if (sizes[s] <= 20000) scatters(sizes[s]);
        local(sizes[s]);
    }
    repeatable();
    free(out);
    free(in);
    return check_finish();
}
