// Messages of a communicator without hints use one communication path, until threads of a process with several cores send them by turns
// (contended), or from the first on (always): then those of different tags use different ones, in the order of each tag. From the first wildcard on they
// are received in the order of sending, those that are under way as well, also where the receiver is late and many find no room.
// ranks: 2
// levels: multiple
// models: default
// variants: contended always never
// settings always: HEDDLE_SPREAD=always
// settings never: HEDDLE_SPREAD=never
// heddle: only
#include "counters.h"
#include "threads.h"

enum { THREADS = 3, TURNS = 600, MANY = 2000, END = 1000 };

static MPI_Comm comm;
static pthread_barrier_t together;
// Set if the threads had several cores while they took turns.
static int had_cores;

// Each number is sent by the thread that it belongs to, after the one before.
static void send_in_turns(int thread, void *count) {
    for (int n = 0; n < *(int *)count; n++) {
        if (n % THREADS == thread) CHECK_OK(MPI_Send(&n, 1, MPI_INT, 1, thread, comm));
        pthread_barrier_wait(&together);
        // By now the library has met all of them.
        if (thread == 0 && n == *(int *)count / 2) had_cores = counter_level("heddle_cores_for_threads") >= 2;
    }
}

static void send_by_turns(int count) { threads_run(THREADS, send_in_turns, &count); }

static void receive_by_tags(int count) {
    for (int tag = THREADS - 1; tag >= 0; tag--)
        for (int n = tag; n < count; n += THREADS) {
            int in = -1;
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
            CHECK_EQ(in, n);
        }
}

static void receive_by_wildcards(int count) {
    for (int n = 0; n < count; n++) {
        int in = -1;
        MPI_Status status;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, n % 2 ? MPI_ANY_SOURCE : 0, MPI_ANY_TAG, comm, &status));
        CHECK_EQ(in, n);
        CHECK_EQ(status.MPI_TAG, n % THREADS);
    }
}

// Nonblocking sends of both threads by turns, more than there is room for.
static MPI_Request sends[MANY];
static int numbers[MANY];

static void issue_in_turns(int thread, void *unused) {
    (void)unused;
    for (int n = 0; n < MANY; n++) {
        numbers[n] = n;
        if (n % THREADS == thread) CHECK_OK(MPI_Isend(&numbers[n], 1, MPI_INT, 1, thread, comm, &sends[n]));
        pthread_barrier_wait(&together);
    }
}

static const char *variant = "contended";

// Whether messages of threads that take turns are spread.
static int spreads(void) { return strcmp(variant, "always") == 0 || (strcmp(variant, "contended") == 0 && had_cores); }

int main(int argc, char **argv) {
    int provided, word = 0, is_over = 0;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    if (argc > 1) variant = argv[argc - 1];
    int at_once = strcmp(variant, "always") == 0;
    struct counter spread = counter_start("heddle_channels_spread"), gathered = counter_start("heddle_vnis_gathered");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    pthread_barrier_init(&together, NULL, THREADS);
    if (check_rank == 0) {
        // One thread alone is not spread.
        for (int n = 0; n < TURNS; n++) CHECK_OK(MPI_Send(&n, 1, MPI_INT, 1, n % THREADS, comm));
        CHECK_EQ(counter_read(&spread), at_once);
        send_by_turns(TURNS);
        CHECK_EQ(counter_read(&spread), spreads());
        // The receiver has all of these to come when it uses its first wildcard.
        threads_run(THREADS, issue_in_turns, NULL);
        CHECK_OK(MPI_Ssend(&word, 1, MPI_INT, 1, END, MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
        // It has told the sender meanwhile, or does so now.
        send_by_turns(TURNS);
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 1, END, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        send_by_turns(TURNS);
        // The other communicator has a channel of its own.
        CHECK_EQ(counter_end(&spread), spreads() + at_once);
    } else {
        receive_by_tags(TURNS);
        receive_by_tags(TURNS);
        CHECK_EQ(counter_read(&gathered), 0);
        while (!is_over) CHECK_OK(MPI_Iprobe(0, END, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, END, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        receive_by_wildcards(MANY);
        receive_by_wildcards(TURNS);
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, END, MPI_COMM_WORLD));
        receive_by_tags(TURNS);
        // The probe on the other communicator was on another path.
        CHECK_EQ(counter_end(&gathered), strcmp(variant, "never") != 0 ? 2 : 0);
    }
    pthread_barrier_destroy(&together);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
