// Execution offload: messages advance although no thread of the program is in MPI, at every thread level. A rank learns that
// its message is there by looking at the memory, and only then calls MPI again.
// ranks: 2-4
// heddle: only
#include "check.h"
#include <sched.h>

static const int sizes[] = {1, 5000, 100000, 3000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

// Waits, outside of MPI, until the last byte of a message has been written.
static void await(unsigned char *bytes, int size) {
    while (__atomic_load_n(&bytes[size - 1], __ATOMIC_ACQUIRE) == 0) sched_yield();
}

// A nonblocking collective has several steps, which follow each other without a thread of the program.
static void collectives(void) {
    enum { N = 100000 };
    static int out[N], in[N];
    MPI_Request request;
    for (int round = 0; round < 5; round++) {
        int count = round % 2 ? N : 1, wrong = 0;
        for (int i = 0; i < count; i++) {
            out[i] = check_rank + i;
            in[i] = -1;
        }
        CHECK_OK(MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        for (int i = 0; i < count; i++) {
            while (__atomic_load_n(&in[i], __ATOMIC_ACQUIRE) != check_size * i + check_size * (check_size - 1) / 2) sched_yield();
        }
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++) wrong += in[i] != check_size * i + check_size * (check_size - 1) / 2;
        CHECK_EQ(wrong, 0);
    }
}

int main(int argc, char **argv) {
    setenv("HEDDLE_MODEL", "offload", 1);
    check_start(argc, argv);
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    for (int at = 0; at < SIZES; at++) {
        int size = sizes[at];
        unsigned char *in = check_alloc((size_t)size), *out = check_alloc((size_t)size);
        MPI_Request requests[2];
        memset(in, 0, (size_t)size);
        memset(out, check_rank + 1, (size_t)size);
        // Every other time the receive is there first, everywhere.
        for (int late = 0; late < 2; late++) {
            if (late) CHECK_OK(MPI_Isend(out, size, MPI_BYTE, right, at, MPI_COMM_WORLD, &requests[1]));
            CHECK_OK(MPI_Irecv(in, size, MPI_BYTE, left, at, MPI_COMM_WORLD, &requests[0]));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            if (!late) CHECK_OK(MPI_Isend(out, size, MPI_BYTE, right, at, MPI_COMM_WORLD, &requests[1]));
            await(in, size);
            // A streamed message is complete with its last byte; a split copy is not.
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            for (int i = 0; i < size; i++) {
                if (in[i] != left + 1) {
                    CHECK_EQ(in[i], left + 1);
                    break;
                }
            }
            memset(in, 0, (size_t)size);
        }
        free(in);
        free(out);
    }
    collectives();
    return check_finish();
}
