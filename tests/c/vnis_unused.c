// A waiting thread polls the VNIs that communicators use, and no others; one that gets a communicator is polled from then on, and
// what has come before is there. Variables tell which VNIs are in use.
// ranks: 2
// levels: multiple
// models: default
// heddle: only
#include "check.h"
#include <time.h>

enum { VNIS = 8, USED_AT_START = 3, LATE_MS = 50, MESSAGES = 1000 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle entered;

static void start_counting(void) {
    int index = -1, count = 0, provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index("heddle_vni_acquisitions", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &entered, &count));
    CHECK_EQ(count, 64);
    CHECK_OK(MPI_T_pvar_start(session, entered));
}

// Rank 1 waits for a message that comes late. Returns how many VNIs from VNI `first` on it has entered since the program began.
static int entered_from(int first) {
    unsigned long long entries[64];
    int word = 7, found = 0;
    if (check_rank == 0) {
        nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        return -1;
    }
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_T_pvar_read(session, entered, entries));
    for (int v = first; v < 64; v++) found += entries[v] != 0;
    return found;
}

// Checks that this many VNIs are in use, the first ones.
static void check_in_use(int expected) {
    unsigned long long number = 0, each[64];
    int index = -1, count = 0;
    MPI_T_pvar_handle handle;
    CHECK_OK(MPI_T_pvar_get_index("heddle_vnis_in_use", MPI_T_PVAR_CLASS_LEVEL, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_OK(MPI_T_pvar_read(session, handle, &number));
    CHECK_EQ(number, expected);
    CHECK_OK(MPI_T_pvar_get_index("heddle_vni_in_use", MPI_T_PVAR_CLASS_LEVEL, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    if (!CHECK_EQ(count, 64)) return;
    CHECK_OK(MPI_T_pvar_read(session, handle, each));
    for (int v = 0; v < 64; v++) CHECK_EQ(each[v], v < expected);
}

// Rank 0 sends more than a ring takes on a communicator that rank 1 has still to make.
static void messages_before_communicator(void) {
    static MPI_Request sends[MESSAGES];
    static int numbers[MESSAGES];
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request made = MPI_REQUEST_NULL;
    int word = 0;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &made));
    if (check_rank == 0) {
        CHECK_OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
        for (int i = 0; i < MESSAGES; i++) {
            numbers[i] = i;
            CHECK_OK(MPI_Isend(&numbers[i], 1, MPI_INT, 1, 0, comm, &sends[i]));
        }
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    } else {
        nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
        for (int i = 0, in = -1; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
            CHECK_EQ(in, i);
        }
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    CHECK_EQ(setenv("HEDDLE_VNIS", "8", 1), 0);
    check_start(argc, argv);
    start_counting();
    int found = entered_from(USED_AT_START);
    if (check_rank == 1) CHECK_EQ(found, 0);
    check_in_use(USED_AT_START);
    MPI_Comm comms[VNIS];
    for (int i = 0; i < VNIS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        // Its messages are on the next VNI, and after the last come those of the start.
        int expected = i + 1 < VNIS - USED_AT_START ? i + 1 : VNIS - USED_AT_START;
        found = entered_from(USED_AT_START);
        if (check_rank == 1) CHECK_EQ(found, expected);
        check_in_use(USED_AT_START + expected);
    }
    for (int i = 0; i < VNIS; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
    check_in_use(VNIS);
    messages_before_communicator();
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
