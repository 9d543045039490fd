// MPI_T events: their types can be listed; callbacks learn of matched and unexpected messages, of collections and of threads that sleep; events
// without a callback that is safe enough are dropped and counted; registrations end.
// ranks: 1-2
// heddle: only
// abi: standard callbacks of events get the standard's values of MPI_T_cb_safety
#include "threads.h"
#include <unistd.h>

enum { ROOM = 1024, MOST = 256, TAG = 1000 };

static bool multiple;

// What a callback has learned of a message.
struct message {
    unsigned long long context, bytes;
    int plane, source, tag, unexpected;
};

// What a registration has learned; its address is the user data.
struct seen {
    int event;
    MPI_T_event_registration registration;
    atomic_int calls, freed, drops, wrong;
    struct message messages[MOST];
    unsigned long long numbers[MOST];
    // True once the message or the number is written; a thread that comes later may be counted before that.
    atomic_bool there[MOST];
    MPI_Count last;
};

// Any thread may be in a callback.
#define RIGHT(cond) \
    if (!(cond)) atomic_fetch_add(&seen->wrong, 1), fprintf(stderr, "%s:%d: wrong in a callback: %s\n", __FILE__, __LINE__, #cond)

static int needed(void) { return multiple ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_MPI_RESTRICTED; }

static struct seen *check_call(MPI_T_event_instance instance, MPI_T_event_registration registration, int safety, void *user_data) {
    struct seen *seen = user_data;
    MPI_Count now = -1, then = -1;
    int source = -1, word = -1;
    // Under `offload` the library has threads of its own at every level.
    RIGHT(safety >= needed() && (safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED || safety == MPI_T_CB_REQUIRE_THREAD_SAFE));
    RIGHT(registration == seen->registration);
    RIGHT(MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS);
    RIGHT(MPI_T_event_get_timestamp(instance, &then) == MPI_SUCCESS);
    RIGHT(then > 0 && then <= now);
    RIGHT(MPI_T_event_get_source(instance, &source) == MPI_SUCCESS && source == 0);
    RIGHT(MPI_T_event_read(instance, 99, &word) == MPI_T_ERR_INVALID_INDEX);
    RIGHT(MPI_T_event_read(instance, -1, &word) == MPI_T_ERR_INVALID_INDEX);
    RIGHT(MPI_T_event_read(instance, 0, NULL) == MPI_T_ERR_INVALID);
    RIGHT(MPI_T_event_read((MPI_T_event_instance)((char *)instance + 8), 0, &now) == MPI_T_ERR_INVALID_HANDLE);
    RIGHT(MPI_T_event_copy(instance, NULL) == MPI_T_ERR_INVALID);
    return seen;
}

// Keeps the program's messages whose tags are the test's.
static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = check_call(instance, registration, safety, user_data);
    struct message it = {.unexpected = -1}, copy = {.unexpected = -1};
    RIGHT(MPI_T_event_read(instance, 0, &it.context) == MPI_SUCCESS);
    RIGHT(MPI_T_event_read(instance, 1, &it.bytes) == MPI_SUCCESS);
    RIGHT(MPI_T_event_read(instance, 2, &it.plane) == MPI_SUCCESS);
    RIGHT(MPI_T_event_read(instance, 3, &it.source) == MPI_SUCCESS);
    RIGHT(MPI_T_event_read(instance, 4, &it.tag) == MPI_SUCCESS);
    int last = MPI_T_event_read(instance, 5, &it.unexpected);
    RIGHT(last == (seen->event == 0 ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX));
    RIGHT(MPI_T_event_copy(instance, &copy) == MPI_SUCCESS);
    RIGHT(memcmp(&it, &copy, seen->event == 0 ? 32 : 28) == 0 && (seen->event == 0 || copy.unexpected == -1));
    if (it.plane != 0 || it.tag < TAG) return;
    int nth = atomic_fetch_add(&seen->calls, 1);
    if (nth < MOST) seen->messages[nth] = it, atomic_store(&seen->there[nth], true);
}

