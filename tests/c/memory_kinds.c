// mpi_memory_alloc_kinds in the info objects of sessions, communicators and windows, what a program asks for, and what it
// promises with mpi_assert_memory_alloc_kinds; what mpiexec hands over in place of its own options.
// ranks: 1-3
// variants: plain asked
// heddle: only
#include "check.h"

static const char all[] = "system,mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared";
static char world_kinds[MPI_MAX_INFO_VAL];

static bool value_of(MPI_Info info, const char *key, char *value) {
    int len = MPI_MAX_INFO_VAL, flag = 0;
    *value = 0;
    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    return flag;
}

// An info object must say this, or nothing if it is null.
static void says(MPI_Info *info, const char *kinds, const char *asserted, int line) {
    char value[MPI_MAX_INFO_VAL];
    bool there = value_of(*info, "mpi_memory_alloc_kinds", value);
    if (!there || strcmp(value, kinds) != 0) check_failed(__FILE__, line, "mpi_memory_alloc_kinds", value);
    there = value_of(*info, "mpi_assert_memory_alloc_kinds", value);
    if (there != (asserted != NULL) || strcmp(value, asserted ? asserted : "") != 0)
        check_failed(__FILE__, line, "mpi_assert_memory_alloc_kinds", value);
    CHECK_OK(MPI_Info_free(info));
}

static void comm_says(MPI_Comm comm, const char *kinds, const char *asserted, int line) {
    MPI_Info info;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    says(&info, kinds, asserted, line);
}

static void win_says(MPI_Win win, const char *kinds, const char *asserted, int line) {
    MPI_Info info;
    CHECK_OK(MPI_Win_get_info(win, &info));
    says(&info, kinds, asserted, line);
}

static MPI_Info one(const char *key, const char *value) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    return info;
}

static void session(const char *asked, const char *gets) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info = one("mpi_memory_alloc_kinds", asked);
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(session, &info));
    says(&info, gets, NULL, __LINE__);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    comm_says(comm, gets, NULL, __LINE__);
    CHECK_OK(MPI_Comm_free(&comm));
    info = one("mpi_assert_memory_alloc_kinds", "mpi");
    CHECK_OK(MPI_Comm_create_from_group(group, "kinds", info, MPI_ERRORS_RETURN, &comm));
    comm_says(comm, "mpi", "mpi", __LINE__);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
}

static void communicators(void) {
    MPI_Comm comm, again;
    MPI_Info system = one("mpi_assert_memory_alloc_kinds", "system"), other = one("mpi_assert_memory_alloc_kinds", "system,cuda"),
             none = one("mpi_assert_memory_alloc_kinds", "");
    comm_says(MPI_COMM_SELF, world_kinds, NULL, __LINE__);
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, system, &comm));
    comm_says(comm, "system", "system", __LINE__);
    // A promise is no property of other communicators, and one that cannot be kept is ignored.
    CHECK_OK(MPI_Comm_dup(comm, &again));
    comm_says(again, world_kinds, NULL, __LINE__);
    CHECK_OK(MPI_Comm_set_info(again, other));
    comm_says(again, world_kinds, NULL, __LINE__);
    CHECK_OK(MPI_Comm_set_info(again, none));
    comm_says(again, "", "", __LINE__);
    CHECK_OK(MPI_Comm_set_info(again, system));
    comm_says(again, "system", "system", __LINE__);
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_free(&comm));
    // The predefined ones keep theirs: they stand for all others.
    CHECK_OK(MPI_Comm_set_info(MPI_COMM_WORLD, system));
    comm_says(MPI_COMM_WORLD, world_kinds, "system", __LINE__);
    MPI_Info kinds = one("mpi_memory_alloc_kinds", "cuda");
    CHECK_OK(MPI_Comm_set_info(MPI_COMM_SELF, kinds));
    comm_says(MPI_COMM_SELF, world_kinds, NULL, __LINE__);
    MPI_Info *infos[] = {&system, &other, &none, &kinds};
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Info_free(infos[i]));
}

static void windows(void) {
    MPI_Win win;
    void *base;
    MPI_Info mpi = one("mpi_assert_memory_alloc_kinds", "mpi:win_allocate"), other = one("mpi_assert_memory_alloc_kinds", "rocm");
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    win_says(win, world_kinds, NULL, __LINE__);
    CHECK_OK(MPI_Win_set_info(win, other));
    win_says(win, world_kinds, NULL, __LINE__);
    CHECK_OK(MPI_Win_set_info(win, mpi));
    win_says(win, "mpi:win_allocate", "mpi:win_allocate", __LINE__);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_create_dynamic(mpi, MPI_COMM_SELF, &win));
    win_says(win, "mpi:win_allocate", "mpi:win_allocate", __LINE__);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Info_free(&mpi));
    CHECK_OK(MPI_Info_free(&other));
}

int main(int argc, char **argv) {
    char value[MPI_MAX_INFO_VAL];
    bool asked = false;
    for (int i = 1; i < argc; i++) asked |= strcmp(argv[i], "asked") == 0;
    if (asked) {
        // mpiexec hands its options over by these.
        setenv("HEDDLE_MEMORY_ALLOC_KINDS", "cuda,mpi:alloc_mem:win_allocate", 1);
        setenv("HEDDLE_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    }
    // As the command line asks for it, whether supported or not, and before the start.
    CHECK_EQ(value_of(MPI_INFO_ENV, "mpi_memory_alloc_kinds", value), asked);
    CHECK(strcmp(value, asked ? "cuda,mpi:alloc_mem:win_allocate" : "") == 0);
    CHECK_EQ(value_of(MPI_INFO_ENV, "mpi_initial_errhandler", value), asked);
    CHECK(strcmp(value, asked ? "mpi_errors_return" : "") == 0);
    // The initial error handler is that of calls before the start, and of the predefined communicators.
    if (asked) CHECK_CLASS(MPI_Session_call_errhandler(MPI_SESSION_NULL, MPI_ERR_OTHER), MPI_ERR_SESSION);
    strcpy(world_kinds, all);
    if (asked) strcat(world_kinds, ",mpi:alloc_mem:win_allocate");
    session("system,mpi:win_allocate", all);
    session("cuda:device, mpi:win_allocate:alloc_mem", "system,mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared,mpi:win_allocate:alloc_mem");
    check_start(argc, argv);
    MPI_Comm predefined[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2; i++) {
        MPI_Errhandler handler;
        CHECK_OK(MPI_Comm_get_errhandler(predefined[i], &handler));
        CHECK(handler == (asked ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL));
    }
    if (asked) CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    comm_says(MPI_COMM_WORLD, world_kinds, NULL, __LINE__);
    windows();
    communicators();
    return check_finish();
}
