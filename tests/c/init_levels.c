// Every thread level: what is asked for and what is provided, and what may be called before and after.
#include "threads.h"

static void main_thread_is_elsewhere(int index, void *shared) {
    (void)index;
    int *flag = shared;
    CHECK_OK(MPI_Is_thread_main(flag));
}

int main(int argc, char **argv) {
    int flag = -1, version = 0, subversion = 0, len = 0;
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];

    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    /* Another library's header may be that of an older standard. */
    CHECK(version > MPI_VERSION || (version == MPI_VERSION && subversion == MPI_SUBVERSION));
    CHECK_OK(MPI_Get_library_version(library, &len));
    CHECK_EQ(strlen(library), len);

    int level = check_level_asked(argc, argv), provided = -1, queried = -1;
    CHECK_OK(MPI_Init_thread(&argc, &argv, level, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK(provided >= level && provided <= MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Query_thread(&queried));
    CHECK_EQ(queried, provided);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    flag = 0;
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 1);
    if (level > MPI_THREAD_SINGLE) {
        flag = 1;
        threads_run(1, main_thread_is_elsewhere, &flag);
        CHECK_EQ(flag, 0);
    }
    // The arguments are ours and unchanged.
    CHECK_EQ(argc, 2);
    CHECK(argv[argc] == NULL);

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Get_version(&version, &subversion));
    return check_status();
}
