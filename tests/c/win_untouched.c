// Memory of windows and of MPI_Alloc_mem costs nothing until it is touched: the files in memory that the process has open do not grow
// by it, and no page of it exists; then those exist that were touched.
// ranks: 1-4
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 64 << 20, MOST_PAGES = SIZE / 4096 };

// Bytes of memory that the files have which live in memory alone, allocated or touched.
static long long bytes_in_files(void) {
    long long bytes = 0;
    for (int fd = 0; fd < 256; fd++) {
        char name[32], target[64] = "";
        struct stat status;
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        if (readlink(name, target, sizeof target - 1) < 0 || strncmp(target, "/memfd:", 7) != 0) continue;
        if (stat(name, &status) == 0) bytes += 512LL * status.st_blocks;
    }
    return bytes;
}

// The number of pages from an address on that exist, for whichever process.
static int existing(char *memory, size_t page, int pages) {
    static unsigned char exists[MOST_PAGES];
    int count = 0;
    CHECK_EQ(mincore(memory, (size_t)pages * page, exists), 0);
    for (int i = 0; i < pages; i++) count += exists[i] & 1;
    return count;
}

// The memory was made since the files had so many bytes.
static void costs_nothing(char *memory, long long before) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(bytes_in_files() - before < SIZE / 2);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    char *first = (char *)(((uintptr_t)memory + page - 1) / page * page);
    int pages = (int)(SIZE / page) - 1;
    CHECK_EQ(existing(first, page, pages), 0);
    for (int i = 0; i < 10; i++) first[(size_t)i * 50 * page] = 1;
    int after = existing(first, page, pages);
    // Where memory comes in huge pages a touch may get more than one.
    CHECK(after >= 10 && after < pages);
    CHECK_EQ(first[49 * page], 0);
}

static long long before_it(void) {
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    long long before = bytes_in_files();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return before;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    char *memory;
    MPI_Win win;
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    long long before = before_it();
    CHECK_OK(MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    costs_nothing(memory, before);
    CHECK_OK(MPI_Win_free(&win));
    before = before_it();
    CHECK_OK(MPI_Win_allocate_shared(SIZE, 1, MPI_INFO_NULL, machine, &memory, &win));
    costs_nothing(memory, before);
    CHECK_OK(MPI_Win_free(&win));
    before = before_it();
    CHECK_OK(MPI_Alloc_mem(SIZE, MPI_INFO_NULL, &memory));
    costs_nothing(memory, before);
    CHECK_OK(MPI_Free_mem(memory));
    CHECK_OK(MPI_Comm_free(&machine));
    return check_finish();
}
