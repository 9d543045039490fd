// MPI_T: all variables can be listed and read, before MPI_Init and after; unknown ones are an error, never a crash.
// ranks: 1-2
#include "check.h"

enum { ROOM = 1024 };

static void list_cvars(void) {
    int number = 0;
    CHECK_OK(MPI_T_cvar_get_num(&number));
    CHECK(number >= 10);
    for (int i = 0; i < number; i++) {
        char name[ROOM], text[ROOM], small[4];
        int name_len = ROOM, text_len = ROOM, small_len = sizeof small, verbosity = -1, bind = -1, scope = -1, index = -1, count = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum items = MPI_T_ENUM_NULL;
        CHECK_OK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &items, text, &text_len, &bind, &scope));
        CHECK_EQ(name_len, strlen(name) + 1);
        CHECK_EQ(text_len, strlen(text) + 1);
        CHECK(strncmp(name, "heddle_", 7) == 0);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        if (strcmp(name, "heddle_model") == 0)
            CHECK_EQ(verbosity, MPI_T_VERBOSITY_USER_BASIC);
        else if (strcmp(name, "heddle_barrier_algorithm") == 0)
            CHECK_EQ(verbosity, MPI_T_VERBOSITY_TUNER_DETAIL);
        else if (strcmp(name, "heddle_lifetime") == 0)
            CHECK_EQ(verbosity, MPI_T_VERBOSITY_MPIDEV_DETAIL);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK_OK(MPI_T_cvar_get_info(i, small, &small_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(strlen(small) == 3 && strncmp(small, name, 3) == 0);
        CHECK_EQ(small_len, name_len);
        CHECK_OK(MPI_T_cvar_get_index(name, &index));
        CHECK_EQ(index, i);
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        CHECK_OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        union { char text[ROOM]; int number; } value = {.number = -7};
        CHECK(count > 0 && count < ROOM);
        CHECK_OK(MPI_T_cvar_read(handle, &value));
        if (items != MPI_T_ENUM_NULL) {
            int items_number = 0, item = -1, item_len = ROOM;
            CHECK(type == MPI_INT);
            CHECK_OK(MPI_T_enum_get_info(items, &items_number, text, &text_len));
            CHECK(value.number >= 0 && value.number < items_number);
            for (int j = 0; j < items_number; j++) {
                CHECK_OK(MPI_T_enum_get_item(items, j, &item, text, &item_len));
                CHECK_EQ(item, j);
                CHECK_EQ(item_len, strlen(text) + 1);
                item_len = ROOM;
            }
            CHECK_CLASS(MPI_T_enum_get_item(items, items_number, &item, text, &item_len), MPI_T_ERR_INVALID_INDEX);
        } else {
            CHECK(type == MPI_CHAR ? value.text[0] != '\0' && count > 1 : type == MPI_UNSIGNED && value.number >= 0);
        }
        CHECK_OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK_CLASS(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CLASS(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    int nowhere;
    CHECK_CLASS(MPI_T_cvar_get_index("heddle", &nowhere), MPI_T_ERR_INVALID_NAME);
    CHECK_CLASS(MPI_T_cvar_get_index("heddle_vnis", NULL), MPI_T_ERR_INVALID);
}

static void list_pvars(void) {
    int number = 0;
    MPI_T_pvar_session session, other;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_session_create(&other));
    CHECK_OK(MPI_T_pvar_get_num(&number));
    CHECK(number >= 20);
    for (int i = 0; i < number; i++) {
        char name[ROOM], text[ROOM];
        int name_len = ROOM, text_len = ROOM, verbosity, class, bind, readonly, continuous, atomic, index = -1, count = 0;
        MPI_Datatype type;
        MPI_T_enum items;
        CHECK_OK(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &items, text, &text_len, &bind, &readonly,
                                     &continuous, &atomic));
        CHECK(strncmp(name, "heddle_", 7) == 0);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(items == MPI_T_ENUM_NULL);
        CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
        CHECK_EQ(index, i);
        CHECK_CLASS(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index), MPI_T_ERR_INVALID_NAME);
        MPI_T_pvar_handle handle;
        CHECK_OK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count));
        CHECK(count == 1 || count == 64);
        union { unsigned long long counts[64]; double reals[64]; } value;
        CHECK_OK(MPI_T_pvar_read(session, handle, &value));
        CHECK_CLASS(MPI_T_pvar_read(other, handle, &value), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID);
        if (readonly) {
            CHECK(continuous && !atomic);
            CHECK_CLASS(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
            CHECK_CLASS(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
            CHECK_CLASS(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
            CHECK_CLASS(MPI_T_pvar_write(session, handle, &value), MPI_T_ERR_PVAR_NO_WRITE);
            CHECK_CLASS(MPI_T_pvar_readreset(session, handle, &value), MPI_T_ERR_PVAR_NO_WRITE);
        } else {
            // It was never started, so it keeps its first value.
            for (int j = 0; j < count; j++) CHECK(type == MPI_DOUBLE ? value.reals[j] == 0 : value.counts[j] == 0);
            for (int j = 0; j < count; j++) {
                if (type == MPI_DOUBLE) value.reals[j] = j + 0.5;
                else value.counts[j] = j + 5;
            }
            CHECK_OK(MPI_T_pvar_write(session, handle, &value));
            memset(&value, 0, sizeof value);
            CHECK_OK(MPI_T_pvar_readreset(session, handle, &value));
            for (int j = 0; j < count; j++) CHECK(type == MPI_DOUBLE ? value.reals[j] == j + 0.5 : value.counts[j] == j + 5ull);
            CHECK_OK(MPI_T_pvar_read(session, handle, &value));
            CHECK(type == MPI_DOUBLE ? value.reals[0] == 0 : value.counts[0] == 0);
        }
        if (i % 2 == 0) CHECK_OK(MPI_T_pvar_handle_free(session, &handle));
    }
    CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK_OK(MPI_T_pvar_session_free(&other));
    CHECK_CLASS(MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                MPI_T_ERR_INVALID_INDEX);
}

enum { CVARS, PVARS, EVENTS, KINDS, MOST = 1024 };

// How many categories list a variable or event.
static int homes[KINDS][MOST];

static void count_homes(int kind, const int *indices, int number) {
    for (int i = 0; i < number; i++) {
        if (CHECK(indices[i] >= 0 && indices[i] < MOST)) homes[kind][indices[i]]++;
    }
}

// Every variable and event is in one category; the names of the others are printed.
static void check_homes(void) {
    int numbers[KINDS] = {0};
    CHECK_OK(MPI_T_cvar_get_num(&numbers[CVARS]));
    CHECK_OK(MPI_T_pvar_get_num(&numbers[PVARS]));
    CHECK_OK(MPI_T_event_get_num(&numbers[EVENTS]));
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK(numbers[kind] > 0 && numbers[kind] < MOST);
        for (int i = 0; i < numbers[kind]; i++) {
            if (CHECK_EQ(homes[kind][i], 1)) continue;
            char name[ROOM] = "";
            int len = ROOM;
            if (kind == CVARS) MPI_T_cvar_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            else if (kind == PVARS) MPI_T_pvar_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            else MPI_T_event_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            fprintf(stderr, "%s is in %d categories\n", name, homes[kind][i]);
        }
        for (int i = numbers[kind]; i < MOST; i++) CHECK_EQ(homes[kind][i], 0);
    }
}

