// Pack and unpack: plain and derived types, partial, and packed data as messages.
#include "check.h"

static void round_trip(void) {
    enum { N = 50 };
    int out[2 * N], in[2 * N], room = 0, sum = 0, position = 0, wrong = 0;
    double d = 2.75, e = 0;
    MPI_Datatype every_second;
    CHECK_OK(MPI_Type_vector(N, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 2 * N; i++) out[i] = i, in[i] = -1;
    CHECK_OK(MPI_Pack_size(1, every_second, MPI_COMM_WORLD, &room));
    CHECK(room >= (int)sizeof(int) * N);
    sum += room;
    CHECK_OK(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &room));
    sum += room;
    char *packed = check_alloc((size_t)sum);
    CHECK_OK(MPI_Pack(&d, 1, MPI_DOUBLE, packed, sum, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(out, 1, every_second, packed, sum, &position, MPI_COMM_WORLD));
    CHECK(position <= sum);
    int end = position;
    position = 0;
    CHECK_OK(MPI_Unpack(packed, sum, &position, &e, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(e == d);
    // Unpacked with another type of the same signature.
    CHECK_OK(MPI_Unpack(packed, sum, &position, in, N, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(position, end);
    for (int i = 0; i < N; i++) wrong += in[i] != 2 * i;
    CHECK_EQ(wrong, 0);
    free(packed);
    CHECK_OK(MPI_Type_free(&every_second));
}

static void as_messages(void) {
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int header = check_rank + 40, got = 0, position = 0, count = -1;
    double body[100], back[100];
    char packed[2000], arrived[2000];
    MPI_Status status;
    for (int i = 0; i < 100; i++) body[i] = i * 1.5 + check_rank;
    CHECK_OK(MPI_Pack(&header, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(body, 100, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Sendrecv(packed, position, MPI_PACKED, to, 1, arrived, sizeof arrived, MPI_PACKED, from, 1, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_PACKED, &count));
    CHECK_EQ(count, position);
    position = 0;
    CHECK_OK(MPI_Unpack(arrived, count, &position, &got, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(got, from + 40);
    CHECK_OK(MPI_Unpack(arrived, count, &position, back, 100, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < 100; i++) CHECK(back[i] == i * 1.5 + from);

    // Typed data received as packed, packed data received as typed.
    CHECK_OK(MPI_Sendrecv(body, 100, MPI_DOUBLE, to, 2, arrived, sizeof arrived, MPI_PACKED, from, 2, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_PACKED, &count));
    position = 0;
    CHECK_OK(MPI_Unpack(arrived, count, &position, back, 100, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < 100; i++) CHECK(back[i] == i * 1.5 + from);
    position = 0;
    CHECK_OK(MPI_Pack(body, 100, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD));
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_Sendrecv(packed, position, MPI_PACKED, to, 3, back, 100, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 100; i++) CHECK(back[i] == i * 1.5 + from);
}

static void too_small(void) {
    int out[4] = {1, 2, 3, 4}, position = 0;
    char packed[8];
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK(MPI_Pack(out, 4, MPI_INT, packed, sizeof packed, &position, comm) != MPI_SUCCESS);
    CHECK_EQ(position, 0);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    round_trip();
    as_messages();
    if (!oracle) too_small();
    return check_finish();
}
