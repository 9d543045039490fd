// With more than 64 ranks the rings are smaller. Messages of every protocol still pass between neighbours and across the
// job, in order, whatever mix of sizes meets the end of a ring.
// ranks: 65 100 128
// levels: single
// heddle: only
#include "check.h"

enum { MESSAGES = 40, LONGEST = 200000, WINDOW = 8 };

// In a slot, in half a slot, through the bulk area up to the eager limit, by rendezvous. The first three, in this order, once
// found no room in an empty ring.
static const int sizes[] = {30720, 4096, 32768, 0, 8, 40, 41, 64, 20000, 32767, 32769, LONGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int size_of(int message) {
    return message < SIZES ? sizes[message] : (int)((unsigned)message * 2654435761u >> 16) % 32769;
}

// Exchanges messages with the ranks at a distance. With `column` the receive buffer is not in one piece, so that large
// messages are streamed.
static void exchange(int distance, int messages, MPI_Datatype column, unsigned char *out, unsigned char *in[]) {
    int to = (check_rank + distance) % check_size, from = (check_rank + check_size - distance) % check_size;
    MPI_Request requests[2 * WINDOW];
    for (int first = 0; first < messages; first += WINDOW) {
        int n = 0;
        for (int i = 0; i < WINDOW; i++) {
            int size = size_of(first + i);
            if (column != MPI_DATATYPE_NULL) CHECK_OK(MPI_Irecv(in[i], 1, column, from, i, MPI_COMM_WORLD, &requests[n++]));
            else CHECK_OK(MPI_Irecv(in[i], size, MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[n++]));
        }
        for (int i = 0; i < WINDOW; i++) {
            int size = column != MPI_DATATYPE_NULL ? LONGEST / 2 : size_of(first + i);
            if (i % 3 == 2) CHECK_OK(MPI_Issend(out, size, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[n++]));
            else CHECK_OK(MPI_Isend(out, size, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[n++]));
        }
        CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < WINDOW && column == MPI_DATATYPE_NULL; i++) CHECK_PATTERN(in[i], size_of(first + i), (unsigned)from);
        for (int k = 0; k < LONGEST / 2 && column != MPI_DATATYPE_NULL; k += 997) {
            if (!CHECK_EQ(in[0][2 * k], pattern_byte((unsigned)from, k))) break;
        }
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    unsigned char *out = check_alloc(LONGEST), *in[WINDOW];
    for (int i = 0; i < WINDOW; i++) in[i] = check_alloc(LONGEST);
    pattern_fill(out, LONGEST, (unsigned)check_rank);
    MPI_Datatype column;
    CHECK_OK(MPI_Type_vector(LONGEST / 2, 1, 2, MPI_BYTE, &column));
    CHECK_OK(MPI_Type_commit(&column));
    exchange(1, MESSAGES, MPI_DATATYPE_NULL, out, in);
    exchange(check_size / 2, SIZES, MPI_DATATYPE_NULL, out, in);
    exchange(1, 1, column, out, in);
    CHECK_OK(MPI_Type_free(&column));
    free(out);
    for (int i = 0; i < WINDOW; i++) free(in[i]);
    return check_finish();
}