// Keeps the first element.
static void on_number(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = check_call(instance, registration, safety, user_data);
    unsigned long long number = 0;
    RIGHT(MPI_T_event_read(instance, 0, &number) == MPI_SUCCESS);
    int nth = atomic_fetch_add(&seen->calls, 1);
    if (nth < MOST) seen->numbers[nth] = number, atomic_store(&seen->there[nth], true);
}

static void on_any(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = check_call(instance, registration, safety, user_data);
    atomic_fetch_add(&seen->calls, 1);
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = user_data;
    RIGHT(registration == seen->registration);
    RIGHT(safety == MPI_T_CB_REQUIRE_NONE || safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED || safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
    atomic_fetch_add(&seen->freed, 1);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = user_data;
    RIGHT(registration == seen->registration && source == 0 && count > 0);
    (void)safety;
    atomic_fetch_add(&seen->drops, (int)count);
}

static int index_of(const char *name) {
    int index = -1;
    CHECK_OK(MPI_T_event_get_index(name, &index));
    return index;
}

static struct seen *begin_at(const char *name, int safety, MPI_T_event_cb_function *function) {
    struct seen *seen = check_alloc(sizeof *seen);
    seen->event = index_of(name);
    CHECK_OK(MPI_T_event_handle_alloc(seen->event, NULL, MPI_INFO_NULL, &seen->registration));
    CHECK_OK(MPI_T_event_register_callback(seen->registration, safety, MPI_INFO_NULL, seen, function));
    return seen;
}

static struct seen *begin(const char *name, MPI_T_event_cb_function *function) {
    return begin_at(name, MPI_T_CB_REQUIRE_THREAD_SAFE, function);
}

static void end(struct seen *seen) {
    CHECK_OK(MPI_T_event_handle_free(seen->registration, seen, on_free));
    // A library's own thread may be in a callback, and ends the registration afterwards.
    while (atomic_load(&seen->freed) == 0) continue;
    CHECK_EQ(atomic_load(&seen->freed), 1);
    CHECK_EQ(atomic_load(&seen->wrong), 0);
    CHECK_CLASS(MPI_T_event_handle_free(seen->registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    free(seen);
}

static void list(void) {
    int number = 0, sources = 0;
    CHECK_OK(MPI_T_event_get_num(&number));
    CHECK_EQ(number, 5);
    for (int i = 0; i < number; i++) {
        char name[ROOM], text[ROOM], small[4], names[MPI_MAX_INFO_VAL];
        int name_len = ROOM, text_len = ROOM, small_len = sizeof small, verbosity = -1, bind = -1, index = -1, elements = 16, flag = 0;
        int names_len = sizeof names;
        MPI_Datatype types[16];
        MPI_Aint places[16], next = 0;
        MPI_T_enum items = (MPI_T_enum)5;
        MPI_Info info = MPI_INFO_NULL;
        CHECK_OK(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, places, &elements, &items, &info, text, &text_len, &bind));
        CHECK(strncmp(name, "heddle_", 7) == 0 && name_len == (int)strlen(name) + 1 && text_len == (int)strlen(text) + 1);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(items == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT && elements > 0 && elements < 16);
        for (int j = 0; j < elements; j++) {
            CHECK(types[j] == MPI_INT || types[j] == MPI_UNSIGNED_LONG_LONG);
            CHECK_EQ(places[j], next);
            next = places[j] + (types[j] == MPI_INT ? 4 : 8);
        }
        CHECK_OK(MPI_Info_get_string(info, "heddle_elements", &names_len, names, &flag));
        int words = flag;
        for (char *at = names; flag && *at; at++) words += *at == ' ';
        CHECK_EQ(words, elements);
        CHECK_OK(MPI_Info_free(&info));
        // Arrays that are too short, and none.
        int one = 1, none = 0;
        types[1] = MPI_DATATYPE_NULL, places[1] = -1;
        CHECK_OK(MPI_T_event_get_info(i, small, &small_len, NULL, types, places, &one, NULL, NULL, NULL, NULL, NULL));
        CHECK(strlen(small) == 3 && small_len == name_len && one == elements && types[1] == MPI_DATATYPE_NULL && places[1] == -1);
        CHECK_OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &none, NULL, NULL, NULL, NULL, NULL));
        CHECK_EQ(none, elements);
        int negative = -1;
        CHECK_CLASS(MPI_T_event_get_info(i, NULL, NULL, NULL, types, places, &negative, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID);
        CHECK_OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK_OK(MPI_T_event_get_index(name, &index));
        CHECK_EQ(index, i);
    }
    for (int bad = -1; bad <= number; bad += number + 1) {
        MPI_T_event_registration registration;
        CHECK_CLASS(MPI_T_event_get_info(bad, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        CHECK_CLASS(MPI_T_event_handle_alloc(bad, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
    }
    CHECK_CLASS(MPI_T_event_get_index("heddle", &number), MPI_T_ERR_INVALID_NAME);
    CHECK_CLASS(MPI_T_event_get_index("heddle_collection", NULL), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);

    CHECK_OK(MPI_T_source_get_num(&sources));
    CHECK_EQ(sources, 1);
    char name[ROOM], text[ROOM];
    int name_len = ROOM, text_len = ROOM;
    MPI_T_source_order order = 0;
    MPI_Count ticks = 0, most = 0, now = 0, later = 0;
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_T_source_get_info(0, name, &name_len, text, &text_len, &order, &ticks, &most, &info));
    CHECK(name_len == (int)strlen(name) + 1 && text_len == (int)strlen(text) + 1 && order == MPI_T_SOURCE_UNORDERED);
    CHECK(ticks == 1000000000 && most > ticks);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_source_get_timestamp(0, &now));
    CHECK_OK(MPI_T_source_get_timestamp(0, &later));
    CHECK(now > 0 && later >= now);
    for (int bad = -1; bad <= 1; bad += 2) {
        CHECK_CLASS(MPI_T_source_get_info(bad, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        CHECK_CLASS(MPI_T_source_get_timestamp(bad, &now), MPI_T_ERR_INVALID_INDEX);
    }
    CHECK_CLASS(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
}

static void registrations(void) {
    static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                 MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
    MPI_T_event_registration registration, none;
    MPI_Info info = MPI_INFO_NULL, bad = (MPI_Info)(uintptr_t)0x7fffffff;
    int keys = -1;
    memset(&none, 0, sizeof none);
    CHECK_CLASS(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_event_handle_alloc(0, NULL, bad, &registration), MPI_ERR_INFO);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_such_hint", "1"));
    CHECK_OK(MPI_T_event_handle_alloc(0, NULL, info, &registration));
    CHECK_OK(MPI_T_event_handle_set_info(registration, info));
    CHECK_CLASS(MPI_T_event_handle_set_info(registration, bad), MPI_ERR_INFO);
    for (int i = 0; i < 4; i++) {
        MPI_Info used = MPI_INFO_NULL;
        CHECK_CLASS(MPI_T_event_callback_get_info(registration, levels[i], &used), MPI_T_ERR_INVALID);
        CHECK_CLASS(MPI_T_event_callback_set_info(registration, levels[i], info), MPI_T_ERR_INVALID);
        CHECK_CLASS(MPI_T_event_register_callback(registration, levels[i], bad, NULL, on_any), MPI_ERR_INFO);
        CHECK_OK(MPI_T_event_register_callback(registration, levels[i], info, NULL, on_any));
        CHECK_OK(MPI_T_event_callback_get_info(registration, levels[i], &used));
        CHECK_OK(MPI_Info_get_nkeys(used, &keys));
        CHECK_EQ(keys, 0);
        CHECK_OK(MPI_Info_free(&used));
        CHECK_CLASS(MPI_T_event_callback_get_info(registration, levels[i], NULL), MPI_T_ERR_INVALID);
        CHECK_OK(MPI_T_event_callback_set_info(registration, levels[i], info));
        CHECK_CLASS(MPI_T_event_callback_set_info(registration, levels[i], bad), MPI_ERR_INFO);
        CHECK_OK(MPI_T_event_register_callback(registration, levels[i], MPI_INFO_NULL, NULL, NULL));
        CHECK_CLASS(MPI_T_event_callback_get_info(registration, levels[i], &used), MPI_T_ERR_INVALID);
    }
    CHECK_CLASS(MPI_T_event_register_callback(registration, 7, MPI_INFO_NULL, NULL, on_any), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_event_callback_get_info(registration, 7, &info), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_event_handle_get_info(registration, &info));
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_EQ(keys, 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_T_event_handle_get_info(registration, NULL), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_T_event_set_dropped_handler(registration, NULL));
    CHECK_OK(MPI_T_event_handle_free(registration, NULL, NULL));
    // A registration that has ended, and none.
    for (int i = 0; i < 2; i++, registration = none) {
        CHECK_CLASS(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_handle_get_info(registration, &info), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_callback_get_info(registration, 0, &info), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_callback_set_info(registration, 0, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_register_callback(registration, 0, MPI_INFO_NULL, NULL, on_any), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_set_dropped_handler(registration, on_dropped), MPI_T_ERR_INVALID_HANDLE);
    }
    // No event is told of outside of callbacks.
    long long word = 0;
    MPI_Count time = 0;
    for (uintptr_t guess = 0; guess < 0x3000; guess += 0x1ff) {
        MPI_T_event_instance instance = guess == 0x1ff ? (MPI_T_event_instance)&word : (MPI_T_event_instance)guess;
        CHECK_CLASS(MPI_T_event_read(instance, 0, &word), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_copy(instance, &word), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
        CHECK_CLASS(MPI_T_event_get_source(instance, &keys), MPI_T_ERR_INVALID_HANDLE);
    }
}

// The message with that tag, of which a registration has learned once.
static void check_message(struct seen *seen, int tag, unsigned long long bytes, int source, int unexpected) {
    int found = 0;
    for (int i = 0; i < atomic_load(&seen->calls) && i < MOST; i++) {
        struct message *it = &seen->messages[i];
        if (!atomic_load(&seen->there[i]) || it->tag != tag) continue;
        found++;
        CHECK_EQ(it->bytes, bytes);
        CHECK_EQ(it->source, source);
        // Whether a message came before its receive is not always known.
        if (unexpected >= 0 && seen->event == 0) CHECK_EQ(it->unexpected, unexpected);
    }
    if (!CHECK_EQ(found, 1)) fprintf(stderr, "tag %d, event %d\n", tag, seen->event);
}

// Messages to this process, of which it is known whether they come first.
static void messages_to_self(MPI_Comm comm) {
    static const int sizes[] = {0, 1, 8, 40, 41, 5000, 100000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static char out[100000], in[100000];
    struct seen *matched = begin("heddle_message_matched", on_message), *unexpected = begin("heddle_message_unexpected", on_message);
    int me = -1, expected = 0;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    for (int i = 0; i < SIZES; i++) {
        MPI_Request requests[2];
        MPI_Message message;
        int tag = TAG + 10 * i, size = sizes[i];
        CHECK_OK(MPI_Irecv(in, size, MPI_BYTE, me, tag, comm, &requests[0]));
        CHECK_OK(MPI_Send(out, size, MPI_BYTE, me, tag, comm));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Isend(out, size, MPI_BYTE, me, tag + 1, comm, &requests[0]));
        CHECK_OK(MPI_Recv(in, sizeof in, MPI_BYTE, me, tag + 1, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Issend(out, size, MPI_BYTE, me, tag + 2, comm, &requests[0]));
        CHECK_OK(MPI_Irecv(in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, tag + 2, comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Isend(out, size, MPI_BYTE, me, tag + 3, comm, &requests[0]));
        int before = atomic_load(&matched->calls);
        CHECK_OK(MPI_Probe(me, tag + 3, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(atomic_load(&matched->calls), before);
        CHECK_OK(MPI_Mprobe(me, tag + 3, comm, &message, MPI_STATUS_IGNORE));
        // The probe has matched it.
        CHECK_EQ(atomic_load(&matched->calls), before + 1);
        CHECK_OK(MPI_Mrecv(in, size, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Sendrecv(out, size, MPI_BYTE, me, tag + 4, in, size, MPI_BYTE, me, tag + 4, comm, MPI_STATUS_IGNORE));
        expected += 5;
        for (int j = 0; j < 5; j++) check_message(matched, tag + j, size, me, j == 4 ? -1 : j != 0);
        for (int j = 1; j < 4; j++) check_message(unexpected, tag + j, size, me, -1);
        int early = 0;
        for (int j = 0; j < atomic_load(&unexpected->calls) && j < MOST; j++)
            early += atomic_load(&unexpected->there[j]) && unexpected->messages[j].tag == tag;
        CHECK_EQ(early, 0);
    }
    CHECK_EQ(atomic_load(&matched->calls), expected);
    end(matched);
    end(unexpected);
}

// Messages from the other process.
static void messages_of_two(void) {
    static const int sizes[] = {0, 1, 8, 40, 41, 5000, 100000, 3000000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static char data[3000000];
    MPI_Comm pair;
    int me;
    if (!check_pair(&pair, &me)) return;
    struct seen *matched = begin("heddle_message_matched", on_message), *unexpected = begin("heddle_message_unexpected", on_message);
    int bell = 0;
    for (int i = 0; i < SIZES; i++) {
        MPI_Request requests[2];
        int tag = TAG + 10 * i, size = sizes[i];
        if (me == 1) {
            // The receive is there before the other process learns that it may send.
            CHECK_OK(MPI_Irecv(data, size, MPI_BYTE, 0, tag, pair, &requests[0]));
            CHECK_OK(MPI_Send(&bell, 1, MPI_INT, 0, 5, pair));
            CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            check_message(matched, tag, size, 0, 0);
            // The message is there before the receive.
            MPI_Status status;
            CHECK_OK(MPI_Probe(0, tag + 1, pair, &status));
            CHECK_OK(MPI_Recv(data, size, MPI_BYTE, 0, tag + 1, pair, MPI_STATUS_IGNORE));
            check_message(matched, tag + 1, size, 0, 1);
            check_message(unexpected, tag + 1, size, 0, -1);
            CHECK_OK(MPI_Recv(data, size, MPI_BYTE, 0, tag + 2, pair, MPI_STATUS_IGNORE));
            check_message(matched, tag + 2, size, 0, -1);
            CHECK_OK(MPI_Recv(data, size, MPI_BYTE, 0, tag + 3, pair, MPI_STATUS_IGNORE));
            check_message(matched, tag + 3, size, 0, -1);
        } else {
            CHECK_OK(MPI_Recv(&bell, 1, MPI_INT, 1, 5, pair, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(data, size, MPI_BYTE, 1, tag, pair));
            CHECK_OK(MPI_Send(data, size, MPI_BYTE, 1, tag + 1, pair));
            CHECK_OK(MPI_Ssend(data, size, MPI_BYTE, 1, tag + 2, pair));
            CHECK_OK(MPI_Send(data, size, MPI_BYTE, 1, tag + 3, pair));
        }
    }
    CHECK_EQ(atomic_load(&matched->calls), me == 1 ? 4 * SIZES : 0);
    end(matched);
    end(unexpected);
    CHECK_OK(MPI_Comm_free(&pair));
}

// The value of a counter, read through a session of its own.
static unsigned long long counted(const char *name, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    (void)name;
    CHECK_OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static void collections(void) {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int index = -1, count = 0;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("heddle_collections", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_OK(MPI_T_pvar_start(session, handle));
    struct seen *seen = begin("heddle_collection", on_number);
    enum { OBJECTS = 2000 };
    for (int i = 0; i < OBJECTS; i++) {
        MPI_Datatype type;
        CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
        CHECK_OK(MPI_Type_free(&type));
    }
    unsigned long long collections = counted("heddle_collections", session, handle), destroyed = 0;
    CHECK_EQ(atomic_load(&seen->calls), collections);
    // Only one lifetime has collections (HEDDLE_LIFETIME).
    int lifetime = -1, item = -1, len = ROOM;
    char text[ROOM];
    MPI_T_cvar_handle variable;
    MPI_T_enum items;
    CHECK_OK(MPI_T_cvar_get_index("heddle_lifetime", &lifetime));
    CHECK_OK(MPI_T_cvar_get_info(lifetime, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(lifetime, NULL, &variable, &count));
    CHECK_OK(MPI_T_cvar_read(variable, &item));
    CHECK_OK(MPI_T_enum_get_item(items, item, NULL, text, &len));
    if (strcmp(text, "collect") == 0) {
        CHECK(collections > 0);
        for (unsigned long long i = 0; i < collections && i < MOST; i++)
            if (atomic_load(&seen->there[i])) destroyed += seen->numbers[i];
        CHECK(destroyed > OBJECTS / 2 && destroyed < 2 * OBJECTS);
    }
    CHECK_OK(MPI_T_cvar_handle_free(&variable));
    end(seen);
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

// One thread waits, and the other sends only after it has learned that the first one sleeps.
static void sleeper(int index, void *shared) {
    struct seen **seen = shared;
    int word = 7;
    if (index == 0) {
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    } else {
        while (atomic_load(&seen[0]->calls) == 0) usleep(100);
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    }
}

static void sleeps(void) {
    if (!multiple) return;
    struct seen *seen[2] = {begin("heddle_thread_parks", on_any), begin("heddle_thread_wakes", on_number)};
    threads_run(2, sleeper, seen);
    CHECK(atomic_load(&seen[0]->calls) >= 1);
    CHECK_EQ(atomic_load(&seen[0]->calls), atomic_load(&seen[1]->calls));
    CHECK(atomic_load(&seen[1]->there[0]) && seen[1]->numbers[0] > 0);
    end(seen[0]);
    end(seen[1]);
}

static void one_unexpected(int tag) {
    int word = tag;
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_SELF));
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

static void drops(void) {
    enum { MESSAGES = 5 };
    struct seen *unsafe = begin_at("heddle_message_unexpected", MPI_T_CB_REQUIRE_NONE, on_message);
    struct seen *unheard = begin_at("heddle_message_unexpected", MPI_T_CB_REQUIRE_NONE, on_message);
    CHECK_OK(MPI_T_event_set_dropped_handler(unsafe->registration, on_dropped));
    for (int i = 0; i < MESSAGES; i++) one_unexpected(TAG + i);
    CHECK_EQ(atomic_load(&unsafe->calls), 0);
    CHECK_EQ(atomic_load(&unsafe->drops), 0);
    // A callback that is safe enough: before its first call the handler learns what was dropped.
    CHECK_OK(MPI_T_event_register_callback(unsafe->registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, unsafe, on_message));
    one_unexpected(TAG);
    CHECK_EQ(atomic_load(&unsafe->calls), 1);
    // A message of the other rank may have been unexpected, too.
    CHECK(atomic_load(&unsafe->drops) >= MESSAGES);
    // Of several callbacks the one that promises least is called: the next one counts into another place.
    static struct seen other;
    other.event = unsafe->event, other.registration = unsafe->registration;
    CHECK_OK(MPI_T_event_register_callback(unsafe->registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &other, on_message));
    one_unexpected(TAG);
    CHECK_EQ(atomic_load(&unsafe->calls), 1);
    CHECK_EQ(atomic_load(&other.calls), 1);
    CHECK_EQ(atomic_load(&other.wrong), 0);
    // Without both, events are dropped again; the end of the registration tells.
    CHECK_OK(MPI_T_event_register_callback(unsafe->registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL));
    CHECK_OK(MPI_T_event_register_callback(unsafe->registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, NULL, NULL));
    one_unexpected(TAG);
    // The state that came with the last callback.
    CHECK_OK(MPI_T_event_handle_free(unsafe->registration, unsafe, on_free));
    CHECK_EQ(atomic_load(&other.drops), 1);
    CHECK_EQ(atomic_load(&other.wrong), 0);
    CHECK_EQ(atomic_load(&unsafe->freed), 1);
    free(unsafe);
    CHECK_EQ(atomic_load(&unheard->calls), 0);
    end(unheard);
}

// A callback that ends its own registration, and one that asks MPI_T for more.
static void on_message_once(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    struct seen *seen = check_call(instance, registration, safety, user_data);
    int number = 0;
    RIGHT(MPI_T_event_get_num(&number) == MPI_SUCCESS && number > 0);
    if (atomic_fetch_add(&seen->calls, 1) != 0) return;
    RIGHT(MPI_T_event_handle_free(registration, seen, on_free) == MPI_SUCCESS);
    // It is not over: this thread is in its callback.
    RIGHT(atomic_load(&seen->freed) == 0);
    RIGHT(MPI_T_event_get_source(instance, &number) == MPI_SUCCESS);
}

static void ends_in_a_callback(void) {
    struct seen *seen = begin("heddle_message_unexpected", on_message_once);
    for (int i = 0; i < 3; i++) one_unexpected(TAG);
    while (atomic_load(&seen->freed) == 0) continue;
    CHECK_EQ(atomic_load(&seen->wrong), 0);
    CHECK(atomic_load(&seen->calls) >= 1);
    free(seen);
}

// Threads that send while others register and end registrations.
enum { THREADS = 4, MESSAGES = 2000 };

static void come_and_go(int index, void *shared) {
    MPI_Comm *comms = shared;
    for (int i = 0; i < MESSAGES; i++) {
        int word = i;
        if (index == 0) {
            if (i % 8 == 0) end(begin("heddle_message_matched", on_any));
        } else {
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, TAG, comms[index]));
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, TAG, comms[index], MPI_STATUS_IGNORE));
            CHECK_EQ(word, i);
        }
    }
}

static void threads(void) {
    if (!multiple) return;
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    struct seen *all = begin("heddle_message_matched", on_message);
    threads_run(THREADS, come_and_go, comms);
    CHECK_EQ(atomic_load(&all->calls), (THREADS - 1) * MESSAGES);
    end(all);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
}

int main(int argc, char **argv) {
    int number, provided;
    multiple = check_level_asked(argc, argv) == MPI_THREAD_MULTIPLE;
    CHECK_CLASS(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CLASS(MPI_T_source_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CLASS(MPI_T_event_copy((MPI_T_event_instance)&number, &number), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    list();
    registrations();
    // One that is there before MPI is.
    struct seen *early = begin("heddle_message_unexpected", on_message);
    check_start(argc, argv);
    list();
    registrations();
    messages_to_self(MPI_COMM_SELF);
    messages_to_self(MPI_COMM_WORLD);
    messages_of_two();
    collections();
    sleeps();
    CHECK(atomic_load(&early->calls) > 0);
    end(early);
    // From here on no message comes from another process.
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    drops();
    ends_in_a_callback();
    threads();
    // These end with MPI_T, and nothing is told any more.
    struct seen *late = begin("heddle_message_matched", on_message), *left = begin("heddle_message_unexpected", on_message);
    one_unexpected(TAG);
    CHECK(atomic_load(&late->calls) == 1 && atomic_load(&left->calls) == 1);
    CHECK_OK(MPI_T_finalize());
    one_unexpected(TAG);
    CHECK(atomic_load(&late->calls) == 1 && atomic_load(&left->calls) == 1);
    CHECK_CLASS(MPI_T_event_handle_free(late->registration, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_CLASS(MPI_T_event_handle_free(late->registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    one_unexpected(TAG);
    CHECK_EQ(atomic_load(&late->calls), 1);
    CHECK_OK(MPI_T_finalize());
    free(late);
    free(left);
    return check_finish();
}
