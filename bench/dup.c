/* MPI_Comm_dup by many threads at once, each of a communicator of its own: users of other libraries have seen it take
 * minutes. Every duplicate is freed before the next is made; the figure is the mean time of both.
 *
 * Duplicates are made in runs between two readings of the clock; rank 0 announces each run's length (0 ends the
 * repetition) outside of the measured time. */
#include "harness.h"

#include <stdlib.h>

static void prepare(struct worker *w) { w->state = NULL; }

static void repeat(struct worker *w) {
    bool leads = w->bench->rank == 0;
    for (int run = 1, announced;;) {
        announced = run;
        MPI_Bcast(&announced, 1, MPI_INT, 0, w->comm);
        if (announced == 0) return;
        int64_t start = now_ns();
        for (int i = 0; i < announced; i++) {
            MPI_Comm duplicate;
            MPI_Comm_dup(w->comm, &duplicate);
            MPI_Comm_free(&duplicate);
        }
        int64_t end = now_ns();
        if (!leads) continue;
        if (!meter_add(&w->meter, start, end, announced)) run = 0;
        else run = next_run(run, end - start);
    }
}

static void finish(struct worker *w) { (void)w; }

static const char *const ops[] = {"dup", NULL};

const struct subject subject_dup = {
    .name = "dup",
    .summary = "time of MPI_Comm_dup and MPI_Comm_free by T threads, each of its own communicator",
    .unit = "us",
    .ranks = RANKS_ANY,
    .default_window = 1,
    .ops = ops,
    .own_comms = true,
    .prepare = prepare,
    .repeat = repeat,
    .finish = finish,
    .value = mean_us,
};
