// A receive gets the oldest message that fits, whatever its size or mode; a message goes to the oldest receive that fits,
// wildcard or not.
// ranks: 2 3
#include "check.h"

static const int sizes[] = {0, 1, 9, 100, 5000, 40000, 300000};
enum { SIZES = sizeof sizes / sizeof *sizes, RECEIVES = 12, BIGGEST = 300000 };

static unsigned char out[BIGGEST], in[RECEIVES][BIGGEST];

static void wait_for_all(void) { CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); }

// Messages of one sender, each with another tag, size and mode, leave in order and are received so by wildcards.
static void unexpected(int shift) {
    MPI_Request requests[RECEIVES];
    if (check_rank == 1) {
        for (int i = 0; i < RECEIVES; i++) {
            int n = sizes[(i + shift) % SIZES];
            if (i % 3 == 1) CHECK_OK(MPI_Issend(out, n, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD, &requests[i]));
            else CHECK_OK(MPI_Isend(out, n, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD, &requests[i]));
        }
    }
    wait_for_all();
    if (check_rank == 0) {
        for (int i = 0; i < RECEIVES; i++) {
            MPI_Status seen, status;
            MPI_Message message;
            int n = sizes[(i + shift) % SIZES], got = -1;
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen));
            CHECK_EQ(seen.MPI_TAG, 100 + i);
            CHECK_OK(MPI_Get_count(&seen, MPI_BYTE, &got));
            CHECK_EQ(got, n);
            if (i % 4 == 3) {
                CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &seen));
                CHECK_OK(MPI_Mrecv(in[0], BIGGEST, MPI_BYTE, &message, &status));
            } else {
                CHECK_OK(MPI_Recv(in[0], BIGGEST, MPI_BYTE, i % 2 ? 1 : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            }
            CHECK_EQ(status.MPI_TAG, 100 + i);
            CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
            CHECK_EQ(got, n);
        }
    } else if (check_rank == 1) {
        CHECK_OK(MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE));
    }
}

// A specific receive takes a later message out of the middle; the wildcards see the rest in order.
static void out_of_the_middle(int shift) {
    MPI_Request requests[4];
    MPI_Status status;
    if (check_rank == 1) {
        for (int i = 0; i < 4; i++)
            CHECK_OK(MPI_Isend(out, sizes[(i + shift) % SIZES], MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
    wait_for_all();
    if (check_rank == 0) {
        static const int order[4] = {2, 0, 1, 3};
        for (int i = 0; i < 4; i++) {
            int tag = i == 0 ? 2 : MPI_ANY_TAG;
            CHECK_OK(MPI_Recv(in[0], BIGGEST, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status));
            CHECK_EQ(status.MPI_TAG, order[i]);
            CHECK_EQ(status.MPI_SOURCE, 1);
        }
    } else if (check_rank == 1) {
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    }
}

// Receives of all four kinds are posted in turn; equal messages go to them in the order of posting. One is cancelled.
static void posted(int n, bool cancel) {
    MPI_Request requests[RECEIVES];
    MPI_Status status;
    int cancelled = -1;
    if (check_rank == 0) {
        for (int i = 0; i < RECEIVES; i++) {
            int source = i & 1 ? MPI_ANY_SOURCE : 1, tag = i & 2 ? MPI_ANY_TAG : 5;
            CHECK_OK(MPI_Irecv(in[i], BIGGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &requests[i]));
        }
        if (cancel) {
            CHECK_OK(MPI_Cancel(&requests[3]));
            CHECK_OK(MPI_Wait(&requests[3], &status));
            CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
            CHECK_EQ(cancelled, 1);
        }
    }
    wait_for_all();
    int messages = RECEIVES - cancel;
    if (check_rank == 1) {
        for (int i = 0; i < messages; i++) {
            memset(out, i, BIGGEST);
            CHECK_OK(MPI_Send(out, n, MPI_BYTE, 0, 5, MPI_COMM_WORLD));
        }
    } else if (check_rank == 0) {
        for (int i = 0, nth = 0; i < RECEIVES; i++) {
            if (requests[i] == MPI_REQUEST_NULL) continue;
            CHECK_OK(MPI_Wait(&requests[i], &status));
            CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 5);
            CHECK_EQ(in[i][0], nth);
            CHECK_EQ(in[i][n - 1], nth);
            nth++;
        }
    }
    wait_for_all();
}

// Receives that do not fit are passed over, and stay for their own message.
static void passed_over(void) {
    MPI_Request requests[3];
    MPI_Status status;
    int values[3] = {-1, -1, -1}, a = 1, b = 2, c = 3;
    if (check_rank == 0) {
        CHECK_OK(MPI_Irecv(&values[0], 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Irecv(&values[1], 1, MPI_INT, check_size - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Irecv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &requests[2]));
    }
    wait_for_all();
    if (check_rank == 1) {
        CHECK_OK(MPI_Send(&a, 1, MPI_INT, 0, check_size == 2 ? 9 : 8, MPI_COMM_WORLD));
    }
    wait_for_all();
    if (check_rank == check_size - 1) {
        CHECK_OK(MPI_Send(&b, 1, MPI_INT, 0, check_size == 2 ? 8 : 9, MPI_COMM_WORLD));
    }
    wait_for_all();
    if (check_rank == 1) CHECK_OK(MPI_Send(&c, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    if (check_rank == 0) {
        for (int i = 0; i < 3; i++) CHECK_OK(MPI_Wait(&requests[i], &status));
        CHECK_EQ(values[0], c);
        CHECK_EQ(values[1], check_size == 2 ? a : b);
        CHECK_EQ(values[2], check_size == 2 ? b : a);
    }
    wait_for_all();
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int shift = 0; shift < SIZES; shift++) {
        unexpected(shift);
        wait_for_all();
        out_of_the_middle(shift);
        wait_for_all();
    }
    for (int s = 1; s < SIZES; s++) {
        posted(sizes[s], false);
        posted(sizes[s], true);
    }
    for (int i = 0; i < 20; i++) passed_over();
    return check_finish();
}
