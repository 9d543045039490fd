// Takes info keys and values from a file and gives them to every kind of call that reads an info object. A call may refuse
// them with an error of a class that fits; it may not end the program or hang.
//
//   infos FILE      lines of KEY, a NUL, VALUE, a NUL, and so on
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char bytes[1 << 20];

static void fail(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "infos: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// Returns 1 if the call succeeded; an error has to be one that an info object can cause.
static int fits(const char *what, int code) {
    int class = MPI_SUCCESS;
    if (code == MPI_SUCCESS) return 1;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_INFO && class != MPI_ERR_INFO_KEY && class != MPI_ERR_INFO_VALUE && class != MPI_ERR_ARG) fail(what, code);
    return 0;
}

// Sets a key and reads it back: what is accepted is kept unchanged.
static void keep(MPI_Info info, const char *key, const char *value) {
    if (!fits("MPI_Info_set", MPI_Info_set(info, key, value))) return;
    char back[MPI_MAX_INFO_VAL + 1];
    int flag = 0, length = sizeof back;
    int code = MPI_Info_get_string(info, key, &length, back, &flag);
    if (code != MPI_SUCCESS) fail("MPI_Info_get_string", code);
    // Spaces around a key and a value may be left out.
    if (!flag || strstr(value, back) == NULL) fail("another value came back", MPI_ERR_INFO_VALUE);
}

static MPI_Info read_info(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail(path, MPI_ERR_NO_SUCH_FILE);
    size_t length = fread(bytes, 1, sizeof bytes - 2, file);
    fclose(file);
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t at = 0; at < length;) {
        const char *key = bytes + at, *value = key + strlen(key) + 1;
        keep(info, key, value < bytes + length ? value : "");
        at = (size_t)(value - bytes) + strlen(value) + 1;
    }
    return info;
}

static void communicators(MPI_Info info) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info in_use;
    if (fits("MPI_Comm_dup_with_info", MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm))) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        fits("MPI_Comm_set_info", MPI_Comm_set_info(comm, info));
        if (fits("MPI_Comm_get_info", MPI_Comm_get_info(comm, &in_use))) MPI_Info_free(&in_use);
        int rank, size, data = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        int code = MPI_Sendrecv_replace(&data, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) fail("MPI_Sendrecv_replace", code);
        MPI_Comm_free(&comm);
    }
    if (fits("MPI_Comm_split_type", MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm)) && comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

static void windows(MPI_Info info) {
    MPI_Win win;
    MPI_Info in_use;
    void *memory;
    if (fits("MPI_Win_allocate", MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &memory, &win))) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        fits("MPI_Win_set_info", MPI_Win_set_info(win, info));
        if (fits("MPI_Win_get_info", MPI_Win_get_info(win, &in_use))) MPI_Info_free(&in_use);
        MPI_Win_free(&win);
    }
    if (fits("MPI_Win_allocate_shared", MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &memory, &win))) MPI_Win_free(&win);
    if (fits("MPI_Alloc_mem", MPI_Alloc_mem(64, info, &memory))) {
        memset(memory, 1, 64);
        MPI_Free_mem(memory);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc != 2) fail("one file is needed", MPI_ERR_ARG);
    MPI_Info info = read_info(argv[1]);
    communicators(info);
    windows(info);
    MPI_Session session;
    if (fits("MPI_Session_init", MPI_Session_init(info, MPI_ERRORS_RETURN, &session))) MPI_Session_finalize(&session);
    MPI_Info_free(&info);
    MPI_Finalize();
}
