// MPI_Test of a request in every state: null, inactive, pending, complete, failed, cancelled and gone; of sends,
// receives, persistent and generalized requests, with a status and without.
// ranks: 1-3
#include "check.h"

static MPI_Comm comm;
// Ranks in `comm`; `sender` is the rank of `from` in the world.
static int to, from, sender;

static void is_empty(const MPI_Status *status) {
    int count = -1, cancelled = -1;
    CHECK_EQ(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(status->MPI_ERROR, MPI_SUCCESS);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(cancelled, 0);
}

static void is_message(const MPI_Status *status, int tag, int elements) {
    int count = -1, cancelled = -1;
    CHECK_EQ(status->MPI_SOURCE, from);
    CHECK_EQ(status->MPI_TAG, tag);
    // A test leaves it as it was.
    CHECK_EQ(status->MPI_ERROR, 77);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_EQ(count, elements);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_EQ(cancelled, 0);
}

static MPI_Status fresh(void) { return (MPI_Status){.MPI_SOURCE = -55, .MPI_TAG = -66, .MPI_ERROR = 77}; }

// Tests a pending request several times, so that some tests also poll more than its VNI.
static void is_pending(MPI_Request *request, bool ignore) {
    for (int i = 0; i < 70; i++) {
        MPI_Request before = *request;
        MPI_Status status = fresh();
        int flag = -1;
        CHECK_OK(MPI_Test(request, &flag, ignore ? MPI_STATUS_IGNORE : &status));
        if (!CHECK_EQ(flag, 0)) return;
        CHECK(*request == before);
        CHECK(status.MPI_SOURCE == -55 && status.MPI_TAG == -66 && status.MPI_ERROR == 77);
    }
}

static void is_nothing(MPI_Request *request, bool ignore) {
    MPI_Request before = *request;
    MPI_Status status = fresh();
    int flag = -1;
    CHECK_OK(MPI_Test(request, &flag, ignore ? MPI_STATUS_IGNORE : &status));
    CHECK_EQ(flag, 1);
    CHECK(*request == before);
    if (!ignore) is_empty(&status);
}

// Tests until the request is complete; returns the code of the last test.
static int complete(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    *status = fresh();
    while (!flag && code == MPI_SUCCESS) code = MPI_Test(request, &flag, status);
    CHECK_EQ(flag, 1);
    return code;
}

static void complete_ignoring(MPI_Request *request) {
    int flag = 0;
    while (!flag) CHECK_OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
}

static void null_requests(bool ignore) {
    MPI_Request none = MPI_REQUEST_NULL;
    is_nothing(&none, ignore);
}

static void small_and_large(bool ignore, int n) {
    int *in = check_alloc(sizeof(int) * (size_t)n), *out = check_alloc(sizeof(int) * (size_t)n);
    MPI_Request receive, send;
    MPI_Status status;
    for (int i = 0; i < n; i++) out[i] = check_rank + i, in[i] = -1;
    CHECK_OK(MPI_Irecv(in, n, MPI_INT, from, 1, comm, &receive));
    is_pending(&receive, ignore);
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Isend(out, n, MPI_INT, to, 1, comm, &send));
    if (ignore) {
        complete_ignoring(&receive);
        complete_ignoring(&send);
    } else {
        CHECK_OK(complete(&receive, &status));
        is_message(&status, 1, n);
        CHECK_OK(complete(&send, &status));
    }
    CHECK(receive == MPI_REQUEST_NULL && send == MPI_REQUEST_NULL);
    CHECK(in[0] == sender && in[n - 1] == sender + n - 1);
    is_nothing(&receive, ignore);
    free(in), free(out);
}

static void persistent(bool ignore) {
    int in = -1, out = check_rank + 9;
    MPI_Request receive, send;
    MPI_Status status;
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, from, 2, comm, &receive));
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, to, 2, comm, &send));
    for (int i = 0; i < 3; i++) {
        MPI_Request before[2] = {receive, send};
        is_nothing(&receive, ignore);
        is_nothing(&send, ignore);
        CHECK_OK(MPI_Start(&receive));
        is_pending(&receive, ignore);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Start(&send));
        if (ignore) {
            complete_ignoring(&receive);
            complete_ignoring(&send);
        } else {
            CHECK_OK(complete(&receive, &status));
            is_message(&status, 2, 1);
            CHECK_OK(complete(&send, &status));
        }
        CHECK(receive == before[0] && send == before[1]);
        CHECK_EQ(in, sender + 9);
        in = -1;
        CHECK_OK(MPI_Barrier(comm));
    }
    is_nothing(&receive, ignore);
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Request_free(&send));
}

