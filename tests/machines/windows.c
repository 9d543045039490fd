// Windows of processes on two machines, two each: ranks 0 and 1 are on one, ranks 2 and 3 on the other. Rank 3 is the
// target, which other ranks reach from its own machine (2) and from the other one (0, 1).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TARGET = 3, LONG = 5000000, ADDITIONS = 500, NEAR = 300000, FLAG = 0, COUNTER = 8, SWAPPED = 16, DATA = 64 };

static int rank;
static char *memory;
static MPI_Win window;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle copies;
static unsigned char bytes[2 * LONG], back[2 * LONG];

#define CHECK(right) ((right) ? (void)0 : failed(__LINE__, #right))

static void failed(int line, const char *what) {
    printf("windows.c:%d: rank %d: %s is not so\n", line, rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static unsigned long remote_copies(void) {
    unsigned long value;
    MPI_T_pvar_read(session, copies, &value);
    return value;
}

// A flush completes puts at the target: a message that is sent after it, by another connection, does not come before them.
static void flushed_puts_are_there(void) {
    int turn;
    for (turn = 1; turn <= 20; turn++) {
        if (rank == 0) {
            memset(bytes, turn, LONG);
            MPI_Put(bytes, LONG, MPI_BYTE, TARGET, DATA, LONG, MPI_BYTE, window);
            MPI_Win_flush(TARGET, window);
            MPI_Send(&turn, 1, MPI_INT, TARGET, 0, MPI_COMM_WORLD);
            MPI_Recv(&turn, 1, MPI_INT, TARGET, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == TARGET) {
            MPI_Recv(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            // The last byte first: the others come before it.
            CHECK(memory[DATA + LONG - 1] == turn);
            for (int at = 0; at < LONG; at += 997) CHECK(memory[DATA + at] == turn);
            MPI_Send(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
}

// Long contiguous pieces are copied past the thread at the target, both ways, and short ones are not. The memory of a put
// belongs to the program again after MPI_Rput is complete, or after a local flush.
static void long_data_is_copied_at_once(void) {
    enum { PIECE = 100000, STRIDE = PIECE + 5000, PIECES = 9 };
    MPI_Datatype pieces;
    MPI_Request request;
    unsigned long before;
    if (rank != 0) return;
    MPI_Type_vector(PIECES, PIECE, STRIDE, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    for (int i = 0; i < PIECES * STRIDE; i++) bytes[i] = (unsigned char)(i * 5 + i / 253);
    MPI_Put(bytes, PIECES * PIECE, MPI_BYTE, TARGET, DATA, PIECES * PIECE, MPI_BYTE, window);
    MPI_Win_flush_local(TARGET, window);
    before = remote_copies();
    MPI_Put(bytes, PIECES * PIECE, MPI_BYTE, TARGET, DATA, 1, pieces, window);
    MPI_Win_flush_local(TARGET, window);
    CHECK(remote_copies() - before == PIECES);
    memset(bytes, 77, PIECES * PIECE);
    MPI_Get(back, PIECES * PIECE, MPI_BYTE, TARGET, DATA, 1, pieces, window);
    MPI_Win_flush(TARGET, window);
    CHECK(remote_copies() - before == 2 * PIECES);
    for (int i = 0; i < PIECES * PIECE; i++) CHECK(back[i] == (unsigned char)(i * 5 + i / 253));
    MPI_Rput(bytes, PIECE, MPI_BYTE, TARGET, DATA, PIECE, MPI_BYTE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(bytes, 78, PIECE);
    MPI_Put(bytes, 1000, MPI_BYTE, TARGET, DATA + 2 * PIECE, 1000, MPI_BYTE, window);
    MPI_Win_flush(TARGET, window);
    CHECK(remote_copies() - before == 2 * PIECES + 1);
    MPI_Get(back, PIECE, MPI_BYTE, TARGET, DATA, PIECE, MPI_BYTE, window);
    MPI_Win_flush(TARGET, window);
    for (int i = 0; i < PIECE; i++) CHECK(back[i] == 77);
    MPI_Type_free(&pieces);
}

// Gets bring what puts have left, with gaps at either side.
static void data_comes_back(void) {
    MPI_Datatype gaps;
    if (rank != 0) return;
    for (int i = 0; i < LONG; i++) bytes[i] = (unsigned char)(i * 7 + i / 251);
    MPI_Put(bytes, LONG, MPI_BYTE, TARGET, DATA, LONG, MPI_BYTE, window);
    MPI_Win_flush(TARGET, window);
    MPI_Get(back, LONG, MPI_BYTE, TARGET, DATA, LONG, MPI_BYTE, window);
    MPI_Win_flush(TARGET, window);
    CHECK(memcmp(bytes, back, LONG) == 0);
    MPI_Type_vector(2000, 3, 7, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Put(bytes + 1, 1, gaps, TARGET, DATA, 1, gaps, window);
    MPI_Win_flush(TARGET, window);
    MPI_Get(back, 6000, MPI_BYTE, TARGET, DATA, 1, gaps, window);
    MPI_Win_flush(TARGET, window);
    for (int i = 0; i < 6000; i++) CHECK(back[i] == bytes[1 + i / 3 * 7 + i % 3]);
    MPI_Type_free(&gaps);
}

// Operations with requests are under way together, and each request is complete when its data is here.
static void requests_overlap(void) {
    enum { PIECES = 8, PIECE = LONG / PIECES };
    MPI_Request requests[PIECES];
    int under_way = 0, flag, index;
    if (rank != 0) return;
    for (int i = 0; i < LONG; i++) bytes[i] = (unsigned char)(i * 3 + i / 241);
    for (int i = 0; i < PIECES; i++) {
        MPI_Rput(bytes + i * PIECE, PIECE, MPI_BYTE, TARGET, DATA + i * PIECE, PIECE, MPI_BYTE, window, &requests[i]);
        MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        under_way += !flag;
    }
    CHECK(under_way > 0);
    MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(TARGET, window);
    memset(back, 0, LONG);
    under_way = 0;
    for (int i = 0; i < PIECES; i++) {
        MPI_Rget(back + i * PIECE, PIECE, MPI_BYTE, TARGET, DATA + i * PIECE, PIECE, MPI_BYTE, window, &requests[i]);
        MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        under_way += !flag;
    }
    CHECK(under_way > 0);
    for (int i = 0; i < PIECES; i++) {
        MPI_Waitany(PIECES, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < PIECES && memcmp(bytes + index * PIECE, back + index * PIECE, PIECE) == 0);
    }
    // Short ones, of which each waits for a trip; one that is freed goes on.
    long sum = 0, before[PIECES], one = 1;
    for (int i = 0; i < PIECES; i++)
        MPI_Rget_accumulate(&one, 1, MPI_LONG, &before[i], 1, MPI_LONG, TARGET, COUNTER, 1, MPI_LONG, MPI_SUM, window, &requests[i]);
    MPI_Request_free(&requests[0]);
    MPI_Waitall(PIECES - 1, requests + 1, MPI_STATUSES_IGNORE);
    MPI_Win_flush(TARGET, window);
    for (int i = 0; i < PIECES; i++) sum += before[i];
    CHECK(sum == PIECES * before[0] + PIECES * (PIECES - 1) / 2);
    one = -PIECES;
    MPI_Raccumulate(&one, 1, MPI_LONG, TARGET, COUNTER, 1, MPI_LONG, MPI_SUM, window, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(TARGET, window);
}

// Additions and swaps of the target, its neighbour and the other machine are atomic with each other. Those of the target's
// machine are so many that they go on while the others come.
static void atomics_are_atomic(void) {
    long one = 1, before, last = -1, now;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < (rank < 2 ? ADDITIONS : NEAR); i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, TARGET, COUNTER, MPI_SUM, window);
        MPI_Win_flush(TARGET, window);
        CHECK(before > last);
        last = before;
    }
    for (int i = 0; i < ADDITIONS; i++) {
        // One more, by a compare-and-swap that may lose against others.
        MPI_Fetch_and_op(NULL, &before, MPI_LONG, TARGET, SWAPPED, MPI_NO_OP, window);
        MPI_Win_flush(TARGET, window);
        do {
            long wanted = before, next = before + 1;
            MPI_Compare_and_swap(&next, &wanted, &now, MPI_LONG, TARGET, SWAPPED, window);
            MPI_Win_flush(TARGET, window);
            if (now == wanted) break;
            before = now;
        } while (1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long sums[2];
    MPI_Get(sums, 2, MPI_LONG, TARGET, COUNTER, 2, MPI_LONG, window);
    MPI_Win_flush(TARGET, window);
    CHECK(sums[0] == 2 * ADDITIONS + 2 * NEAR && sums[1] == 4 * ADDITIONS);
}

// A target that computes, and calls MPI no more, delays nobody: it waits for what rank 0 writes.
static void the_target_computes(void) {
    long one = 1, zero = 0;
    volatile long *flag = (volatile long *)(memory + FLAG);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == TARGET) {
        while (*flag == 0) {}
    } else if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, window);
        MPI_Get(back, LONG, MPI_BYTE, TARGET, DATA, LONG, MPI_BYTE, window);
        MPI_Put(bytes, LONG, MPI_BYTE, TARGET, DATA + LONG, LONG, MPI_BYTE, window);
        MPI_Accumulate(&zero, 1, MPI_LONG, TARGET, COUNTER, 1, MPI_LONG, MPI_REPLACE, window);
        MPI_Win_unlock(TARGET, window);
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
        MPI_Accumulate(&one, 1, MPI_LONG, TARGET, FLAG, 1, MPI_LONG, MPI_REPLACE, window);
        MPI_Win_unlock(TARGET, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
}

// A rank that waits takes no core, although it has a window.
static void idle_ranks_sleep(void) {
    enum { SECONDS = 1 };
    double begin = processor();
    if (rank == 0) {
        double start = MPI_Wtime();
        while (MPI_Wtime() < start + SECONDS) {}
        for (int peer = 1; peer < 4; peer++) MPI_Send(&rank, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    } else {
        int word;
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double used = processor() - begin;
        if (used >= 0.3 * SECONDS) printf("rank %d used %.3f s of processor in %d s\n", rank, used, SECONDS);
        CHECK(used < 0.3 * SECONDS);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class, provided, index, count;
    MPI_Error_class(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window), &class);
    CHECK(class == MPI_ERR_RMA_SHARED);
    MPI_Win_allocate(DATA + 2 * LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, DATA + 2 * LONG);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("a window is open\n");
        fflush(stdout);
    }
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_index("heddle_remote_copies", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &copies, &count);
    MPI_T_pvar_start(session, copies);
    flushed_puts_are_there();
    long_data_is_copied_at_once();
    data_comes_back();
    requests_overlap();
    atomics_are_atomic();
    the_target_computes();
    idle_ranks_sleep();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (rank == 0) printf("windows between machines: data, atomics, a target that computes, idle ranks\n");
    MPI_Finalize();
    return 0;
}
