// A function that is not built names itself in the string of its error code, whose class is MPI_ERR_UNSUPPORTED_OPERATION.
// ranks: 1
// heddle: only
#include "check.h"

static void names(int code, const char *function) {
    char text[MPI_MAX_ERROR_STRING];
    int len = -1, *last = NULL, flag = 0;
    CHECK_CLASS(code, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPI_Error_string(code, text, &len));
    if (!CHECK(strstr(text, function) != NULL)) fprintf(stderr, "  %s: %s\n", function, text);
    CHECK_EQ(len, strlen(text));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && code <= *last);
}

int main(int argc, char **argv) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    names(MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "MPI_File_open ");
    names(MPI_File_read_at_c(file, 0, NULL, 0, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at_c ");
    names(MPI_Comm_join(0, &comm), "MPI_Comm_join ");
    return check_finish();
}
