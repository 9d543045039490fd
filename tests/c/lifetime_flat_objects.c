// A process that makes and frees many objects of a kind does not grow: requests of nonblocking, persistent, neighbourhood and partitioned operations,
// intercommunicators, sessions, groups of process sets, infos, error classes, generalized requests, and the handles of MPI_T; by threads at once.
//
// The variable FLAT_COUNT says how many of each kind; `make soak` makes a million.
// ranks: 1-2
// levels: single multiple
// timeout: 3600
// heddle: only
#include "resident.h"
#include "sessions.h"
#include "threads.h"

enum { THREADS = 4, GROWTH_KIB = 1 << 10 };

static long count = 16000;
static int threads = 1;
// A communicator for each thread: with the other process, and a ring of this one.
static MPI_Comm pairs[THREADS], rings[THREADS];
static MPI_Session stays;

static void nonblocking(int index, long i) {
    MPI_Comm comm = i % 8 ? MPI_COMM_SELF : pairs[index];
    int in = (int)i, out = -1, size = 0;
    MPI_Request requests[3];
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    CHECK_OK(MPI_Ibarrier(comm, &requests[1]));
    CHECK_OK(MPI_Ibcast(&in, 1, MPI_INT, 0, comm, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(out, size * (int)i);
}

static void persistent(int index, long i) {
    MPI_Comm comm = i % 8 ? MPI_COMM_SELF : pairs[index];
    int in = (int)i, out[4] = {-1, -1, -1, -1};
    MPI_Request requests[2];
    CHECK_OK(MPI_Allgather_init(&in, 1, MPI_INT, out, 1, MPI_INT, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    CHECK_EQ(out[0], in);
    for (int j = 0; j < 2; j++) CHECK_OK(MPI_Request_free(&requests[j]));
}

static void neighbours(int index, long i) {
    int in = (int)i, out[2] = {-1, -1};
    MPI_Request requests[2];
    CHECK_OK(MPI_Ineighbor_allgather(&in, 1, MPI_INT, out, 1, MPI_INT, rings[index], &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(out[0] == in && out[1] == in);
    CHECK_OK(MPI_Neighbor_allgather_init(&in, 1, MPI_INT, out, 1, MPI_INT, rings[index], MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void partitioned(int index, long i) {
    int out[2] = {(int)i, 5}, in[2] = {0, 0};
    MPI_Request requests[2];
    CHECK_OK(MPI_Precv_init(in, 1, 2, MPI_INT, 0, index, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(out, 2, 1, MPI_INT, 0, index, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 1, requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in[0] == (int)i && in[1] == 5);
    for (int j = 0; j < 2; j++) CHECK_OK(MPI_Request_free(&requests[j]));
}

// Two groups need two processes.
static void intercommunicators(int index, long i) {
    if (check_partner() == check_rank) return;
    MPI_Comm inter = MPI_COMM_NULL, merged = MPI_COMM_NULL, copy = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Request request;
    int rank = -1;
    CHECK_OK(MPI_Comm_rank(pairs[index], &rank));
    CHECK_OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, pairs[index], 1 - rank, 1, &inter));
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    CHECK_OK(MPI_Group_free(&group));
    if (i % 4 == 0) {
        CHECK_OK(MPI_Comm_idup(inter, &copy, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Intercomm_merge(copy, rank, &merged));
        CHECK_OK(MPI_Comm_free(&merged));
        CHECK_OK(MPI_Comm_free(&copy));
    }
    CHECK_OK(MPI_Comm_free(&inter));
}

static void sessions(int index, long i) {
    (void)index, (void)i;
    MPI_Session session = session_begin();
    CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    session_end(&session);
}

static void groups(int index, long i) {
    MPI_Group group = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
    (void)index;
    CHECK_OK(MPI_Group_from_session_pset(stays, i % 2 ? "mpi://SELF" : "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_union(group, MPI_GROUP_EMPTY, &other));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&other));
}

static void infos(int index, long i) {
    char *argv[] = {"program", "argument", NULL};
    MPI_Info all[6];
    char key[32];
    (void)index;
    snprintf(key, sizeof key, "key%ld", i);
    CHECK_OK(MPI_Info_create(&all[0]));
    CHECK_OK(MPI_Info_set(all[0], key, "value"));
    CHECK_OK(MPI_Info_dup(all[0], &all[1]));
    CHECK_OK(MPI_Info_create_env(2, argv, &all[2]));
    CHECK_OK(MPI_Get_hw_resource_info(&all[3]));
    CHECK_OK(MPI_Session_get_info(stays, &all[4]));
    CHECK_OK(MPI_Session_get_pset_info(stays, "mpi://SELF", &all[5]));
    for (int j = 0; j < 6; j++) CHECK_OK(MPI_Info_free(&all[j]));
}

static void error_classes(int index, long i) {
    int class = -1, code = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING], found[MPI_MAX_ERROR_STRING];
    (void)index;
    snprintf(text, sizeof text, "error %ld", i);
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(class, text));
    CHECK_OK(MPI_Add_error_string(code, text));
    CHECK_OK(MPI_Error_string(code, found, &length));
    CHECK(strcmp(text, found) == 0);
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_string(class));
    CHECK_OK(MPI_Remove_error_class(class));
}

static int query(void *state, MPI_Status *status) {
    (void)state;
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, 0));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int release(void *state) {
    free(state);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(int index, long i) {
    MPI_Request request;
    (void)index, (void)i;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, check_alloc(16), &request));
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    int tag;
    (void)registration, (void)safety, (void)user_data;
    MPI_T_event_read(instance, 4, &tag);
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data) {
    (void)registration, (void)safety;
    free(user_data);
}

static void tool(int index, long i) {
    MPI_T_cvar_handle control;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle counter, left;
    MPI_T_event_registration registration;
    MPI_Info info;
    int number = 0, word = 0;
    CHECK_OK(MPI_T_cvar_handle_alloc(0, NULL, &control, &number));
    CHECK_OK(MPI_T_cvar_handle_free(&control));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, 0, NULL, &counter, &number));
    // The session ends this one.
    CHECK_OK(MPI_T_pvar_handle_alloc(session, 1, NULL, &left, &number));
    CHECK_OK(MPI_T_pvar_handle_free(session, &counter));
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_event_handle_alloc((int)(i % 2), NULL, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, on_event));
    CHECK_OK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, index, MPI_COMM_SELF));
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, index, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_T_event_handle_free(registration, check_alloc(16), on_free));
}

static const struct kind {
    const char *name;
    void (*make)(int index, long i);
    // One in so many rounds is made: those that wait for another process take longer.
    int share;
} kinds[] = {
    {"nonblocking collectives", nonblocking, 1}, {"persistent collectives", persistent, 1}, {"neighbourhood collectives", neighbours, 1},
    {"partitioned operations", partitioned, 1},  {"intercommunicators", intercommunicators, 4}, {"sessions", sessions, 1},
    {"groups of process sets", groups, 1},       {"infos", infos, 1},                       {"error classes", error_classes, 1},
    {"generalized requests", generalized, 1},    {"handles of MPI_T", tool, 1},
};

struct work {
    const struct kind *kind;
    long count;
};

static void come_and_go(int index, void *shared) {
    struct work *work = shared;
    for (long i = 0; i < work->count / threads; i++) work->kind->make(index, i);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    bool multiple = check_level_asked(argc, argv) == MPI_THREAD_MULTIPLE;
    if (multiple) threads = THREADS;
    const char *asked = getenv("FLAT_COUNT");
    bool soak = asked != NULL;
    if (soak) count = atol(asked);
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    stays = session_begin();
    for (int i = 0; i < threads; i++) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &pairs[i]));
        CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, (int[]){1}, 0, &rings[i]));
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        // A million of those that wait, too, if many are asked for.
        long wanted = soak ? count : count / kinds[k].share;
        struct work first = {&kinds[k], wanted / 4}, all = {&kinds[k], wanted};
        threads_run(threads, come_and_go, &first);
        long before = resident_kib();
        threads_run(threads, come_and_go, &all);
        long grown = resident_kib() - before;
        if (!CHECK(grown < GROWTH_KIB)) fprintf(stderr, "rank %d grew by %ld KiB: %ld %s\n", check_rank, grown, wanted, kinds[k].name);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = 0; i < threads; i++) {
        CHECK_OK(MPI_Comm_free(&pairs[i]));
        CHECK_OK(MPI_Comm_free(&rings[i]));
    }
    session_end(&stays);
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
