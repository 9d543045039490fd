// HEDDLE_THREAD_LEVEL raises the thread level of a program that asks for less, and lowers none: seen by the level that MPI says
// and, at MPI_THREAD_MULTIPLE, by the critical sections that messages enter.
// ranks: 2
// levels: none
// models: default
// settings single-funneled: HEDDLE_THREAD_LEVEL=funneled
// settings single-serialized: HEDDLE_THREAD_LEVEL=serialized
// settings single-multiple: HEDDLE_THREAD_LEVEL=multiple
// settings serialized-multiple: HEDDLE_THREAD_LEVEL=multiple
// settings multiple-serialized: HEDDLE_THREAD_LEVEL=serialized
// heddle: only
#include "counters.h"
#include "sessions.h"
#include "threads.h"

enum { THREADS = 2, MESSAGES = 200 };

// The level that a word names.
static int level_of(const char *word, size_t len) {
    for (size_t l = 0; l < sizeof check_levels / sizeof *check_levels; l++) {
        if (strlen(check_levels[l].name) == len && strncmp(check_levels[l].name, word, len) == 0) return check_levels[l].level;
    }
    fprintf(stderr, "no thread level: %s\n", word);
    exit(2);
}

// The value of HEDDLE_THREAD_LEVEL as MPI_T says it.
static int level_set(void) {
    int provided, index = -1, count = 0, item = -1, value = -1, room = MPI_MAX_INFO_VAL;
    char name[MPI_MAX_INFO_VAL];
    MPI_T_cvar_handle handle;
    MPI_T_enum items;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_cvar_get_index("heddle_thread_level", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &item));
    CHECK_OK(MPI_T_enum_get_item(items, item, &value, name, &room));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
    return level_of(name, strlen(name));
}

static void exchange(int t, void *shared) {
    (void)shared;
    for (int i = 0; i < MESSAGES; i++) {
        int in = -1;
        CHECK_OK(MPI_Sendrecv(&i, 1, MPI_INT, 1 - check_rank, t, &in, 1, MPI_INT, 1 - check_rank, t, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
}

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1], *raised = strchr(variant, '-');
    if (!raised) return 2;
    int asked = level_of(variant, (size_t)(raised - variant)), least = level_of(raised + 1, strlen(raised + 1));
    int expected = asked > least ? asked : least, provided = -1, queried = -1;
    CHECK_EQ(level_set(), least);
    if (asked == MPI_THREAD_SINGLE) {
        CHECK_OK(MPI_Init(&argc, &argv));
    } else {
        CHECK_OK(MPI_Init_thread(&argc, &argv, asked, &provided));
        CHECK_EQ(provided, expected);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_OK(MPI_Query_thread(&queried));
    CHECK_EQ(queried, expected);

    // A session runs at the level of the process, too.
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session session = session_begin();
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get(info, "thread_level", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_EQ(strcmp(value, "MPI_THREAD_MULTIPLE") == 0, expected == MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Info_free(&info));
    session_end(&session);

    struct counter entries = counter_start("heddle_vni_acquisitions");
    if (expected == MPI_THREAD_MULTIPLE) {
        threads_run(THREADS, exchange, NULL);
    } else {
        exchange(0, NULL);
    }
    CHECK_EQ(counter_end(&entries) > 0, expected == MPI_THREAD_MULTIPLE);
    return check_finish();
}
