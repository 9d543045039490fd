// Windows as objects: attributes with callbacks, names, error handlers, hints, groups, integers for handles, queries of shared
// memory, windows that outlive their communicator, many windows at a time, thousands one after another in flat memory.
#include "win_flavors.h"

enum { MANY = 40 };

static struct {
    int copies, deletes;
    MPI_Win win;
    int keyval;
    void *value, *extra;
} seen;

static int delete_result = MPI_SUCCESS;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra) {
    seen.deletes++;
    seen.win = win, seen.keyval = keyval, seen.value = value, seen.extra = extra;
    return delete_result;
}

static MPI_Win small_window(MPI_Comm comm) {
    MPI_Win win;
    void *memory;
    CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

static void attributes(void) {
    MPI_Win win = small_window(MPI_COMM_WORLD);
    int keyval, other, flag = 7, value, extra, second;
    void *got = NULL;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, &extra));
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
    CHECK_OK(MPI_Win_get_attr(win, keyval, &got, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Win_set_attr(win, keyval, &value));
    CHECK_OK(MPI_Win_set_attr(win, other, &value));
    CHECK_OK(MPI_Win_get_attr(win, keyval, &got, &flag));
    CHECK(flag && got == &value);
    // A new value replaces the old one, which is deleted.
    seen.deletes = 0;
    CHECK_OK(MPI_Win_set_attr(win, keyval, &second));
    CHECK(seen.deletes == 1 && seen.win == win && seen.keyval == keyval && seen.value == &value && seen.extra == &extra);
    CHECK_OK(MPI_Win_delete_attr(win, keyval));
    CHECK(seen.deletes == 2 && seen.value == &second);
    CHECK_OK(MPI_Win_get_attr(win, keyval, &got, &flag));
    CHECK_EQ(flag, 0);
    // A delete function that fails keeps the attribute, and keeps the window from being freed.
    CHECK_OK(MPI_Win_set_attr(win, keyval, &value));
    delete_result = MPI_ERR_OTHER;
    CHECK(MPI_Win_delete_attr(win, keyval) != MPI_SUCCESS);
    if (!oracle) {
        MPI_Win before = win;
        CHECK(MPI_Win_free(&win) != MPI_SUCCESS);
        CHECK(win == before);
    }
    delete_result = MPI_SUCCESS;
    // The key's deletion waits for the attribute's.
    int key = keyval;
    CHECK_OK(MPI_Win_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Win_free_keyval(&other));
    seen.deletes = 0;
    MPI_Win handle = win;
    CHECK_OK(MPI_Win_free(&win));
    CHECK(seen.deletes == 1 && seen.win == handle && seen.keyval == key && seen.value == &value && seen.extra == &extra);
    // What belongs to other objects, and what is predefined.
    win = small_window(MPI_COMM_WORLD);
    int comm_key;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
    CHECK(MPI_Win_set_attr(win, comm_key, &value) != MPI_SUCCESS);
    CHECK(MPI_Win_get_attr(win, comm_key, &got, &flag) != MPI_SUCCESS);
    CHECK(MPI_Win_set_attr(win, MPI_WIN_BASE, &value) != MPI_SUCCESS);
    CHECK(MPI_Win_delete_attr(win, MPI_WIN_SIZE) != MPI_SUCCESS);
    CHECK(MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &got, &flag) != MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free_keyval(&comm_key));
    CHECK_OK(MPI_Win_free(&win));
}

static void names(void) {
    MPI_Win win = small_window(MPI_COMM_WORLD);
    char name[MPI_MAX_OBJECT_NAME] = "?", longest[MPI_MAX_OBJECT_NAME + 20];
    int len = -1;
    CHECK_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 0 && *name == '\0');
    CHECK_OK(MPI_Win_set_name(win, "a window"));
    CHECK_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 8 && strcmp(name, "a window") == 0);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    if (!oracle) {
        CHECK_OK(MPI_Win_set_name(win, longest));
        CHECK_OK(MPI_Win_get_name(win, name, &len));
        CHECK_EQ(len, MPI_MAX_OBJECT_NAME - 1);
    }
    CHECK_OK(MPI_Win_free(&win));
}

static struct {
    int calls, class;
    MPI_Win win;
} noted;

static void note(MPI_Win *win, int *code, ...) {
    noted.calls++;
    noted.win = *win;
    MPI_Error_class(*code, &noted.class);
}

