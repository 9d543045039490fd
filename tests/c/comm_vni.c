// The VNI of a communicator's messages, chosen by the key heddle_vni, by promises and by agreement; and MPI_Comm_get_info.
// heddle: only
#include "threads.h"

static int vnis = -1;

// The number of VNIs, and whether the counters of critical sections tell which VNI is used.
static MPI_T_pvar_session session;
static MPI_T_pvar_handle entered;
static bool countable;

static void prepare(void) {
    int index = -1, count = 0, item = -1, value = -1, room = 64, level = -1;
    unsigned number = 0;
    char name[64];
    MPI_T_cvar_handle handle;
    MPI_T_enum items;
    CHECK_OK(MPI_T_cvar_get_index("heddle_vnis", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &number));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
    vnis = (int)number;
    CHECK_OK(MPI_T_cvar_get_index("heddle_granularity", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &item));
    CHECK_OK(MPI_T_enum_get_item(items, item, &value, name, &room));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
    CHECK_OK(MPI_Query_thread(&level));
    countable = level == MPI_THREAD_MULTIPLE && (strcmp(name, "per-vni") == 0 || strcmp(name, "per-channel") == 0);
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("heddle_vni_acquisitions", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &entered, &count));
    CHECK_OK(MPI_T_pvar_start(session, entered));
}

// The VNI of this rank's messages to itself with a tag; -1 if that cannot be seen.
static int vni_used(MPI_Comm comm, int tag) {
    enum { MESSAGES = 40 };
    unsigned long long before[64], after[64];
    int rank = -1, in = -1, most = 0;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_T_pvar_read(session, entered, before));
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, rank, tag, comm));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, rank, tag, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
    CHECK_OK(MPI_T_pvar_read(session, entered, after));
    for (int v = 0; v < 64; v++) {
        if (after[v] - before[v] > after[most] - before[most]) most = v;
    }
    if (!countable) return -1;
    CHECK(after[most] - before[most] >= MESSAGES);
    return most;
}

static void says(MPI_Comm comm, const char *key, const char *want) {
    MPI_Info info;
    char value[64] = "";
    int length = sizeof value, flag = 0;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    CHECK(flag);
    if (!CHECK(strcmp(value, want) == 0)) fprintf(stderr, "  %s is %s, not %s\n", key, value, want);
}

// The calls that make a communicator of all ranks with hints.
enum constructor { DUP, IDUP, SPLIT_TYPE, CONSTRUCTORS };

static MPI_Comm made(enum constructor constructor, MPI_Info info) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (constructor) {
    case DUP: CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm)); break;
    case IDUP:
        CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default: CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm));
    }
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

static MPI_Comm made_by(enum constructor constructor, const char *key, const char *value) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    MPI_Comm comm = made(constructor, info);
    CHECK_OK(MPI_Info_free(&info));
    return comm;
}

