// Ranks with different numbers of threads: each rank r has r + 1 of them, and all send to any thread.
// ranks: 1-8
// levels: multiple
#include "threads.h"

enum { MESSAGES = 60 };

static atomic_long sum;
static atomic_int to_come;

static void send_and_receive(int t, void *shared) {
    (void)shared;
    MPI_Request sends[MESSAGES];
    int out[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        out[i] = (check_rank + 1) * 1000 + t;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (check_rank + t + i) % check_size, 3, MPI_COMM_WORLD, &sends[i]));
    }
    // Each thread takes a message from any sender.
    while (atomic_fetch_sub(&to_come, 1) > 0) {
        int in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        atomic_fetch_add(&sum, in);
    }
    CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    long wanted = 0;
    int coming = 0;
    for (int rank = 0; rank < check_size; rank++) {
        for (int t = 0; t <= rank; t++) {
            for (int i = 0; i < MESSAGES; i++) {
                if ((rank + t + i) % check_size != check_rank) continue;
                coming++;
                wanted += (rank + 1) * 1000 + t;
            }
        }
    }
    atomic_store(&to_come, coming);
    threads_run(check_rank + 1, send_and_receive, NULL);
    CHECK_EQ(atomic_load(&sum), wanted);
    return check_finish();
}
