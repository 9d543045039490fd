// A tool's own MPI_Send stands before the library's, reaches it as PMPI_Send, and sees only calls of the program.
// ranks: 2-8
#include "check.h"

static int sends, bytes;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    int size = 0;
    sends++;
    CHECK_OK(PMPI_Type_size(type, &size));
    bytes += count * size;
    return PMPI_Send(buf, count, type, to, tag, comm);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, in[10], out[10] = {check_rank};
    for (int n = 1; n <= 10; n++) {
        MPI_Request request;
        CHECK_OK(MPI_Irecv(in, 10, MPI_INT, from, n, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(out, n, MPI_INT, to, n, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in[0], from);
    }
    // Calls inside the library are not the program's.
    int sum = 0;
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(PMPI_Sendrecv(out, 1, MPI_INT, to, 0, in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(sends, 10);
    CHECK_EQ(bytes, 55 * (int)sizeof(int));
    return check_finish();
}
