// The large-count forms of point-to-point, datatypes and collectives do what the others do.
#include "check.h"

static int to, from;

static void point_to_point(MPI_Count n) {
    int *out = check_alloc(sizeof(int) * (size_t)n), *in = check_alloc(sizeof(int) * (size_t)n);
    size_t bytes = sizeof(int) * (size_t)n;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Count count = -1;
    MPI_Message message;
    pattern_fill(out, bytes, (unsigned)check_rank);
    memset(in, 0, bytes);
    CHECK_OK(MPI_Irecv_c(in, n, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_c(out, n, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], &status));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK_EQ(count, n);
    CHECK_PATTERN(in, bytes, (unsigned)from);
    memset(in, 0, bytes);
    CHECK_OK(MPI_Isend_c(out, n, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_c(in, n, MPI_INT, from, 2, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, bytes, (unsigned)from);
    memset(in, 0, bytes);
    CHECK_OK(MPI_Issend_c(out, n, MPI_INT, to, 3, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Mprobe(from, 3, MPI_COMM_WORLD, &message, &status));
    CHECK_OK(MPI_Mrecv_c(in, n, MPI_INT, &message, &status));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, bytes, (unsigned)from);
    memset(in, 0, bytes);
    CHECK_OK(MPI_Sendrecv_c(out, n, MPI_INT, to, 4, in, n, MPI_INT, from, 4, MPI_COMM_WORLD, &status));
    CHECK_PATTERN(in, bytes, (unsigned)from);
    memset(in, 0, bytes);
    CHECK_OK(MPI_Recv_init_c(in, n, MPI_INT, from, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send_init_c(out, n, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(in, bytes, (unsigned)from);
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    CHECK_OK(MPI_Sendrecv_replace_c(out, n, MPI_INT, to, 6, from, 6, MPI_COMM_WORLD, &status));
    CHECK_PATTERN(out, bytes, (unsigned)from);
    free(out);
    free(in);
}

static void datatypes(void) {
    MPI_Datatype type, resized;
    MPI_Count size = 0, lb = -1, extent = 0;
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count)3 << 31, MPI_INT, &type));
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_EQ(size, ((MPI_Count)3 << 31) * 4);
    CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, ((MPI_Count)3 << 31) * 4);
    int small = 0;
    CHECK_OK(MPI_Type_size(type, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_vector_c(4, 2, 3, MPI_SHORT, &type));
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_EQ(size, 16);
    CHECK_OK(MPI_Type_get_true_extent_c(type, &lb, &extent));
    CHECK_EQ(extent, 22);
    CHECK_OK(MPI_Type_create_resized_c(type, -2, 40, &resized));
    CHECK_OK(MPI_Type_get_extent_c(resized, &lb, &extent));
    CHECK(lb == -2 && extent == 40);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&resized));
    MPI_Count lengths[2] = {2, 1}, displs[2] = {0, 12};
    CHECK_OK(MPI_Type_create_struct_c(2, lengths, displs, (MPI_Datatype[]){MPI_INT, MPI_SHORT}, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size_c(type, &size));
    CHECK_EQ(size, 10);
    MPI_Count position = 0, room = 0;
    char packed[64];
    int data[4] = {1, 2, 3, 4}, back[4] = {0, 0, 0, 0};
    CHECK_OK(MPI_Pack_size_c(1, type, MPI_COMM_WORLD, &room));
    CHECK(room >= 10);
    CHECK_OK(MPI_Pack_c(data, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    position = 0;
    CHECK_OK(MPI_Unpack_c(packed, sizeof packed, &position, back, 1, type, MPI_COMM_WORLD));
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 0 && *(short *)&back[3] == 4);
    CHECK_OK(MPI_Type_free(&type));
}

static void collectives(void) {
    enum { N = 300 };
    int out[N], in[N], *all = check_alloc(sizeof(int) * N * (size_t)check_size);
    for (int i = 0; i < N; i++) out[i] = check_rank == 0 ? i : -1;
    CHECK_OK(MPI_Bcast_c(out, N, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], i);
    CHECK_OK(MPI_Allreduce_c(out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], i * check_size);
    CHECK_OK(MPI_Allgather_c(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < check_size; i++) CHECK_EQ(all[i], i);
    MPI_Count *counts = check_alloc(sizeof(MPI_Count) * (size_t)check_size);
    MPI_Aint *displs = check_alloc(sizeof(MPI_Aint) * (size_t)check_size);
    for (int i = 0; i < check_size; i++) counts[i] = N, displs[i] = (MPI_Aint)i * N;
    CHECK_OK(MPI_Allgatherv_c(out, N, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < N * check_size; i++) {
        if (!CHECK_EQ(all[i], i % N)) break;
    }
    free(counts);
    free(displs);
    free(all);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    static const MPI_Count sizes[] = {0, 1, 500, 10000, 300000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) point_to_point(sizes[s]);
    datatypes();
    collectives();
    return check_finish();
}
