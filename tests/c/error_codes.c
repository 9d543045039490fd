// Error classes, codes and strings, predefined and added by the program.
// abi: standard the numbers of the classes have gaps
#include "check.h"

static void predefined(void) {
    char text[MPI_MAX_ERROR_STRING];
    for (int class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++) {
        int back = -1, len = -1;
        CHECK_OK(MPI_Error_class(class, &back));
        CHECK_EQ(back, class);
        memset(text, '#', sizeof text);
        CHECK_OK(MPI_Error_string(class, text, &len));
        CHECK(len > 0 && len < MPI_MAX_ERROR_STRING);
        CHECK_EQ(strnlen(text, sizeof text), len);
    }
}

static int last_used(void) {
    int *value = NULL, flag = 0;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    return flag ? *value : -1;
}

static void added(void) {
    int class = -1, code = -1, lone = -1, back = -1, len = -1;
    char text[MPI_MAX_ERROR_STRING];
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    CHECK(last_used() >= class);
    CHECK_OK(MPI_Error_class(class, &back));
    CHECK_EQ(back, class);

    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK(code != class);
    CHECK_OK(MPI_Error_class(code, &back));
    CHECK_EQ(back, class);

    // Without a string of its own an added code has the empty one.
    CHECK_OK(MPI_Error_string(code, text, &len));
    CHECK_EQ(len, 0);
    CHECK_EQ(text[0], 0);
    CHECK_OK(MPI_Add_error_string(class, "the loom stands still"));
    CHECK_OK(MPI_Add_error_string(code, "the shuttle is empty"));
    CHECK_OK(MPI_Error_string(class, text, &len));
    CHECK(strcmp(text, "the loom stands still") == 0);
    CHECK_EQ(len, strlen(text));
    CHECK_OK(MPI_Error_string(code, text, &len));
    CHECK(strcmp(text, "the shuttle is empty") == 0);
    CHECK_OK(MPI_Add_error_string(code, "refilled"));
    CHECK_OK(MPI_Error_string(code, text, &len));
    CHECK(strcmp(text, "refilled") == 0);

    // A new code for a predefined class.
    CHECK_OK(MPI_Add_error_code(MPI_ERR_TAG, &lone));
    CHECK_OK(MPI_Error_class(lone, &back));
    CHECK_EQ(back, MPI_ERR_TAG);
    CHECK(lone > MPI_ERR_LASTCODE);
}

static void removed(void) {
    int class = -1, code = -1;
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "soon gone"));
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_class(class));
}

// Handlers see the added code unchanged.
static int seen;
static void remember(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    seen = *code;
}

static void through_a_handler(void) {
    int class = -1, code = -1;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Comm_create_errhandler(remember, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, code));
    CHECK_EQ(seen, code);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

static void bad(void) {
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int back = -1;
    if (oracle) return;
    CHECK(MPI_Error_class(-77, &back) != MPI_SUCCESS || back == MPI_ERR_UNKNOWN);
    CHECK(MPI_Add_error_string(MPI_ERR_TAG, "predefined classes keep their text") != MPI_SUCCESS);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    predefined();
    added();
    removed();
    through_a_handler();
    bad();
    return check_finish();
}
