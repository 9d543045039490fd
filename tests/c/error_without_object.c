// An error without an object calls the handler of MPI_COMM_SELF; until the program sets one there, that of MPI_COMM_WORLD.
// ranks: 1-2
// heddle: only
#include "check.h"

static MPI_Comm last = MPI_COMM_NULL;
static int calls;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)code;
    last = *comm;
    calls++;
}

// A predefined datatype cannot be freed, and belongs to no communicator.
static int wrong(void) {
    MPI_Datatype type = MPI_INT;
    return MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_CLASS(wrong(), MPI_ERR_TYPE);
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL);

    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    CHECK_CLASS(wrong(), MPI_ERR_TYPE);
    CHECK_EQ(calls, 1);
    CHECK(last == MPI_COMM_WORLD);
    // An invalid communicator is no object either.
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_EQ(calls, 2);
    CHECK(last == MPI_COMM_WORLD);

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_CLASS(wrong(), MPI_ERR_TYPE);
    CHECK_EQ(calls, 3);
    CHECK(last == MPI_COMM_SELF);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(wrong(), MPI_ERR_TYPE);
    CHECK_EQ(calls, 3);
    CHECK_OK(MPI_Errhandler_free(&handler));
    return check_finish();
}
