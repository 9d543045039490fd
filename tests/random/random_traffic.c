// A random but valid MPI program: what it does follows from a seed, every payload and status is checked.
//
//   mpiexec -n R random_traffic [--seed N] [--ops N] [--threads N] [--rounds N] [--timeout SECONDS]
//
// The schedule is explained in schedule.h; what a thread does in a step is in steps.h, fan_in.h, partitioned.h and
// collective.h. A failure prints the command that repeats it. When the time is over, or on SIGTERM, each thread's position in
// the schedule is printed, and the program ends with status 3.
#include "collective.h"
#include "fan_in.h"
#include "partitioned.h"
#include "steps.h"

#include <signal.h>
#include <unistd.h>

static pthread_barrier_t round_end;

// Where each thread is: round and step, for the report of a run that hangs.
static atomic_int at_round[THREADS_AT_MOST], at_step[THREADS_AT_MOST];

static void walk(int me, void *shared) {
    (void)shared;
    struct worker w = {.me = me, .dice = dice_for(plan.seed, 0, (uint64_t)(check_rank * THREADS_AT_MOST + me))};
    unsigned char *fanned = check_alloc((size_t)(plan.ranks * plan.threads));
    for (int round = 0; round < plan.rounds; round++) {
        memset(fanned, 0, (size_t)(plan.ranks * plan.threads));
        atomic_store(&at_round[me], round);
        for (int i = 0; i < plan.steps; i++) {
            atomic_store(&at_step[me], i);
            struct step s = make_step(&plan, round, i, fanned);
            switch (s.kind) {
            case EXCHANGE: do_exchange(&w, &s); break;
            case READY: do_ready(&w, &s); break;
            case FAN_IN: do_fan_in(&w, &s); break;
            case COLLECTIVE: do_collective(&w, &s); break;
            case DUPLICATE: do_duplicate(&w, &s); break;
            case CANCEL: do_cancel(&w, &s); break;
            case PARTITIONED: do_partitioned(&w, &s); break;
            default: do_message(&w, &s);
            }
            if (w.n > 0 && pick(&w.dice, 12) == 0) complete_all(&w);
        }
        atomic_store(&at_step[me], plan.steps);
        complete_all(&w);
        // Between rounds no message is in flight.
        pthread_barrier_wait(&round_end);
        if (me == 0) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        pthread_barrier_wait(&round_end);
        for (int i = 0; i < w.kept_n; i++) free(w.kept[i]);
        w.kept_n = 0;
        w.buffered = 0;
    }
    free(fanned);
    free(w.requests);
    free(w.begun);
    free(w.kept);
}

static void report_positions(int number) {
    (void)number;
    char text[160];
    for (int t = 0; t < plan.threads; t++) {
        int len = snprintf(text, sizeof text, "rank %d thread %d of seed %llu: round %d step %d\n", check_rank, t,
                           (unsigned long long)plan.seed, atomic_load(&at_round[t]), atomic_load(&at_step[t]));
        if (write(STDERR_FILENO, text, (size_t)len) < 0) break;
    }
    _exit(3);
}

static void read_arguments(int argc, char **argv) {
    unsigned timeout = 100;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        unsigned long long number = strtoull(value, &end, 10);
        bool right = *value && !*end;
        if (right && strcmp(argv[i], "--seed") == 0) {
            plan.seed = number;
        } else if (right && strcmp(argv[i], "--ops") == 0) {
            plan.steps = (int)number;
        } else if (right && strcmp(argv[i], "--threads") == 0 && number >= 1 && number <= THREADS_AT_MOST) {
            plan.threads = (int)number;
        } else if (right && strcmp(argv[i], "--rounds") == 0) {
            plan.rounds = (int)number;
        } else if (right && strcmp(argv[i], "--timeout") == 0) {
            timeout = (unsigned)number;
        } else {
            fprintf(stderr, "cannot use %s %s; usage: %s [--seed N] [--ops N] [--threads 1..%d] [--rounds N] [--timeout SECONDS]\n",
                    argv[i], value, argv[0], THREADS_AT_MOST);
            exit(2);
        }
    }
    signal(SIGTERM, report_positions);
    signal(SIGALRM, report_positions);
    alarm(timeout);
}

int main(int argc, char **argv) {
    read_arguments(argc, argv);
    check_start(1, argv);
    plan.ranks = check_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]));
    comms[3] = hinted("mpi_assert_no_any_tag", "true", NULL);
    comms[NO_ANY_SOURCE] = hinted("mpi_assert_no_any_tag", "true", "mpi_assert_no_any_source");
    for (int t = 0; t < plan.threads; t++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &wild[t]));
        by_part[t] = hinted("heddle_vni", t % 2 ? "0" : "default", NULL);
    }
    void *room = check_alloc(ROOM * (size_t)plan.threads), *back = NULL;
    int size = 0;
    CHECK_OK(MPI_Buffer_attach(room, ROOM * plan.threads));
    pthread_barrier_init(&round_end, NULL, (unsigned)plan.threads);
    threads_run(plan.threads, walk, NULL);
    pthread_barrier_destroy(&round_end);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    free(room);
    for (int c = 0; c < COMMS; c++) CHECK_OK(MPI_Comm_free(&comms[c]));
    for (int t = 0; t < plan.threads; t++) {
        CHECK_OK(MPI_Comm_free(&wild[t]));
        CHECK_OK(MPI_Comm_free(&by_part[t]));
    }
    if (atomic_load(&check_failures)) {
        fprintf(stderr, "repeat with: mpiexec -n %d %s --seed %llu --ops %d --threads %d --rounds %d\n", check_size, argv[0],
                (unsigned long long)plan.seed, plan.steps, plan.threads, plan.rounds);
    }
    return check_finish();
}
