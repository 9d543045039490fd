// Wait and test in the forms one, any, all and some, with null, inactive and finished requests among them.
#include "check.h"

enum { N = 32 };

static int to, from, out[N], in[N];
static MPI_Request requests[N];

static void post(int n) {
    for (int i = 0; i < n; i++) {
        in[i] = -1;
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[i]));
    }
}

// Sends in an order unlike that of the receives.
static void feed(int n) {
    for (int i = 0; i < n; i++) {
        int tag = i * 13 % n;
        out[tag] = check_rank * 1000 + tag;
        CHECK_OK(MPI_Send(&out[tag], 1, MPI_INT, to, tag, MPI_COMM_WORLD));
    }
}

static void is_message(const MPI_Status *status, int i) {
    int count = -1;
    CHECK_EQ(status->MPI_SOURCE, from);
    CHECK_EQ(status->MPI_TAG, i);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 1);
    CHECK_EQ(in[i], from * 1000 + i);
}

static void is_empty(const MPI_Status *status) {
    int count = -1, cancelled = -1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(cancelled, 0);
}

static void any(bool test) {
    post(N);
    feed(N);
    bool seen[N] = {false};
    for (int i = 0; i < N; i++) {
        int index = -1, flag = 1;
        MPI_Status status;
        if (test) {
            do {
                CHECK_OK(MPI_Testany(N, requests, &index, &flag, &status));
                if (!flag) CHECK_EQ(index, MPI_UNDEFINED);
            } while (!flag);
        } else {
            CHECK_OK(MPI_Waitany(N, requests, &index, &status));
        }
        if (!CHECK(index >= 0 && index < N && !seen[index])) return;
        seen[index] = true;
        CHECK(requests[index] == MPI_REQUEST_NULL);
        is_message(&status, index);
    }
    int index = 0, flag = 0;
    MPI_Status status;
    CHECK_OK(MPI_Waitany(N, requests, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    is_empty(&status);
    CHECK_OK(MPI_Testany(N, requests, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED);
    is_empty(&status);
}

static void all(bool test, bool ignore) {
    MPI_Status statuses[N + 2];
    MPI_Request with_null[N + 2];
    post(N);
    // Null requests at both ends.
    with_null[0] = with_null[N + 1] = MPI_REQUEST_NULL;
    memcpy(with_null + 1, requests, sizeof requests);
    if (test && check_size > 1) {
        int flag = -1;
        CHECK_OK(MPI_Testall(N + 2, with_null, &flag, statuses));
        CHECK_EQ(flag, 0);
        for (int i = 1; i <= N; i++) CHECK(with_null[i] != MPI_REQUEST_NULL);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    feed(N);
    if (test) {
        int flag = 0;
        while (!flag) CHECK_OK(MPI_Testall(N + 2, with_null, &flag, ignore ? MPI_STATUSES_IGNORE : statuses));
    } else {
        CHECK_OK(MPI_Waitall(N + 2, with_null, ignore ? MPI_STATUSES_IGNORE : statuses));
    }
    for (int i = 0; i < N + 2; i++) CHECK(with_null[i] == MPI_REQUEST_NULL);
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], from * 1000 + i);
    if (!ignore) {
        is_empty(&statuses[0]);
        is_empty(&statuses[N + 1]);
        for (int i = 0; i < N; i++) is_message(&statuses[i + 1], i);
    }
}

static void some(bool test, bool ignore) {
    post(N);
    feed(N);
    int left = N, indices[N], count = -1;
    MPI_Status statuses[N];
    while (left > 0) {
        MPI_Status *where = ignore ? MPI_STATUSES_IGNORE : statuses;
        if (test) {
            CHECK_OK(MPI_Testsome(N, requests, &count, indices, where));
        } else {
            CHECK_OK(MPI_Waitsome(N, requests, &count, indices, where));
        }
        if (!CHECK(count != MPI_UNDEFINED && count >= !test && count <= left)) return;
        for (int i = 0; i < count; i++) {
            CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
            CHECK_EQ(in[indices[i]], from * 1000 + indices[i]);
            if (!ignore) is_message(&statuses[i], indices[i]);
        }
        left -= count;
    }
    CHECK_OK(MPI_Waitsome(N, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(N, requests, &count, indices, statuses));
    CHECK_EQ(count, MPI_UNDEFINED);
}

static void nothing(void) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0, index = 0;
    CHECK_OK(MPI_Wait(&none, &status));
    is_empty(&status);
    CHECK_OK(MPI_Test(&none, &flag, &status));
    CHECK_EQ(flag, 1);
    is_empty(&status);
    CHECK_OK(MPI_Wait(&none, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    flag = 0;
    CHECK_OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Waitany(0, NULL, &index, &status));
    CHECK_EQ(index, MPI_UNDEFINED);
    flag = 0;
    CHECK_OK(MPI_Testany(0, NULL, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED);
}

static void one_by_one(void) {
    post(N);
    feed(N);
    for (int i = N - 1; i >= 0; i--) {
        MPI_Status status;
        int flag = 0;
        if (i % 2) {
            CHECK_OK(MPI_Wait(&requests[i], &status));
        } else {
            while (!flag) CHECK_OK(MPI_Test(&requests[i], &flag, &status));
        }
        CHECK(requests[i] == MPI_REQUEST_NULL);
        is_message(&status, i);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int round = 0; round < 5; round++) {
        one_by_one();
        any(false);
        any(true);
        for (int ignore = 0; ignore < 2; ignore++) {
            all(false, ignore);
            all(true, ignore);
            some(false, ignore);
            some(true, ignore);
        }
        nothing();
    }
    return check_finish();
}
