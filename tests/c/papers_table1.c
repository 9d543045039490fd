// The number of times that a mutex is acquired for each send (Balaji et al., IJHPCA 2010, Table 1): to MPI_PROC_NULL, blocking,
// and nonblocking. For the last kind the paper has 8, 8, 6 and 2 under Brief Global, Per Object, tlp and tlp atom: one more
// each, and does not say of which object. Under Brief Global all seven are of the one mutex (choice_acts.c).
// ranks: 2
// levels: multiple
// models: default
// settings ijhpca2010-global: HEDDLE_MODEL=ijhpca2010-global
// settings ijhpca2010-brief-global: HEDDLE_MODEL=ijhpca2010-brief-global
// settings ijhpca2010-per-object: HEDDLE_MODEL=ijhpca2010-per-object
// settings ijhpca2010-per-object-tlp: HEDDLE_MODEL=ijhpca2010-per-object-tlp
// settings ijhpca2010-per-object-atom: HEDDLE_MODEL=ijhpca2010-per-object-atom
// settings ijhpca2010-per-object-tlp-atom: HEDDLE_MODEL=ijhpca2010-per-object-tlp-atom
// settings always: HEDDLE_REQUESTS=always
// heddle: only
#include "counters.h"

enum { SENDS = 20 };

// The acquisitions of a send, and for a nonblocking one those of its completion as well.
static const struct {
    const char *variant;
    unsigned long long null, blocking, nonblocking;
} table[] = {
    {"ijhpca2010-global", 1, 1, 2}, // one for each call
    {"ijhpca2010-brief-global", 0, 1, 7},
    {"ijhpca2010-per-object", 0, 1, 7},
    {"ijhpca2010-per-object-tlp", 0, 1, 5},
    {"ijhpca2010-per-object-atom", 0, 1, 3},
    {"ijhpca2010-per-object-tlp-atom", 0, 1, 1},
    {"always", 0, 1, 2}, // the VNI's, and within it the channel's
};

static void send(int to) {
    int value = 0;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD));
}

static void send_nonblocking(int to) {
    int value = 0;
    MPI_Request request;
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

// By how much a counter grows with each call; the least of many, since some calls find no room.
static unsigned long long growth(const struct counter *counted, void (*call)(int to), int to) {
    unsigned long long least = ~0ULL;
    for (int i = 0; i < SENDS; i++) {
        unsigned long long before = counter_read(counted);
        call(to);
        unsigned long long grown = counter_read(counted) - before;
        if (grown < least) least = grown;
    }
    return least;
}

static void check_table(const char *variant) {
    struct counter entries = counter_start("heddle_acquisitions"), taken = counter_start("heddle_requests_allocated");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].variant, variant) != 0) continue;
        CHECK_EQ(growth(&entries, send, MPI_PROC_NULL), table[i].null);
        CHECK_EQ(growth(&entries, send, 1), table[i].blocking);
        CHECK_EQ(growth(&entries, send_nonblocking, 1), table[i].nonblocking);
        CHECK_EQ(growth(&taken, send_nonblocking, 1), 1);
    }
    counter_end(&entries);
    counter_end(&taken);
}

int main(int argc, char **argv) {
    int provided, value;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    if (check_rank == 0) check_table(argv[argc - 1]);
    for (int i = 0; check_rank == 1 && i < 3 * SENDS; i++) {
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
