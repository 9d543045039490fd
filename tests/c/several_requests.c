// Calls that complete or look at several requests at once: all that are complete are reported, a failure among them is the
// call's, and requests of which none is complete yet are not taken for no requests.
// ranks: 1
#include "check.h"

enum { N = 3, SHORT = 1 };

static MPI_Comm self;
static MPI_Request requests[N];
static int in[N];

static void post(void) {
    for (int i = 0; i < N; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, self, &requests[i]));
}

// Sends to one of the receives, which has room for one number.
static void feed(int which, int numbers) {
    int out[2] = {which, which};
    CHECK_OK(MPI_Send(out, numbers, MPI_INT, 0, which, self));
}

static void wait_for(int which) {
    int flag = 0;
    while (!flag) CHECK_OK(MPI_Request_get_status(requests[which], &flag, MPI_STATUS_IGNORE));
}

static void all_that_are_complete(bool test) {
    int count = -1, indices[N];
    post();
    feed(2, 1), feed(0, 1);
    wait_for(0), wait_for(2);
    if (test) CHECK_OK(MPI_Testsome(N, requests, &count, indices, MPI_STATUSES_IGNORE));
    else CHECK_OK(MPI_Waitsome(N, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK(count == 2 && indices[0] + indices[1] == 2 && indices[0] != 1);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    feed(1, 1);
    CHECK_OK(MPI_Waitall(N, requests, MPI_STATUSES_IGNORE));
}

static void looks(void) {
    int count = -1, indices[N], flag = -1;
    post();
    CHECK_OK(MPI_Request_get_status_some(N, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Testsome(N, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, 0);
    // The first is complete, and the others are not.
    feed(0, 1);
    wait_for(0);
    CHECK_OK(MPI_Request_get_status_all(N, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    for (int i = 1; i < N; i++) feed(i, 1);
    CHECK_OK(MPI_Waitall(N, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_get_status_some(N, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(count, MPI_UNDEFINED);
}

// One of the messages is too long.
static void failure_among_some(bool test, bool ignore) {
    int count = -1, indices[N], failures = 0;
    MPI_Status statuses[N];
    post();
    for (int i = 0; i < N; i++) feed(i, i == SHORT ? 2 : 1);
    for (int left = N; left > 0; left -= count) {
        bool failed = false;
        MPI_Status *where = ignore ? MPI_STATUSES_IGNORE : statuses;
        int code = test ? MPI_Testsome(N, requests, &count, indices, where) : MPI_Waitsome(N, requests, &count, indices, where);
        if (!CHECK(count >= 0 && count <= left)) break;
        for (int i = 0; i < count; i++) failed |= indices[i] == SHORT;
        CHECK_CLASS(code, failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
        for (int i = 0; failed && !ignore && i < count; i++)
            CHECK_CLASS(statuses[i].MPI_ERROR, indices[i] == SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        failures += failed;
    }
    CHECK_EQ(failures, 1);
}

static void failure_among_all(bool ignore) {
    int flag = 0, code = MPI_SUCCESS;
    MPI_Status statuses[N];
    post();
    for (int i = 0; i < N; i++) feed(i, i == SHORT ? 2 : 1);
    while (code == MPI_SUCCESS && !flag) code = MPI_Testall(N, requests, &flag, ignore ? MPI_STATUSES_IGNORE : statuses);
    CHECK_CLASS(code, MPI_ERR_IN_STATUS);
    for (int i = 0; !ignore && i < N; i++) CHECK_CLASS(statuses[i].MPI_ERROR, i == SHORT ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (int i = 0; i < N; i++) CHECK(requests[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    CHECK_OK(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    looks();
    for (int test = 0; test < 2; test++) {
        all_that_are_complete(test);
        for (int ignore = 0; ignore < 2; ignore++) failure_among_some(test, ignore);
    }
    for (int ignore = 0; ignore < 2; ignore++) failure_among_all(ignore);
    CHECK_OK(MPI_Comm_free(&self));
    return check_finish();
}
