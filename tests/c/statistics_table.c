// HEDDLE_STATS: each process prints its counters when it ends.
// ranks: 1
// settings: HEDDLE_STATS=on
// heddle: only
// output: ^Heddle: rank 0 of 1, model \S.*, VNIs \d+ \(in use \d+\), threads \d+\n(  .*\n)+  requests \d+ \(live 0, complete 0\), unexpected messages 3 \(waiting 1\), matching steps \d+, collections \d+ \(marks \d+, sweeps \d+\)\n  communicators whose self messages were sharded 0, pinned \d+; channels whose messages were spread 0, VNIs that took theirs back \d+; accumulate locks closed or opened 0\n$
#include "check.h"

int main(int argc, char **argv) {
    check_start(argc, argv);
    // Three unexpected messages, of which two are received.
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    for (int i = 0, in = -1; i < 2; i++) {
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
    return check_finish();
}
