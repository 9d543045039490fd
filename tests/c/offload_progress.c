// Execution offload: messages advance although no thread of the program is in MPI, at every thread level. A rank learns that
// its message is there by looking at the memory, and only then calls MPI again.
// ranks: 2-4
// heddle: only
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

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

static pthread_t program;
static atomic_int by_program, by_others;

// An operator that notes which thread computes.
static void noting_sum(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
    atomic_fetch_add(pthread_equal(pthread_self(), program) ? &by_program : &by_others, 1);
}

// Looks at the result again and again, without a call of MPI; gives up after this many yields, on a machine of any speed.
enum { MOST_YIELDS = 20000000 };
static int has_arrived(const int *in, int count, int value) {
    long yields = 0;
    for (int i = 0; i < count; i++)
        while (__atomic_load_n(&in[i], __ATOMIC_ACQUIRE) != value)
            if (yields++ == MOST_YIELDS || sched_yield()) return 0;
    return 1;
}

// The steps of a long operation are not made in the call that begins it: the program wants to compute.
static void computed_by_others(void) {
    enum { N = 1 << 18 };
    static int out[N], in[N];
    MPI_Request request, persistent;
    MPI_Op op;
    program = pthread_self();
    CHECK_OK(MPI_Op_create(noting_sum, 1, &op));
    CHECK_OK(MPI_Allreduce_init(out, in, N, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) out[i] = in[i] = round + 1;
        by_program = by_others = 0;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (round % 2) {
            request = persistent;
            CHECK_OK(MPI_Start(&request));
        } else {
            CHECK_OK(MPI_Iallreduce(out, in, N, MPI_INT, op, MPI_COMM_WORLD, &request));
        }
        CHECK_EQ(has_arrived(in, N, (round + 1) * check_size), 1);
        CHECK_EQ(by_program, 0);
        CHECK(by_others > 0);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&persistent));
    CHECK_OK(MPI_Op_free(&op));
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
    computed_by_others();
    return check_finish();
}