static void list_categories(void) {
    int number = 0, categories = 0, events = -1, changed = -1;
    memset(homes, 0, sizeof homes);
    CHECK_OK(MPI_T_category_get_num(&number));
    CHECK_OK(MPI_T_category_changed(&changed));
    for (int i = 0; i < number; i++) {
        char name[ROOM], text[ROOM];
        int name_len = ROOM, text_len = ROOM, c, p, k, index = -1, indices[ROOM];
        CHECK_OK(MPI_T_category_get_info(i, name, &name_len, text, &text_len, &c, &p, &k));
        CHECK_OK(MPI_T_category_get_index(name, &index));
        CHECK_EQ(index, i);
        CHECK_OK(MPI_T_category_get_num_events(i, &events));
        CHECK(c < ROOM && p < ROOM && k < ROOM);
        CHECK_OK(MPI_T_category_get_cvars(i, c, indices));
        for (int j = 0; j < c; j++) CHECK_OK(MPI_T_cvar_get_info(indices[j], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        count_homes(CVARS, indices, c);
        CHECK_OK(MPI_T_category_get_pvars(i, p, indices));
        count_homes(PVARS, indices, p);
        CHECK_OK(MPI_T_category_get_categories(i, k, indices));
        for (int j = 0; j < k; j++) CHECK(indices[j] > 0 && indices[j] < number);
        CHECK(events >= 0 && events < ROOM);
        CHECK_OK(MPI_T_category_get_events(i, events, indices));
        count_homes(EVENTS, indices, events);
        // A part of the list, none of it, and a length that cannot be.
        if (events > 0) CHECK_OK(MPI_T_category_get_events(i, 1, indices));
        CHECK_OK(MPI_T_category_get_events(i, 0, NULL));
        CHECK_CLASS(MPI_T_category_get_events(i, -1, indices), MPI_T_ERR_INVALID);
        categories += k;
    }
    CHECK_EQ(categories, number - 1);
    check_homes();
    int all;
    CHECK_CLASS(MPI_T_category_get_num_events(number, &all), MPI_T_ERR_INVALID_INDEX);
    CHECK_CLASS(MPI_T_category_get_events(number, 0, &all), MPI_T_ERR_INVALID_INDEX);
    CHECK_CLASS(MPI_T_category_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CLASS(MPI_T_category_get_index("nothing", &all), MPI_T_ERR_INVALID_NAME);
}

static void garbage(void) {
    int number = -1, len = ROOM;
    char text[ROOM];
    for (uintptr_t word = 0; word < 0x3000; word += word < 16 ? 1 : 0x7f) {
        CHECK_CLASS(MPI_T_pvar_start((MPI_T_pvar_session)word, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
        CHECK_CLASS(MPI_T_cvar_read((MPI_T_cvar_handle)word, text), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_cvar_write((MPI_T_cvar_handle)word, text), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_read((MPI_T_event_instance)word, 0, text), MPI_T_ERR_INVALID_HANDLE);
        MPI_T_cvar_handle handle = (MPI_T_cvar_handle)word;
        CHECK_CLASS(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
        if (word > 0x200) CHECK_CLASS(MPI_T_enum_get_info((MPI_T_enum)word, &number, text, &len), MPI_T_ERR_INVALID_HANDLE);
    }
    CHECK_CLASS(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, text, &len), MPI_T_ERR_INVALID_HANDLE);
}

static void everything(void) {
    list_cvars();
    list_pvars();
    list_categories();
    garbage();
}

int main(int argc, char **argv) {
    int number, provided = -1;
    CHECK_CLASS(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CLASS(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(provided >= MPI_THREAD_SINGLE);
    everything();
    check_start(argc, argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_T_finalize());
    everything();
    CHECK_OK(MPI_Finalize());
    everything();
    CHECK_OK(MPI_T_finalize());
    CHECK_CLASS(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    return check_status();
}
