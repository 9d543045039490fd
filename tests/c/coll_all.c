// Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw: sizes, MPI_IN_PLACE, gaps, zero counts, derived types.
#include "check.h"

// The i-th int from one rank to another.
static int value_at(int from, int to, int i) {
    return from * 1000003 + to * 1009 + i * 3 + 1;
}

static int wrong_block(const int *block, int from, int to, int n) {
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += block[i] != value_at(from, to, i);
    return wrong;
}

static void allgather(int n, bool in_place) {
    int *all = check_alloc(sizeof(int) * (size_t)(n * check_size)), *mine = check_alloc(sizeof(int) * (size_t)n);
    memset(all, 0xff, sizeof(int) * (size_t)(n * check_size));
    for (int i = 0; i < n; i++) mine[i] = value_at(check_rank, 0, i);
    if (in_place) {
        memcpy(all + check_rank * n, mine, sizeof(int) * (size_t)n);
        CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD));
    }
    for (int r = 0; r < check_size; r++) CHECK_EQ(wrong_block(all + r * n, r, 0, n), 0);
    free(all);
    free(mine);
}

static void allgatherv(int base, bool in_place) {
    int counts[16], displs[16], total = 2;
    for (int r = 0; r < check_size; r++) {
        counts[r] = base == 0 ? r % 2 : base + r * 5;
        displs[r] = total;
        total += counts[r] + 2;
    }
    int n = counts[check_rank];
    int *all = check_alloc(sizeof(int) * (size_t)total), *mine = check_alloc(sizeof(int) * (size_t)n);
    for (int i = 0; i < total; i++) all[i] = -4;
    for (int i = 0; i < n; i++) mine[i] = value_at(check_rank, 1, i);
    if (in_place) {
        memcpy(all + displs[check_rank], mine, sizeof(int) * (size_t)n);
        CHECK_OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Allgatherv(mine, n, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    }
    for (int r = 0; r < check_size; r++) {
        CHECK_EQ(wrong_block(all + displs[r], r, 1, counts[r]), 0);
        CHECK(all[displs[r] - 1] == -4 && all[displs[r] - 2] == -4);
    }
    free(all);
    free(mine);
}

static void alltoall(int n, bool in_place) {
    size_t bytes = sizeof(int) * (size_t)(n * check_size);
    int *out = check_alloc(bytes), *in = check_alloc(bytes);
    for (int r = 0; r < check_size; r++) {
        for (int i = 0; i < n; i++) out[r * n + i] = value_at(check_rank, r, i);
    }
    if (in_place) {
        memcpy(in, out, bytes);
        CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD));
    }
    for (int r = 0; r < check_size; r++) CHECK_EQ(wrong_block(in + r * n, r, check_rank, n), 0);
    free(out);
    free(in);
}

// The number of ints that one rank sends another; in place, both directions are equal.
static int amount(int from, int to, int base, bool symmetric) {
    if (symmetric) return base + from + to;
    return (from + 2 * to) % 4 == 0 ? 0 : base + from * 2 + to;
}

static void alltoallv(int base, bool in_place) {
    int send_counts[16], send_displs[16], recv_counts[16], recv_displs[16], sends = 0, recvs = 0;
    for (int r = check_size - 1; r >= 0; r--) {
        send_counts[r] = amount(check_rank, r, base, in_place);
        recv_counts[r] = amount(r, check_rank, base, in_place);
        send_displs[r] = sends;
        recv_displs[r] = recvs;
        sends += send_counts[r] + 1;
        recvs += recv_counts[r] + 1;
    }
    int *out = check_alloc(sizeof(int) * (size_t)sends), *in = check_alloc(sizeof(int) * (size_t)recvs);
    for (int i = 0; i < recvs; i++) in[i] = -8;
    for (int r = 0; r < check_size; r++) {
        for (int i = 0; i < send_counts[r]; i++) out[send_displs[r] + i] = value_at(check_rank, r, i);
    }
    if (in_place) {
        memcpy(in, out, sizeof(int) * (size_t)sends);
        for (int r = 0; r < check_size; r++) in[recv_displs[r] + recv_counts[r]] = -8;
        CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, recv_counts, recv_displs, MPI_INT, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Alltoallv(out, send_counts, send_displs, MPI_INT, in, recv_counts, recv_displs, MPI_INT, MPI_COMM_WORLD));
    }
    for (int r = 0; r < check_size; r++) {
        CHECK_EQ(wrong_block(in + recv_displs[r], r, check_rank, recv_counts[r]), 0);
        CHECK_EQ(in[recv_displs[r] + recv_counts[r]], -8);
    }
    free(out);
    free(in);
}

// Blocks with gaps on the receiving side: a transposition.
static void with_types(int n) {
    MPI_Datatype strided, slot;
    int p = check_size, *out = check_alloc(sizeof(int) * (size_t)(n * p)), *in = check_alloc(sizeof(int) * (size_t)(n * p)), wrong = 0;
    CHECK_OK(MPI_Type_vector(n, 1, p, MPI_INT, &strided));
    CHECK_OK(MPI_Type_create_resized(strided, 0, sizeof(int), &slot));
    CHECK_OK(MPI_Type_commit(&slot));
    for (int r = 0; r < p; r++) {
        for (int i = 0; i < n; i++) out[r * n + i] = value_at(check_rank, r, i);
    }
    CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, 1, slot, MPI_COMM_WORLD));
    for (int r = 0; r < p; r++) {
        for (int i = 0; i < n; i++) wrong += in[i * p + r] != value_at(r, check_rank, i);
    }
    CHECK_OK(MPI_Allgather(out + check_rank * n, n, MPI_INT, in, 1, slot, MPI_COMM_WORLD));
    for (int r = 0; r < p; r++) {
        for (int i = 0; i < n; i++) wrong += in[i * p + r] != value_at(r, r, i);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&strided));
    CHECK_OK(MPI_Type_free(&slot));
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    static const int sizes[] = {0, 1, 9, 200, 2500, 33000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            allgather(sizes[s], in_place);
            allgatherv(sizes[s], in_place);
            alltoall(sizes[s], in_place);
            alltoallv(sizes[s], in_place);
        }
    }
    with_types(1);
    with_types(100);
    with_types(4000);
    return check_finish();
}
