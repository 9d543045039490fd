// Parts of a model act: seen by the critical sections that messages enter, by the collections of freed objects, and by the
// threads of the process.
// ranks: 2
// levels: multiple
// models: default
// settings global: HEDDLE_GRANULARITY=global
// settings brief: HEDDLE_GRANULARITY=brief-global
// settings vni: HEDDLE_GRANULARITY=per-vni
// settings channel: HEDDLE_MODEL=ijhpca2010-per-object-atom HEDDLE_GRANULARITY=per-channel
// settings object: HEDDLE_GRANULARITY=per-object
// settings free: HEDDLE_GRANULARITY=lock-free
// settings pool: HEDDLE_REQUEST_POOL=shared
// settings naive: HEDDLE_LIFETIME=naive HEDDLE_REFERENCE_COUNTS=locked
// settings suppress: HEDDLE_LIFETIME=suppress HEDDLE_REFERENCE_COUNTS=locked
// settings none: HEDDLE_LIFETIME=none
// settings collect: HEDDLE_COLLECT_THRESHOLD=10
// settings vnis: HEDDLE_EXECUTION=offload HEDDLE_VNIS=3
// settings one: HEDDLE_EXECUTION=offload HEDDLE_OFFLOAD_THREADS=one
// settings offload: HEDDLE_EXECUTION=offload
// settings per-vni-mutex: HEDDLE_MODEL=per-vni-mutex
// settings global-mutex: HEDDLE_MODEL=global-mutex
// settings brief-global: HEDDLE_MODEL=brief-global
// settings per-object: HEDDLE_MODEL=per-object
// settings lock-free: HEDDLE_MODEL=lock-free
// settings ijhpca2010-global: HEDDLE_MODEL=ijhpca2010-global
// settings ijhpca2010-brief-global: HEDDLE_MODEL=ijhpca2010-brief-global
// settings ijhpca2010-per-object: HEDDLE_MODEL=ijhpca2010-per-object
// settings ijhpca2010-per-object-tlp: HEDDLE_MODEL=ijhpca2010-per-object-tlp
// settings ijhpca2010-per-object-atom: HEDDLE_MODEL=ijhpca2010-per-object-atom
// settings ijhpca2010-per-object-tlp-atom: HEDDLE_MODEL=ijhpca2010-per-object-tlp-atom
// settings cluster2010-suppress: HEDDLE_MODEL=cluster2010-suppress
// settings cluster2010-collect: HEDDLE_MODEL=cluster2010-collect
// settings topc2019-mutex: HEDDLE_MODEL=topc2019-mutex
// heddle: only
#include "counters.h"
#include <dirent.h>

enum { FREED = 1000 };

// Runs `work`, and returns by how much a counter of the library has grown, in all its elements.
static long long grown(const char *name, void (*work)(MPI_Datatype, MPI_Comm), MPI_Datatype type, MPI_Comm comm) {
    struct counter counter = counter_start(name);
    work(type, comm);
    return (long long)counter_end(&counter);
}

static int threads(void) {
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!CHECK(tasks != NULL)) return 0;
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) found += task->d_name[0] != '.';
    closedir(tasks);
    return found;
}

// Messages to this rank and to the other one.
static void messages(MPI_Datatype type, MPI_Comm comm) {
    int out[2] = {1, 2}, in[4];
    MPI_Request requests[4];
    for (int i = 0; i < 10; i++) {
        for (int to = 0; to < 2; to++) {
            CHECK_OK(MPI_Irecv(&in[2 * to], 1, type, to, 0, comm, &requests[2 * to]));
            CHECK_OK(MPI_Isend(out, 1, type, to, 0, comm, &requests[2 * to + 1]));
        }
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    }
}

static void frees(MPI_Datatype type, MPI_Comm comm) {
    (void)comm;
    for (int i = 0; i < FREED; i++) {
        MPI_Datatype freed;
        CHECK_OK(MPI_Type_contiguous(3, type, &freed));
        CHECK_OK(MPI_Type_free(&freed));
    }
}

