// Gather, Scatter and their v-forms: all roots, sizes from none to 1 MiB in all, MPI_IN_PLACE, gaps, types unlike on the two sides.
#include "check.h"

static int value_at(int rank, int i) {
    return rank * 100003 + i * 17 + 5;
}

static int wrong_block(const int *block, int rank, int n) {
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += block[i] != value_at(rank, i);
    return wrong;
}

static void regular(int n, bool in_place) {
    int *all = check_alloc(sizeof(int) * (size_t)n * (size_t)check_size), *mine = check_alloc(sizeof(int) * (size_t)n);
    for (int root = 0; root < check_size; root++) {
        bool is_root = check_rank == root;
        for (int i = 0; i < n; i++) mine[i] = value_at(check_rank, i);
        memset(all, 0xff, sizeof(int) * (size_t)n * (size_t)check_size);
        if (is_root && in_place) {
            memcpy(all + root * n, mine, sizeof(int) * (size_t)n);
            CHECK_OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, root, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Gather(mine, n, MPI_INT, is_root ? all : NULL, is_root ? n : -1, is_root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
        }
        for (int r = 0; r < check_size && is_root; r++) CHECK_EQ(wrong_block(all + r * n, r, n), 0);

        for (int i = 0; i < n * check_size && is_root; i++) all[i] = value_at(i / n + 50, i % n);
        memset(mine, 0xff, sizeof(int) * (size_t)n);
        if (is_root && in_place) {
            CHECK_OK(MPI_Scatter(all, n, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
            CHECK_EQ(wrong_block(all + root * n, root + 50, n), 0);
        } else {
            CHECK_OK(MPI_Scatter(is_root ? all : NULL, is_root ? n : -1, is_root ? MPI_INT : MPI_DATATYPE_NULL, mine, n, MPI_INT, root, MPI_COMM_WORLD));
            CHECK_EQ(wrong_block(mine, check_rank + 50, n), 0);
        }
    }
    free(all);
    free(mine);
}

// Rank r contributes base + r ints (none for every third when base is 0), laid down in reverse order with gaps.
static int length_of(int rank, int base) {
    return base == 0 && rank % 3 == 0 ? 0 : base + rank;
}

static void irregular(int base, bool in_place) {
    int counts[16], displs[16], total = 0, n = length_of(check_rank, base);
    for (int r = check_size - 1; r >= 0; r--) {
        counts[r] = length_of(r, base);
        displs[r] = total;
        total += counts[r] + 3;
    }
    int *all = check_alloc(sizeof(int) * (size_t)total), *mine = check_alloc(sizeof(int) * (size_t)n);
    for (int root = 0; root < check_size; root++) {
        bool is_root = check_rank == root;
        for (int i = 0; i < n; i++) mine[i] = value_at(check_rank, i);
        for (int i = 0; i < total; i++) all[i] = -9;
        if (is_root && in_place) {
            memcpy(all + displs[root], mine, sizeof(int) * (size_t)n);
            CHECK_OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Gatherv(mine, n, MPI_INT, is_root ? all : NULL, is_root ? counts : NULL, is_root ? displs : NULL, MPI_INT, root, MPI_COMM_WORLD));
        }
        for (int r = 0; r < check_size && is_root; r++) {
            CHECK_EQ(wrong_block(all + displs[r], r, counts[r]), 0);
            for (int gap = 0; gap < 3; gap++) CHECK_EQ(all[displs[r] + counts[r] + gap], -9);
        }

        for (int r = 0; r < check_size && is_root; r++) {
            for (int i = 0; i < counts[r]; i++) all[displs[r] + i] = value_at(r + 9, i);
        }
        memset(mine, 0xff, sizeof(int) * (size_t)n);
        if (is_root && in_place) {
            CHECK_OK(MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Scatterv(is_root ? all : NULL, is_root ? counts : NULL, is_root ? displs : NULL, MPI_INT, mine, n, MPI_INT, root, MPI_COMM_WORLD));
            CHECK_EQ(wrong_block(mine, check_rank + 9, n), 0);
        }
    }
    free(all);
    free(mine);
}

// Columns of a matrix, by a resized vector at the root and plain ints elsewhere.
static void columns(int rows) {
    MPI_Datatype column, slot;
    int *matrix = check_alloc(sizeof(int) * (size_t)(rows * check_size)), *mine = check_alloc(sizeof(int) * (size_t)rows), wrong = 0;
    CHECK_OK(MPI_Type_vector(rows, 1, check_size, MPI_INT, &column));
    CHECK_OK(MPI_Type_create_resized(column, 0, sizeof(int), &slot));
    CHECK_OK(MPI_Type_commit(&slot));
    for (int i = 0; i < rows; i++) mine[i] = value_at(check_rank, i);
    CHECK_OK(MPI_Gather(mine, rows, MPI_INT, matrix, 1, slot, 0, MPI_COMM_WORLD));
    if (check_rank == 0) {
        for (int r = 0; r < check_size; r++) {
            for (int i = 0; i < rows; i++) wrong += matrix[i * check_size + r] != value_at(r, i);
        }
    }
    memset(mine, 0, sizeof(int) * (size_t)rows);
    CHECK_OK(MPI_Scatter(matrix, 1, slot, mine, rows, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK_EQ(wrong + wrong_block(mine, check_rank, rows), 0);
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Type_free(&slot));
    free(matrix);
    free(mine);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const int sizes[] = {0, 1, 7, 100, 3000, 40000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            regular(sizes[s], in_place);
            irregular(sizes[s], in_place);
        }
    }
    columns(1);
    columns(64);
    columns(5000);
    columns(40000);
    return check_finish();
}