static void error_handlers(void) {
    MPI_Win win, other;
    void *memory;
    MPI_Errhandler handler, got;
    CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Errhandler_free(&got));
    other = small_window(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_create_errhandler(note, &handler));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == handler);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler));
    int want = oracle ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
    CHECK_CLASS(MPI_Win_unlock(0, win), want);
    CHECK(noted.calls == 1 && noted.win == win && noted.class == MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(0, other), MPI_ERR_RMA_SYNC);
    CHECK_EQ(noted.calls, 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    int one = 1;
    // The oracle does not look at the end of the memory.
    if (!oracle) CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, 0, 61, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    if (!oracle) CHECK(noted.calls == 2 && noted.win == win && noted.class == MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_ACCESS));
    CHECK(noted.calls == (oracle ? 2 : 3) && noted.win == win && noted.class == MPI_ERR_ACCESS);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_free(&other));
}

static void hints(void) {
    MPI_Info info, got;
    char value[32] = "";
    int flag, len;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
    CHECK_OK(MPI_Info_set(info, "accumulate_ordering", "none"));
    CHECK_OK(MPI_Info_set(info, "mpi_accumulate_granularity", "8"));
    CHECK_OK(MPI_Info_set(info, "nonsense", "42"));
    MPI_Win win;
    void *memory;
    CHECK_OK(MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_get_info(win, &got));
    len = sizeof value;
    CHECK_OK(MPI_Info_get_string(got, "no_locks", &len, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    len = sizeof value;
    CHECK_OK(MPI_Info_get_string(got, "mpi_accumulate_granularity", &len, value, &flag));
    CHECK(oracle || (flag && strcmp(value, "8") == 0));
    CHECK_OK(MPI_Info_free(&got));
    if (!oracle) CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_OK(MPI_Info_set(info, "no_locks", "false"));
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Win_get_info(win, &got));
    len = sizeof value;
    CHECK_OK(MPI_Info_get_string(got, "no_locks", &len, value, &flag));
    CHECK(flag && (oracle || strcmp(value, "false") == 0));
    CHECK_OK(MPI_Info_free(&got));
    if (!oracle) CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    if (!oracle) CHECK_OK(MPI_Win_unlock(0, win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_free(&win));
}

// Integers for handles, and the group.
static void handles(void) {
    MPI_Win win = small_window(MPI_COMM_WORLD);
    if (!oracle) {
        int number = MPI_Win_toint(win);
        CHECK(MPI_Win_fromint(number) == win);
        CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    }
    MPI_Group of_win, of_world;
    int same;
    CHECK_OK(MPI_Win_get_group(win, &of_win));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &of_world));
    CHECK_OK(MPI_Group_compare(of_win, of_world, &same));
    CHECK_EQ(same, MPI_IDENT);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Group_size(of_win, &same));
    CHECK_EQ(same, check_size);
    CHECK_OK(MPI_Group_free(&of_win));
    CHECK_OK(MPI_Group_free(&of_world));
}

// The communicator goes before the window, which still works.
static void outlives(void) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    struct flavored at[FLAVORS];
    for (int flavor = 0; flavor < FLAVORS; flavor++) at[flavor] = flavored_make(flavor, 64, comm);
    CHECK_OK(MPI_Comm_free(&comm));
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        CHECK_OK(MPI_Win_fence(0, at[flavor].win));
        int own = flavor == BY_DYNAMIC ? check_rank : next;
        MPI_Aint disp = at[flavor].bases[own];
        CHECK_OK(MPI_Put(&check_rank, 1, MPI_INT, own, disp, 1, MPI_INT, at[flavor].win));
        CHECK_OK(MPI_Win_fence(0, at[flavor].win));
        int got;
        memcpy(&got, at[flavor].memory, sizeof got);
        CHECK_EQ(got, own == check_rank ? check_rank : before);
    }
    for (int flavor = FLAVORS - 1; flavor >= 0; flavor--) flavored_free(&at[flavor]);
}

