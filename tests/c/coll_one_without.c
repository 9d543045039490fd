// Where one process may have no blackboard, collective operations go by messages in all.
// ranks: 2-8
// heddle: only
#include "check.h"

int main(int argc, char **argv) {
    const char *rank = getenv("HEDDLE_RANK");
    if (rank != NULL && atoi(rank) == 1) setenv("HEDDLE_BLACKBOARDS", "off", 1);
    check_start(argc, argv);
    for (int i = 0; i < 20; i++) {
        int number = check_rank == i % check_size ? i : -1, sum = -1, kept = -1;
        MPI_Request request;
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, i % check_size, MPI_COMM_WORLD));
        CHECK_EQ(number, i);
        CHECK_OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQ(sum, i * check_size);
        CHECK_OK(MPI_Allreduce_init(&number, &kept, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(kept, i);
        CHECK_OK(MPI_Request_free(&request));
    }
    return check_finish();
}
