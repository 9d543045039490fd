// Threads take messages out of one stream by matched probes, blocking and not: each message is received once, whole, by the
// thread that matched it.
// ranks: 2 3
// levels: multiple
#include "threads.h"

enum { THREADS = 4, MESSAGES = 400, LONGEST = 50000, STOP = 1000, LAST };

static atomic_int received[8][MESSAGES];

static int length_of(int i) {
    static const int sizes[] = {8, 16, 60, 900, 7000, 40000, LONGEST};
    return sizes[i % 7];
}

static void receiver(int index, void *shared) {
    (void)shared;
    unsigned char *buf = check_alloc(LONGEST + 16);
    for (;;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status, again;
        int flag = 0, len = -1, count = -1;
        if (index % 2 == 0) {
            CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
        } else {
            while (!flag) CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
        }
        CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &len));
        if (index < 2) {
            CHECK_OK(MPI_Mrecv(buf, len, MPI_BYTE, &message, &again));
        } else {
            MPI_Request request;
            CHECK_OK(MPI_Imrecv(buf, len, MPI_BYTE, &message, &request));
            CHECK_OK(MPI_Wait(&request, &again));
        }
        CHECK(message == MPI_MESSAGE_NULL);
        CHECK_EQ(again.MPI_SOURCE, status.MPI_SOURCE);
        CHECK_EQ(again.MPI_TAG, status.MPI_TAG);
        CHECK_OK(MPI_Get_count(&again, MPI_BYTE, &count));
        CHECK_EQ(count, len);
        if (status.MPI_TAG == STOP) break;
        if (status.MPI_TAG == LAST) continue;
        CHECK_EQ(len, length_of(status.MPI_TAG));
        CHECK_PATTERN(buf, (size_t)len, (unsigned)(status.MPI_TAG + status.MPI_SOURCE));
        atomic_fetch_add(&received[status.MPI_SOURCE][status.MPI_TAG], 1);
    }
    free(buf);
}

static void sender(int index, void *shared) {
    (void)shared;
    unsigned char *buf = check_alloc(LONGEST);
    for (int i = index; i < MESSAGES; i += THREADS) {
        int len = length_of(i);
        pattern_fill(buf, (size_t)len, (unsigned)(i + check_rank));
        if (i % 5 == 4) CHECK_OK(MPI_Ssend(buf, len, MPI_BYTE, 0, i, MPI_COMM_WORLD));
        else CHECK_OK(MPI_Send(buf, len, MPI_BYTE, 0, i, MPI_COMM_WORLD));
    }
    free(buf);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    if (check_rank == 0) {
        threads_run(THREADS, receiver, NULL);
        for (int r = 1; r < check_size; r++) {
            for (int i = 0; i < MESSAGES; i++) CHECK_EQ(received[r][i], 1);
        }
    } else {
        threads_run(THREADS, sender, NULL);
        // When all that was sent has been received, one stop for each receiving thread: what rank 1 sends may otherwise
        // overtake what another rank has sent before.
        int token = 0;
        CHECK_OK(MPI_Ssend(NULL, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD));
        if (check_rank > 1) CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        for (int r = 2; check_rank == 1 && r < check_size; r++)
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int t = 0; check_rank == 1 && t < THREADS; t++) CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, STOP, MPI_COMM_WORLD));
    }
    return check_finish();
}
