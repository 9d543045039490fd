// Errors of files that are not open run the handler of MPI_FILE_NULL, which returns by default.
// ranks: 1-2
// heddle: only
#include "check.h"

static int calls, class_seen;
static MPI_File file_seen;

static void note(MPI_File *file, int *code, ...) {
    file_seen = *file;
    MPI_Error_class(*code, &class_seen);
    calls++;
}

int main(int argc, char **argv) {
    MPI_File file = MPI_FILE_NULL, garbage = (MPI_File)(intptr_t)123456;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL;
    MPI_Offset size;
    check_start(argc, argv);
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);

    // The handler of the communicator, which would end the job, is not called.
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/nonexistent/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(file == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_delete("/nonexistent/x", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_call_errhandler(garbage, MPI_ERR_IO), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_errhandler(garbage, MPI_ERRORS_RETURN), MPI_ERR_FILE);

    CHECK_OK(MPI_File_create_errhandler(note, &handler));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == handler);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(calls, 1);
    CHECK_EQ(class_seen, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(file_seen == MPI_FILE_NULL);
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    CHECK_EQ(calls, 2);
    CHECK_EQ(class_seen, MPI_ERR_IO);

    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void (*)(void))note, &handler));
    CHECK_CLASS(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_ERR_ERRHANDLER);
    CHECK_OK(MPI_Errhandler_free(&handler));
    return check_finish();
}
