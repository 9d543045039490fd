// A message longer than its receive: the error, the bytes that stay untouched, and errors of one request among many.
// ranks: 2-8
#include "check.h"

static int rank; // in the pair

static const int sizes[] = {4, 40, 64, 1000, 10000, 100000, 2000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void expect_truncation(int code, const unsigned char *buf, int room) {
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    for (int i = room; i < room + 16; i++) {
        if (!CHECK_EQ(buf[i], 0xee)) break;
    }
}

static void one(int n, int room, bool posted, MPI_Comm comm) {
    unsigned char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n + 32);
    MPI_Request request;
    MPI_Status status;
    int go = 0;
    memset(in, 0xee, (size_t)n + 32);
    pattern_fill(out, (size_t)n, 1);
    if (rank == 0) {
        if (posted) CHECK_OK(MPI_Recv(&go, 1, MPI_INT, 1, 2, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(out, n, MPI_BYTE, 1, 1, comm));
        CHECK_OK(MPI_Ssend(out, n, MPI_BYTE, 1, 1, comm)); // completes though it is truncated
        CHECK_OK(MPI_Send(out, n, MPI_BYTE, 1, 1, comm));
    } else {
        if (posted) {
            CHECK_OK(MPI_Irecv(in, room, MPI_BYTE, 0, 1, comm, &request));
            CHECK_OK(MPI_Send(&go, 1, MPI_INT, 0, 2, comm));
            expect_truncation(MPI_Wait(&request, &status), in, room);
            CHECK(request == MPI_REQUEST_NULL);
        } else {
            expect_truncation(MPI_Recv(in, room, MPI_BYTE, 0, 1, comm, &status), in, room);
        }
        CHECK_EQ(status.MPI_SOURCE, 0);
        CHECK_EQ(status.MPI_TAG, 1);
        memset(in, 0xee, (size_t)n + 32);
        expect_truncation(MPI_Recv(in, room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status), in, room);
        // The next message is whole.
        CHECK_OK(MPI_Recv(in, n, MPI_BYTE, 0, 1, comm, &status));
        CHECK_PATTERN(in, (size_t)n, 1);
    }
    free(out);
    free(in);
}

// Of three messages the second is too long: MPI_ERR_IN_STATUS and a code for each.
static void in_status(int n, bool some, MPI_Comm comm) {
    unsigned char *out = check_alloc((size_t)n), *in[3];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int go = 0;
    if (rank == 0) {
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE));
        pattern_fill(out, (size_t)n, 4);
        for (int i = 0; i < 3; i++) CHECK_OK(MPI_Send(out, n, MPI_BYTE, 1, i, comm));
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, 1, 9, comm));
    } else {
        for (int i = 0; i < 3; i++) {
            in[i] = check_alloc((size_t)n);
            CHECK_OK(MPI_Irecv(in[i], i == 1 ? n / 2 : n, MPI_BYTE, 0, i, comm, &requests[i]));
        }
        for (int i = 0; i < 3; i++) statuses[i].MPI_ERROR = -12345;
        CHECK_OK(MPI_Send(&go, 1, MPI_INT, 0, 9, comm));
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE));
        if (some) {
            int left = 3, count = 0, indices[3], failures = 0;
            while (left > 0) {
                int code = MPI_Waitsome(3, requests, &count, indices, statuses);
                if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_IN_STATUS);
                if (!CHECK(count >= 1 && count <= left)) break;
                for (int i = 0; i < count && code != MPI_SUCCESS; i++) {
                    CHECK_CLASS(statuses[i].MPI_ERROR, indices[i] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
                    failures += indices[i] == 1;
                }
                left -= count;
            }
            CHECK_EQ(failures, 1);
        } else {
            CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
            bool pending = false;
            for (int i = 0; i < 3; i++) {
                int class = -1;
                CHECK_OK(MPI_Error_class(statuses[i].MPI_ERROR, &class));
                if (class == MPI_ERR_PENDING) {
                    pending = true;
                    CHECK(requests[i] != MPI_REQUEST_NULL);
                    continue;
                }
                CHECK_EQ(class, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
                CHECK(requests[i] == MPI_REQUEST_NULL);
            }
            if (pending) CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        }
        CHECK_PATTERN(in[0], (size_t)n, 4);
        CHECK_PATTERN(in[2], (size_t)n, 4);
        for (int i = 0; i < 3; i++) free(in[i]);
    }
    free(out);
}

// Waitany and Testany give the error itself; with statuses ignored Waitall still tells that something went wrong.
static void other_forms(MPI_Comm comm) {
    int big[4] = {1, 2, 3, 4}, small = 0, index = -1, flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    if (rank == 0) {
        for (int i = 0; i < 3; i++) CHECK_OK(MPI_Send(big, 4, MPI_INT, 1, 5, comm));
    } else {
        requests[0] = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 5, comm, &requests[1]));
        CHECK_CLASS(MPI_Waitany(2, requests, &index, &status), MPI_ERR_TRUNCATE);
        CHECK_EQ(index, 1);
        CHECK(requests[1] == MPI_REQUEST_NULL);
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 5, comm, &requests[1]));
        int code = MPI_SUCCESS;
        while (!flag && code == MPI_SUCCESS) code = MPI_Test(&requests[1], &flag, &status);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 5, comm, &requests[1]));
        CHECK_CLASS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    }
}

// The error of a request that the program frees is nobody else's: the next receive, which may take its place, succeeds.
static void freed(MPI_Comm comm) {
    int big[4] = {1, 2, 3, 4}, small = 0, flag = 0, code = MPI_SUCCESS;
    MPI_Request request;
    if (rank == 0) {
        CHECK_OK(MPI_Send(big, 4, MPI_INT, 1, 6, comm));
        CHECK_OK(MPI_Send(&big[3], 1, MPI_INT, 1, 7, comm));
    } else {
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 6, comm, &request));
        while (!flag && code == MPI_SUCCESS) code = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        CHECK_OK(MPI_Request_free(&request));
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, 0, 7, comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(small, 4);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    if (!check_pair(&comm, &rank)) return check_finish();
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int s = 0; s < SIZES; s++) {
        for (int posted = 0; posted < 2; posted++) {
            one(sizes[s], sizes[s] / 2, posted, comm);
            one(sizes[s], 0, posted, comm);
            one(sizes[s], sizes[s] - 1, posted, comm);
        }
        in_status(sizes[s], false, comm);
        in_status(sizes[s], true, comm);
    }
    other_forms(comm);
    freed(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