enum { CALL, PROCESS, VNI, CHANNEL, POOL, COUNTS, SECTIONS };

static const char *const sections[SECTIONS] = {"heddle_call_acquisitions",         "heddle_process_acquisitions",
                                               "heddle_vni_acquisitions",          "heddle_channel_acquisitions",
                                               "heddle_request_pool_acquisitions", "heddle_reference_counts_acquisitions"};

// Checks that messages of this type enter these critical sections and no others.
static void enter(const bool expected[SECTIONS], MPI_Datatype type, MPI_Comm comm) {
    for (int section = 0; section < SECTIONS; section++) {
        long long entries = grown(sections[section], messages, type, comm);
        char what[96];
        snprintf(what, sizeof what, "%s: %lld", sections[section], entries);
        check_that((entries != 0) == expected[section], __FILE__, __LINE__, what);
    }
}

// The critical sections that messages enter. Naive counting counts predefined objects too.
static const struct {
    const char *variant;
    bool entered[SECTIONS];
} rows[] = {
    {"global", {[CALL] = true}},
    {"brief", {[PROCESS] = true}},
    {"object", {[CHANNEL] = true}},
    {"free", {0}},
    {"vni", {[VNI] = true}},
    {"channel", {[VNI] = true, [CHANNEL] = true, [POOL] = true}},
    {"pool", {[VNI] = true, [CHANNEL] = true, [POOL] = true}},
    {"naive", {[VNI] = true, [CHANNEL] = true, [COUNTS] = true}},
    {"suppress", {[VNI] = true, [CHANNEL] = true}},
    {"per-vni-mutex", {[VNI] = true}},
    {"global-mutex", {[CALL] = true}},
    {"brief-global", {[PROCESS] = true}},
    {"per-object", {[CHANNEL] = true}},
    {"lock-free", {0}},
    {"ijhpca2010-global", {[CALL] = true}},
    {"ijhpca2010-brief-global", {[PROCESS] = true}},
    {"ijhpca2010-per-object", {[CHANNEL] = true, [POOL] = true, [COUNTS] = true}},
    {"ijhpca2010-per-object-tlp", {[CHANNEL] = true, [COUNTS] = true}},
    {"ijhpca2010-per-object-atom", {[CHANNEL] = true, [POOL] = true}},
    {"ijhpca2010-per-object-tlp-atom", {[CHANNEL] = true}},
    {"cluster2010-suppress", {[CHANNEL] = true}},
    {"cluster2010-collect", {[CHANNEL] = true}},
    {"topc2019-mutex", {[CALL] = true}},
};

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    int provided, before = threads(), started;
    MPI_Comm comm;
    MPI_Datatype pair;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    started = threads() - before;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
#define IS(name) (strcmp(variant, name) == 0)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (IS(rows[i].variant)) enter(rows[i].entered, MPI_INT, MPI_COMM_WORLD);
    }
    if (IS("suppress")) enter((bool[SECTIONS]){[VNI] = true, [CHANNEL] = true, [COUNTS] = true}, pair, comm);
    if (IS("none")) CHECK_EQ(grown("heddle_collections", frees, MPI_INT, comm), 0);
    // Ten freed objects start a collection; under `adaptive` it takes more and more of them.
    if (IS("collect")) CHECK(grown("heddle_collections", frees, MPI_INT, comm) >= FREED / 10 - 2);
    // Its threshold does not adapt: 32 freed objects start a collection, however many the last one has kept.
    if (IS("cluster2010-collect")) CHECK(grown("heddle_collections", frees, MPI_INT, comm) >= FREED / 32 - 2);
    if (IS("vnis")) CHECK_EQ(started, 3);
    if (IS("one")) CHECK_EQ(started, 1);
    if (IS("offload")) CHECK(started > 0);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
