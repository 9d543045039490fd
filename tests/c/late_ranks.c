// Messages to ranks that have not called MPI_Init yet wait for them, in order, in all modes; a rank that sleeps
// meanwhile is woken.
// ranks: 2 4
// levels: none
#include "check.h"

#include <time.h>

enum { SMALL = 3000, LARGE = 300000 };

static int sizes[] = {4, 60, 5000, LARGE};

int main(int argc, char **argv) {
    const char *rank = getenv("HEDDLE_RANK");
    struct timespec late = {0, 60000000L * (rank ? atoi(rank) : 0)};
    nanosleep(&late, NULL);
    int provided = -1;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    int last = check_size - 1, size = 0;
    unsigned char *data = check_alloc(LARGE), *in = check_alloc(LARGE);
    void *room = check_alloc(LARGE + MPI_BSEND_OVERHEAD), *back = NULL;
    CHECK_OK(MPI_Buffer_attach(room, LARGE + MPI_BSEND_OVERHEAD));
    if (check_rank != last) {
        MPI_Request *requests = check_alloc((SMALL + 8) * sizeof *requests);
        int n = 0;
        pattern_fill(data, LARGE, (unsigned)check_rank);
        for (int i = 0; i < SMALL; i++) CHECK_OK(MPI_Isend(data, i % 50, MPI_BYTE, last, 1, MPI_COMM_WORLD, &requests[n++]));
        for (int i = 0; i < 4; i++) {
            CHECK_OK(MPI_Isend(data, sizes[i], MPI_BYTE, last, 2, MPI_COMM_WORLD, &requests[n++]));
            CHECK_OK(MPI_Issend(data, sizes[i], MPI_BYTE, last, 2, MPI_COMM_WORLD, &requests[n++]));
        }
        CHECK_OK(MPI_Bsend(data, LARGE, MPI_BYTE, last, 3, MPI_COMM_WORLD));
        CHECK_OK(MPI_Ssend(data, 0, MPI_BYTE, last, 4, MPI_COMM_WORLD)); // no other rank is awake: sleeps until `last` is there
        CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
        free(requests);
    } else {
        for (int from = 0; from < last; from++) {
            MPI_Status status;
            int got = -1;
            CHECK_OK(MPI_Recv(in, 0, MPI_BYTE, from, 4, MPI_COMM_WORLD, &status));
            for (int i = 0; i < SMALL; i++) {
                CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status));
                CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
                if (!CHECK_EQ(got, i % 50)) break;
            }
            for (int i = 0; i < 8; i++) {
                CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, from, 2, MPI_COMM_WORLD, &status));
                CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
                CHECK_EQ(got, sizes[i / 2]);
                CHECK_PATTERN(in, (size_t)got, (unsigned)from);
            }
            CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, from, 3, MPI_COMM_WORLD, &status));
            CHECK_PATTERN(in, LARGE, (unsigned)from);
        }
    }
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    free(room), free(data), free(in);
    return check_finish();
}