static void named(enum constructor constructor) {
    for (int v = 0; v < vnis; v++) {
        char value[16];
        snprintf(value, sizeof value, "%d", v);
        MPI_Comm comm = made_by(constructor, "heddle_vni", value);
        says(comm, "heddle_vni", value);
        for (int tag = 0; tag < 3 && countable; tag++) CHECK_EQ(vni_used(comm, tag), v);
        // A living communicator keeps its VNI; a plain duplicate inherits no hints.
        MPI_Info info;
        MPI_Comm child;
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "heddle_vni", v == 0 ? "1" : "0"));
        CHECK_OK(MPI_Comm_set_info(comm, info));
        CHECK_OK(MPI_Info_free(&info));
        says(comm, "heddle_vni", value);
        if (countable) CHECK_EQ(vni_used(comm, 7), v);
        CHECK_OK(MPI_Comm_dup(comm, &child));
        says(child, "heddle_vni", "default");
        CHECK_OK(MPI_Comm_free(&child));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void nonsense(enum constructor constructor) {
    char too_large[16];
    snprintf(too_large, sizeof too_large, "%d", vnis);
    const char *values[] = {too_large, "-1", "first", "default", "99999999999999999999", "1.0"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MPI_Comm comm = made_by(constructor, "heddle_vni", values[i]);
        says(comm, "heddle_vni", "default");
        vni_used(comm, 1);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    MPI_Comm comm = made_by(constructor, "mpi_assert_no_any_tag", "perhaps");
    says(comm, "mpi_assert_no_any_tag", "false");
    CHECK_OK(MPI_Comm_free(&comm));
}

// A hint takes effect only if all ranks give it: no rank may rely on a promise that another rank has not made.
static void disagreement(enum constructor constructor) {
    for (int odd = 0; odd < check_size; odd++) {
        MPI_Info info;
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "heddle_vni", check_rank == odd ? "1" : "0"));
        if (check_rank != odd) CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
        MPI_Comm comm = made(constructor, odd % 2 == 0 && check_rank == odd ? MPI_INFO_NULL : info);
        CHECK_OK(MPI_Info_free(&info));
        bool alone = check_size == 1;
        says(comm, "heddle_vni", alone && odd % 2 == 1 ? "1" : "default");
        says(comm, "mpi_assert_no_any_tag", "false");
        int in = -1;
        CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, (check_rank + 1) % check_size, 5, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                              comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, (check_rank + check_size - 1) % check_size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

// Every call that takes a source and a tag refuses a wildcard, and messages in flight are not harmed.
static void refuses(MPI_Comm comm, int source, int tag, int class) {
    int in = -1, out = 3, flag = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, source, tag, comm, &status), class);
    CHECK_CLASS(MPI_Irecv(&in, 1, MPI_INT, source, tag, comm, &request), class);
    CHECK_CLASS(MPI_Recv_init(&in, 1, MPI_INT, source, tag, comm, &request), class);
    CHECK_CLASS(MPI_Probe(source, tag, comm, &status), class);
    CHECK_CLASS(MPI_Iprobe(source, tag, comm, &flag, &status), class);
    CHECK_CLASS(MPI_Mprobe(source, tag, comm, &message, &status), class);
    CHECK_CLASS(MPI_Improbe(source, tag, comm, &flag, &message, &status), class);
    CHECK_CLASS(MPI_Sendrecv(&out, 1, MPI_INT, check_rank, 77, &in, 1, MPI_INT, source, tag, comm, &status), class);
    CHECK_CLASS(MPI_Sendrecv_replace(&in, 1, MPI_INT, check_rank, 77, source, tag, comm, &status), class);
    CHECK_CLASS(MPI_Isendrecv(&out, 1, MPI_INT, check_rank, 77, &in, 1, MPI_INT, source, tag, comm, &request), class);
    CHECK_CLASS(MPI_Isendrecv_replace(&in, 1, MPI_INT, check_rank, 77, source, tag, comm, &request), class);
    // None of these has sent anything.
    CHECK_OK(MPI_Iprobe(check_rank, 77, comm, &flag, &status));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, tag, comm, &status));
}

static void promised(enum constructor constructor, bool no_any_tag, bool no_any_source) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    if (no_any_tag) CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    if (no_any_source) CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_allow_overtaking", "true"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering", "true"));
    MPI_Comm comm = made(constructor, info);
    CHECK_OK(MPI_Info_free(&info));
    says(comm, "mpi_assert_no_any_tag", no_any_tag ? "true" : "false");
    says(comm, "mpi_assert_no_any_source", no_any_source ? "true" : "false");
    says(comm, "mpi_assert_allow_overtaking", "true");
    says(comm, "mpi_assert_exact_length", "true");
    says(comm, "mpi_assert_strict_persistent_collective_ordering", "true");
    says(MPI_COMM_WORLD, "mpi_assert_strict_persistent_collective_ordering", "false");
    says(comm, "heddle_vni", "default");

    // Promises are not taken back.
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "false"));
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Info_free(&info));
    says(comm, "mpi_assert_no_any_tag", no_any_tag ? "true" : "false");
    says(comm, "mpi_assert_no_any_source", no_any_source ? "true" : "false");

    // A message in flight is still there after all errors.
    int out = 99, in = -1;
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, check_rank, 5, comm));
    if (no_any_tag) {
        refuses(comm, check_rank, MPI_ANY_TAG, MPI_ERR_TAG);
        refuses(comm, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_TAG);
    }
    if (no_any_source) {
        refuses(comm, MPI_ANY_SOURCE, 5, MPI_ERR_RANK);
    }
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, no_any_source ? check_rank : MPI_ANY_SOURCE, no_any_tag ? 5 : MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, out);

    // As there are `vnis` VNIs, that number of consecutive tags uses every VNI, or only one.
    bool used[64] = {false};
    int distinct = 0;
    for (int tag = 0; tag < vnis && countable; tag++) {
        int v = vni_used(comm, tag);
        distinct += !used[v];
        used[v] = true;
    }
    if (countable) CHECK_EQ(distinct, no_any_tag ? vnis : 1);
    CHECK_OK(MPI_Comm_disconnect(&comm));
}

