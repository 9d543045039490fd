// Persistent collective operations of one communicator are started in another order by each rank, and complete all the same: they matched when
// they were made (MPI 5.0, section 6.13). Between memory that is shared and by messages.
// ranks: 2-4
// variants: blackboards messages
#include "check.h"

enum { OPERATIONS = 6, ROUNDS = 20 };

static MPI_Request requests[OPERATIONS];
static long *in[OPERATIONS], *out[OPERATIONS];

static void make(int count) {
    for (int k = 0; k < OPERATIONS; k++) {
        in[k] = check_alloc(sizeof(long) * (size_t)count);
        out[k] = check_alloc(sizeof(long) * (size_t)(count * check_size));
    }
    const MPI_Comm comm = MPI_COMM_WORLD;
    CHECK_OK(MPI_Allreduce_init(in[0], out[0], count, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Bcast_init(in[1], count, MPI_LONG, 0, comm, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Allgather_init(in[2], count, MPI_LONG, out[2], count, MPI_LONG, comm, MPI_INFO_NULL, &requests[2]));
    CHECK_OK(MPI_Allreduce_init(in[3], out[3], count, MPI_LONG, MPI_MAX, comm, MPI_INFO_NULL, &requests[3]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[4]));
    CHECK_OK(MPI_Reduce_init(in[5], out[5], count, MPI_LONG, MPI_SUM, check_size - 1, comm, MPI_INFO_NULL, &requests[5]));
}

static void round_of(int round, int count) {
    const long ranks = (long)check_size * (check_size - 1) / 2;
    long wrong = 0;
    for (int k = 0; k < OPERATIONS; k++)
        for (int i = 0; i < count; i++) in[k][i] = k == 1 ? (check_rank == 0 ? round * 7 + i : -1) : check_rank + round + k;
    for (int step = 0; step < OPERATIONS; step++) {
        // Odd ranks go backwards (5 is -1 modulo 6), and each begins elsewhere.
        int k = (step * (check_rank % 2 ? 5 : 1) + check_rank + round) % OPERATIONS, flag;
        CHECK_OK(MPI_Start(&requests[k]));
        if ((step + check_rank) % 3 == 0) CHECK_OK(MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++) {
        wrong += out[0][i] != ranks + check_size * round;
        wrong += in[1][i] != round * 7 + i;
        for (int rank = 0; rank < check_size; rank++) wrong += out[2][rank * count + i] != rank + round + 2;
        wrong += out[3][i] != check_size - 1 + round + 3;
        wrong += check_rank == check_size - 1 && out[5][i] != ranks + check_size * (round + 5);
    }
    CHECK_EQ(wrong, 0);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "messages") == 0) setenv("HEDDLE_BLACKBOARDS", "off", 1);
    }
    check_start(argc, argv);
    const int counts[] = {1, 3000, 40000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        make(counts[c]);
        for (int round = 0; round < ROUNDS; round++) round_of(round, counts[c]);
        for (int k = 0; k < OPERATIONS; k++) {
            CHECK_OK(MPI_Request_free(&requests[k]));
            free(in[k]), free(out[k]);
        }
    }
    return check_finish();
}
