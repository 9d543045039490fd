// Windows of every kind over the same amount of memory, for programs that do the same to all of them.
#ifndef WIN_FLAVORS_H
#define WIN_FLAVORS_H

#include "check.h"

enum { BY_ALLOCATE, BY_SHARED, BY_SHARED_APART, OVER_ALLOC_MEM, OVER_MALLOC, BY_DYNAMIC, FLAVORS };

static const char *const flavor_names[] = {"allocate", "shared", "shared, apart", "create over MPI_Alloc_mem", "create over malloc", "dynamic"};

struct flavored {
    MPI_Win win;
    int flavor;
    char *memory;
    size_t len;
    // What a displacement at each rank counts from: 0, or an address.
    MPI_Aint *bases;
};

// Returns true if other processes reach the memory of such windows by copies of the kernel's.
CHECK_UNUSED static bool is_private(int flavor) { return flavor == OVER_MALLOC || flavor == BY_DYNAMIC; }

// Returns true if all processes of a communicator can share memory.
CHECK_UNUSED static bool on_one_machine(MPI_Comm comm) {
    int size, here;
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    CHECK_OK(MPI_Comm_size(machine, &here));
    CHECK_OK(MPI_Comm_free(&machine));
    return here == size;
}

// Checks how many bytes accumulates of the window change at a time.
CHECK_UNUSED static void check_granularity(MPI_Win win, const char *bytes) {
    MPI_Info got;
    char value[32] = "";
    int len = sizeof value, flag;
    CHECK_OK(MPI_Win_get_info(win, &got));
    CHECK_OK(MPI_Info_get_string(got, "mpi_accumulate_granularity", &len, value, &flag));
    CHECK(flag && strcmp(value, bytes) == 0);
    CHECK_OK(MPI_Info_free(&got));
}

// A window of `len` bytes, all zero, in each process, with displacements in bytes.
CHECK_UNUSED static struct flavored flavored_make(int flavor, size_t len, MPI_Comm comm) {
    struct flavored made = {.win = MPI_WIN_NULL, .flavor = flavor, .len = len};
    MPI_Info info = MPI_INFO_NULL;
    int size;
    CHECK_OK(MPI_Comm_size(comm, &size));
    made.bases = check_alloc((size_t)size * sizeof *made.bases);
    bool shared = flavor == BY_SHARED || flavor == BY_SHARED_APART;
    switch (shared && !on_one_machine(comm) ? BY_ALLOCATE : flavor) {
    case BY_ALLOCATE:
        CHECK_OK(MPI_Win_allocate((MPI_Aint)len, 1, MPI_INFO_NULL, comm, &made.memory, &made.win));
        break;
    case BY_SHARED_APART:
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
        // fall through
    case BY_SHARED:
        CHECK_OK(MPI_Win_allocate_shared((MPI_Aint)len, 1, info, comm, &made.memory, &made.win));
        if (info != MPI_INFO_NULL) CHECK_OK(MPI_Info_free(&info));
        break;
    case OVER_ALLOC_MEM:
        CHECK_OK(MPI_Alloc_mem((MPI_Aint)len, MPI_INFO_NULL, &made.memory));
        CHECK_OK(MPI_Win_create(made.memory, (MPI_Aint)len, 1, MPI_INFO_NULL, comm, &made.win));
        break;
    case OVER_MALLOC:
        made.memory = check_alloc(len);
        CHECK_OK(MPI_Win_create(made.memory, (MPI_Aint)len, 1, MPI_INFO_NULL, comm, &made.win));
        break;
    default:
        made.memory = check_alloc(len);
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &made.win));
        CHECK_OK(MPI_Win_attach(made.win, made.memory, (MPI_Aint)len));
        MPI_Aint base;
        CHECK_OK(MPI_Get_address(made.memory, &base));
        CHECK_OK(MPI_Allgather(&base, 1, MPI_AINT, made.bases, 1, MPI_AINT, comm));
    }
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, made.win));
    memset(made.memory, 0, len);
    CHECK_OK(MPI_Win_unlock(rank, made.win));
    CHECK_OK(MPI_Barrier(comm));
    return made;
}

CHECK_UNUSED static void flavored_free(struct flavored *made) {
    if (made->flavor == BY_DYNAMIC) {
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, made->win));
        CHECK_OK(MPI_Win_detach(made->win, made->memory));
    }
    CHECK_OK(MPI_Win_free(&made->win));
    if (made->flavor == OVER_ALLOC_MEM) CHECK_OK(MPI_Free_mem(made->memory));
    if (is_private(made->flavor)) free(made->memory);
    free(made->bases);
}

#endif
