// A program may close descriptors that it did not open, as services do at their start. Its own files, which get the numbers,
// are never made longer, mapped or written by the library, nor closed. The job's memory is found again by its path; without
// one (`no_path`), windows are refused and collective operations go by messages.
// ranks: 1-4
// levels: single multiple
// variants: path no_path
// heddle: only
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 48, LONG = 40000 };

static int files[FILES];
static const char text[] = "the program's own\n";

static void close_all(void) {
    DIR *dir = opendir("/proc/self/fd");
    int numbers[1024], count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir)) && count < 1024;) {
        int number = atoi(entry->d_name);
        if (number > 2 && number != dirfd(dir)) numbers[count++] = number;
    }
    if (dir) closedir(dir);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) close(numbers[i]);
}

static void open_own(void) {
    char name[] = "/tmp/heddle-closed-XXXXXX";
    int first = mkstemp(name);
    CHECK(first > 2);
    unlink(name);
    CHECK_EQ(write(first, text, sizeof text), sizeof text);
    files[0] = first;
    for (int i = 1; i < FILES; i++) files[i] = dup(first);
}

static void check_own(const char *when) {
    char found[sizeof text + 1] = "";
    struct stat status;
    for (int i = 0; i < FILES; i++) {
        if (!check_that(fstat(files[i], &status) == 0, __FILE__, __LINE__, when)) return;
    }
    if (!CHECK_EQ(status.st_size, sizeof text)) fprintf(stderr, "that was after %s\n", when);
    CHECK_EQ(pread(files[0], found, sizeof found, 0), sizeof text);
    check_that(memcmp(found, text, sizeof text) == 0, __FILE__, __LINE__, when);
}

static void collectives(MPI_Comm comm) {
    static int in[LONG], out[LONG];
    static const int sizes[] = {1, 100, LONG};
    for (int i = 0; i < LONG; i++) in[i] = i;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int round = 0; round < 5; round++) {
            CHECK_OK(MPI_Allreduce(in, out, sizes[s], MPI_INT, MPI_SUM, comm));
            CHECK_EQ(out[sizes[s] - 1], (sizes[s] - 1) * check_size);
            CHECK_OK(MPI_Barrier(comm));
        }
    }
}

static void windows(bool possible) {
    int *memory = NULL, *shared = NULL, *mine = NULL, next = (check_rank + 1) % check_size, value = check_rank, got = -1;
    MPI_Win win;
    int code = MPI_Win_allocate(1 << 20, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (!possible) {
        CHECK_CLASS(code, MPI_ERR_NO_MEM);
        code = MPI_Win_allocate_shared(1 << 20, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
        CHECK_CLASS(code, MPI_ERR_NO_MEM);
        return;
    }
    CHECK_OK(code);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, 5, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[5], (check_rank + check_size - 1) % check_size);
    CHECK_OK(MPI_Win_free(&win));
    check_own("MPI_Win_free");
    CHECK_OK(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &mine));
    mine[3] = check_rank;
    CHECK_OK(MPI_Win_create(mine, 1 << 20, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, next, 3, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(got, next);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Free_mem(mine));
}

int main(int argc, char **argv) {
    bool path = strcmp(argv[argc - 1], "no_path") != 0;
    MPI_Comm comm;
    if (!path) unsetenv("HEDDLE_JOB_PATH");
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    close_all();
    open_own();
    collectives(MPI_COMM_WORLD);
    check_own("collective operations");
    windows(path);
    check_own("windows");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    collectives(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    check_own("a communicator");
    CHECK_OK(MPI_Finalize());
    check_own("MPI_Finalize");
    return check_status();
}