// Both: all on one VNI, and the promise is kept all the same.
static void named_and_promised(void) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Info_set(info, "heddle_vni", "0"));
    MPI_Comm comm = made(DUP, info);
    CHECK_OK(MPI_Info_free(&info));
    says(comm, "mpi_assert_no_any_tag", "true");
    says(comm, "heddle_vni", "0");
    for (int tag = 0; tag < vnis && countable; tag++) CHECK_EQ(vni_used(comm, tag), 0);
    refuses(comm, check_rank, MPI_ANY_TAG, MPI_ERR_TAG);
    CHECK_OK(MPI_Comm_free(&comm));
}

// A promise made for a living communicator is noted, and changes nothing.
static void promised_later(void) {
    MPI_Info info;
    MPI_Comm comm;
    int in = -1, out = 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, check_rank, 1, comm));
    CHECK_OK(MPI_Comm_set_info(comm, info));
    says(comm, "mpi_assert_no_any_tag", "true");
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, check_rank, 1, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    CHECK_OK(MPI_Comm_set_info(comm, info));
    says(comm, "mpi_assert_no_any_tag", "false");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_free(&comm));
}

// Many duplications at once; and the leader waits for something else before it waits for its own.
static void begun_together(void) {
    enum { MANY = 20 };
    MPI_Comm comms[MANY];
    MPI_Request requests[MANY];
    char value[MANY][16];
    for (int i = 0; i < MANY; i++) {
        MPI_Info info;
        snprintf(value[i], sizeof value[i], "%d", i % vnis);
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "heddle_vni", value[i]));
        if (i % 3 == 2) {
            CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
        } else {
            CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comms[i], &requests[i]));
        }
        CHECK_OK(MPI_Info_free(&info));
    }
    int word = 0;
    if (check_rank == 0) {
        for (int r = 1; r < check_size; r++) CHECK_OK(MPI_Recv(&word, 1, MPI_INT, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else {
        CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
    }
    for (int i = 0; i < MANY; i++) {
        says(comms[i], "heddle_vni", i % 3 == 2 ? "default" : value[i]);
        // All ranks have the same context.
        int in = -1, out = check_rank * MANY + i, from = (check_rank + 1) % check_size;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, (check_rank + check_size - 1) % check_size, i, &in, 1, MPI_INT, from, i, comms[i],
                              MPI_STATUS_IGNORE));
        CHECK_EQ(in, from * MANY + i);
    }
    for (int i = 0; i < MANY; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
}

static MPI_Comm shared_comm;
static pthread_barrier_t barrier;

// Two threads with different tags use different VNIs: while one thread works, no message enters the other's VNI.
static void own_vni(int t, void *used) {
    for (int turn = 0; turn < 2; turn++) {
        if (turn == t) ((int *)used)[t] = vni_used(shared_comm, t);
        pthread_barrier_wait(&barrier);
    }
    // And both at once.
    for (int i = 0; i < 500; i++) {
        int in = -1;
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, check_rank, t, shared_comm));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, t, shared_comm, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
}

static void threads_on_vnis(void) {
    int used[2] = {-1, -1};
    shared_comm = made_by(DUP, "mpi_assert_no_any_tag", "true");
    pthread_barrier_init(&barrier, NULL, 2);
    threads_run(2, own_vni, used);
    if (countable && vnis > 1) CHECK(used[0] != used[1]);
    CHECK_OK(MPI_Comm_free(&shared_comm));
}

int main(int argc, char **argv) {
    int provided;
    // More than the machine may have cores, unless the caller wants another number.
    setenv("HEDDLE_VNIS", "4", 0);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    prepare();
    for (enum constructor constructor = 0; constructor < CONSTRUCTORS; constructor++) {
        named(constructor);
        nonsense(constructor);
        disagreement(constructor);
        promised(constructor, true, false);
        promised(constructor, false, true);
        promised(constructor, true, true);
    }
    named_and_promised();
    promised_later();
    begun_together();
    if (check_level_asked(argc, argv) == MPI_THREAD_MULTIPLE) threads_on_vnis();
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
