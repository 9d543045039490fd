// Memory of windows and of MPI_Alloc_mem costs nothing until it is touched: no page of it exists, then those that were touched do.
// ranks: 1-4
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4096 };

// The number of pages from an address on that exist, for whichever process.
static int existing(char *memory, size_t page, int pages) {
    static unsigned char exists[PAGES];
    int count = 0;
    CHECK_EQ(mincore(memory, (size_t)pages * page, exists), 0);
    for (int i = 0; i < pages; i++) count += exists[i] & 1;
    return count;
}

static void costs_nothing(char *memory, size_t page) {
    char *first = (char *)(((uintptr_t)memory + page - 1) / page * page);
    int pages = PAGES - 1;
    CHECK_EQ(existing(first, page, pages), 0);
    for (int i = 0; i < 10; i++) first[(size_t)i * 300 * page] = 1;
    int after = existing(first, page, pages);
    // Where memory comes in huge pages a touch may get more than one.
    CHECK(after >= 10 && after < pages);
    CHECK_EQ(first[299 * page], 0);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    MPI_Aint size = (MPI_Aint)(PAGES * page);
    char *memory;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    costs_nothing(memory, page);
    CHECK_OK(MPI_Win_free(&win));
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    CHECK_OK(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, machine, &memory, &win));
    costs_nothing(memory, page);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&machine));
    CHECK_OK(MPI_Alloc_mem(size, MPI_INFO_NULL, &memory));
    costs_nothing(memory, page);
    CHECK_OK(MPI_Free_mem(memory));
    return check_finish();
}
