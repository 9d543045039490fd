// Error handlers of communicators: return, user functions, inheritance, the communicator that gets an error.
#include "check.h"

static struct {
    int calls, class;
    MPI_Comm comm;
} first, second;

static void note_first(MPI_Comm *comm, int *code, ...) {
    first.calls++;
    first.comm = *comm;
    MPI_Error_class(*code, &first.class);
}

static void note_second(MPI_Comm *comm, int *code, ...) {
    second.calls++;
    second.comm = *comm;
    MPI_Error_class(*code, &second.class);
}

static int one = 1;

// The result of a failed call after a user function has seen the error: the same error; the oracle returns success.
#define CHECK_AFTER_HANDLER(call, class) CHECK_CLASS(call, oracle ? MPI_SUCCESS : (class))

static int bad_rank(MPI_Comm comm) {
    return MPI_Send(&one, 1, MPI_INT, 99999, 0, comm);
}

static void defaults(void) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
}

static void returning(void) {
    MPI_Comm dup = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    CHECK_CLASS(bad_rank(dup), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&one, -1, MPI_INT, 0, 0, dup), MPI_ERR_COUNT);
    // The communicator works on after an error.
    int sum = 0, size = 0;
    CHECK_OK(MPI_Comm_size(dup, &size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup));
    CHECK_EQ(sum, size);
    CHECK_OK(MPI_Comm_free(&dup));
}

static void user_functions(void) {
    MPI_Errhandler a = MPI_ERRHANDLER_NULL, b = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL;
    MPI_Comm dup = MPI_COMM_NULL, grandchild = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_create_errhandler(note_first, &a));
    CHECK_OK(MPI_Comm_create_errhandler(note_second, &b));
    CHECK(a != b && a != MPI_ERRHANDLER_NULL);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    CHECK_OK(MPI_Comm_set_errhandler(dup, a));
    CHECK_OK(MPI_Comm_get_errhandler(dup, &got));
    CHECK(got == a);
    CHECK_OK(MPI_Errhandler_free(&got));

    CHECK_AFTER_HANDLER(bad_rank(dup), MPI_ERR_RANK);
    CHECK_EQ(first.calls, 1);
    CHECK_EQ(first.class, MPI_ERR_RANK);
    CHECK(first.comm == dup);

    // A child takes its parent's handler, and keeps it when the parent changes.
    CHECK_OK(MPI_Comm_dup(dup, &grandchild));
    CHECK_OK(MPI_Comm_set_errhandler(dup, b));
    CHECK_AFTER_HANDLER(bad_rank(grandchild), MPI_ERR_RANK);
    CHECK_EQ(first.calls, 2);
    CHECK(first.comm == grandchild);
    CHECK_EQ(second.calls, 0);
    CHECK_AFTER_HANDLER(MPI_Send(&one, 1, MPI_INT, 0, -5, dup), MPI_ERR_TAG);
    CHECK_EQ(second.calls, 1);
    CHECK_EQ(second.class, MPI_ERR_TAG);

    // A freed handler lives as long as communicators use it.
    CHECK_OK(MPI_Errhandler_free(&a));
    CHECK_OK(MPI_Errhandler_free(&b));
    CHECK(a == MPI_ERRHANDLER_NULL);
    CHECK_AFTER_HANDLER(bad_rank(grandchild), MPI_ERR_RANK);
    CHECK_EQ(first.calls, 3);

    CHECK_OK(MPI_Comm_call_errhandler(grandchild, MPI_ERR_OTHER));
    CHECK_EQ(first.calls, 4);
    CHECK_EQ(first.class, MPI_ERR_OTHER);
    CHECK_OK(MPI_Comm_free(&grandchild));
    CHECK_OK(MPI_Comm_free(&dup));
}

// Errors of a request go to its communicator.
static void of_requests(void) {
    MPI_Errhandler a = MPI_ERRHANDLER_NULL;
    MPI_Comm dup = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int big[4] = {1, 2, 3, 4}, small[1] = {0}, before = first.calls;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    CHECK_OK(MPI_Comm_create_errhandler(note_first, &a));
    CHECK_OK(MPI_Comm_set_errhandler(dup, a));
    CHECK_OK(MPI_Errhandler_free(&a));
    CHECK_OK(MPI_Irecv(small, 1, MPI_INT, 0, 3, dup, &request));
    CHECK_OK(MPI_Send(big, 4, MPI_INT, 0, 3, dup));
    CHECK_AFTER_HANDLER(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_EQ(first.calls, before + 1);
    CHECK_EQ(first.class, MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_free(&dup));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    defaults();
    returning();
    user_functions();
    of_requests();
    return check_finish();
}