static int queries, frees;

static int query(void *state, MPI_Status *status) {
    queries++;
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, 3));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 41, status->MPI_TAG = 42;
    return *(int *)state;
}

static int let_go(void *state) {
    (void)state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete) {
    (void)state, (void)is_complete;
    return MPI_SUCCESS;
}

static void generalized(bool ignore) {
    int code = MPI_SUCCESS, count = -1;
    MPI_Request request;
    MPI_Status status;
    queries = frees = 0;
    CHECK_OK(MPI_Grequest_start(query, let_go, cancel, &code, &request));
    is_pending(&request, ignore);
    CHECK(queries == 0 && frees == 0);
    CHECK_OK(MPI_Grequest_complete(request));
    if (ignore) {
        complete_ignoring(&request);
    } else {
        CHECK_OK(complete(&request, &status));
        CHECK(status.MPI_SOURCE == 41 && status.MPI_TAG == 42);
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_EQ(count, 3);
    }
    CHECK(request == MPI_REQUEST_NULL && queries == 1 && frees == 1);
}

static void truncated(void) {
    int in = -1, out[2] = {1, 2};
    MPI_Request receive;
    MPI_Status status;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, 3, comm, &receive));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Send(out, 2, MPI_INT, to, 3, comm));
    CHECK_CLASS(complete(&receive, &status), MPI_ERR_TRUNCATE);
    CHECK(receive == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Barrier(comm));
}

static void cancelled(void) {
    int in = -1, is_cancelled = -1;
    MPI_Request receive;
    MPI_Status status;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, 4, comm, &receive));
    is_pending(&receive, false);
    CHECK_OK(MPI_Cancel(&receive));
    CHECK_OK(complete(&receive, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &is_cancelled));
    CHECK_EQ(is_cancelled, 1);
    CHECK(receive == MPI_REQUEST_NULL);
}

// A vector type, which the request has to keep until the message is there.
static void derived(void) {
    int in[6] = {-1, -1, -1, -1, -1, -1}, out[6] = {1, 2, 3, 4, 5, 6};
    MPI_Datatype every_second;
    MPI_Request receive;
    MPI_Status status;
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    CHECK_OK(MPI_Irecv(in, 1, every_second, from, 5, comm, &receive));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Send(out, 1, every_second, to, 5, comm));
    CHECK_OK(MPI_Type_free(&every_second));
    CHECK_OK(complete(&receive, &status));
    is_message(&status, 5, 3);
    CHECK(in[0] == 1 && in[1] == -1 && in[2] == 3 && in[4] == 5);
}

// A handle whose request is gone, and words that never were handles.
static void gone(void) {
    int in = -1, out = 1, flag = -1;
    MPI_Request receive, copy, none = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, 6, comm, &receive));
    copy = receive;
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, 6, comm));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    if (oracle) return;
    CHECK_CLASS(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    for (uintptr_t word = 1; word; word <<= 1) {
        MPI_Request wrong = (MPI_Request)word;
        // 0x180 is MPI_REQUEST_NULL.
        CHECK_CLASS(MPI_Test(&wrong, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        wrong = (MPI_Request)((uintptr_t)copy ^ word);
        int code = MPI_Test(&wrong, &flag, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_REQUEST);
    }
    CHECK_CLASS(MPI_Test(&none, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int round = 0; round < 2; round++) {
        comm = round ? MPI_COMM_SELF : MPI_COMM_WORLD;
        to = round ? 0 : (check_rank + 1) % check_size;
        sender = round ? check_rank : (check_rank + check_size - 1) % check_size;
        from = round ? 0 : sender;
        for (int ignore = 0; ignore < 2; ignore++) {
            null_requests(ignore);
            small_and_large(ignore, 1);
            small_and_large(ignore, 1000);
            small_and_large(ignore, 100000);
            persistent(ignore);
            generalized(ignore);
        }
        truncated();
        cancelled();
        derived();
        gone();
    }
    return check_finish();
}