static void queries(void) {
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        if (oracle && flavor != BY_SHARED && flavor != BY_SHARED_APART) continue;
        struct flavored at = flavored_make(flavor, 256, MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_set_errhandler(at.win, MPI_ERRORS_RETURN));
        CHECK_OK(MPI_Win_lock_all(0, at.win));
        at.memory[7] = (char)(check_rank + 1);
        CHECK_OK(MPI_Win_sync(at.win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Win_sync(at.win));
        CHECK_OK(MPI_Win_unlock_all(at.win));
        for (int rank = 0; rank < check_size; rank++) {
            MPI_Aint size = -1;
            int unit = -1;
            char *base = NULL;
            if (flavor == BY_DYNAMIC) {
                CHECK_CLASS(MPI_Win_shared_query(at.win, rank, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
                continue;
            }
            CHECK_OK(MPI_Win_shared_query(at.win, rank, &size, &unit, &base));
            CHECK_EQ(unit, 1);
            if (flavor == OVER_MALLOC && rank != check_rank) {
                CHECK_EQ(size, 0);
                continue;
            }
            CHECK_EQ(size, 256);
            CHECK_EQ(base[7], rank + 1);
            if (rank == check_rank) CHECK(base == at.memory);
            MPI_Aint far_unit = -1;
            CHECK_OK(MPI_Win_shared_query_c(at.win, MPI_PROC_NULL, &size, &far_unit, &base));
            CHECK(size == 256 && far_unit == 1 && base[7] == (flavor == OVER_MALLOC ? check_rank + 1 : 1));
        }
        MPI_Aint size;
        int unit;
        void *base;
        if (flavor != BY_DYNAMIC) CHECK_CLASS(MPI_Win_shared_query(at.win, check_size, &size, &unit, &base), MPI_ERR_RANK);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    // Nobody has memory; then only the last rank.
    for (int round = 0; round < 2; round++) {
        MPI_Win win;
        char *memory, *base = NULL;
        MPI_Aint size = -1, own = round == 1 && check_rank == check_size - 1 ? 100 : 0;
        int unit = -1;
        CHECK_OK(MPI_Win_allocate_shared(own, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base));
        CHECK_EQ(size, round == 1 ? 100 : 0);
        void *of_first = &base;
        CHECK_OK(MPI_Win_shared_query(win, 0, &size, &unit, &of_first));
        CHECK_EQ(of_first == NULL, size == 0);
        if (round == 1) {
            CHECK_EQ(unit, 4);
            if (own > 0) *base = 9;
            CHECK_OK(MPI_Win_fence(0, win));
            CHECK_EQ(*base, 9);
        }
        CHECK_OK(MPI_Win_free(&win));
    }
}

// Many windows of all kinds live at one time, and are freed in another order than they were made in.
static void many(void) {
    struct flavored at[MANY];
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < MANY; i++) at[i] = flavored_make(i % FLAVORS, 64 + (size_t)i * 1000, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) CHECK_OK(MPI_Win_fence(0, at[i].win));
    for (int i = 0; i < MANY; i++) {
        int value = check_rank * 1000 + i;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, next, at[i].bases[next] + 8, 1, MPI_INT, at[i].win));
    }
    for (int i = MANY - 1; i >= 0; i--) CHECK_OK(MPI_Win_fence(0, at[i].win));
    for (int i = 0; i < MANY; i++) {
        int got;
        memcpy(&got, at[i].memory + 8, sizeof got);
        CHECK_EQ(got, before * 1000 + i);
    }
    for (int step = 0; step < 7; step++) {
        for (int i = step; i < MANY; i += 7) flavored_free(&at[i]);
    }
}

static int maps(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0;
    for (int c; file != NULL && (c = fgetc(file)) != EOF;) lines += c == '\n';
    if (file != NULL) fclose(file);
    return lines;
}

// The process's own memory: shared memory is in use and mapped for the rings as well.
static long own_kib(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "RssAnon: %ld", &kib);
    if (file != NULL) fclose(file);
    return kib;
}

static void come_and_go(void) {
    int lines = 0, count = check_size < 4 ? 2000 : 600;
    long own = 0;
    for (int i = 0; i < count; i++) {
        struct flavored at = flavored_make(i % FLAVORS, 10000, MPI_COMM_WORLD);
        memset(at.memory, 1, at.len);
        CHECK_OK(MPI_Win_fence(0, at.win));
        int target = is_private(at.flavor) ? check_rank : (check_rank + 1) % check_size;
        CHECK_OK(MPI_Put(&i, 1, MPI_INT, target, at.bases[target], 1, MPI_INT, at.win));
        CHECK_OK(MPI_Win_fence(0, at.win));
        flavored_free(&at);
        if (i == count / 4) lines = maps(), own = own_kib();
    }
    int more = maps() - lines;
    long grown = own_kib() - own;
    // Some windows may be kept until a later call frees them.
    if (!CHECK(oracle || more < 200 + 160 * check_size)) fprintf(stderr, "rank %d: %d more mappings\n", check_rank, more);
    if (!CHECK(oracle || grown < 2048)) fprintf(stderr, "rank %d grew by %ld KiB\n", check_rank, grown);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    attributes();
    names();
    error_handlers();
    hints();
    handles();
    outlives();
    queries();
    many();
    come_and_go();
    return check_finish();
}
