/* The meter of a worker, and what its sums mean. */
#define _GNU_SOURCE
#include "harness.h"

#include <time.h>

#define SLICE_NS 500000
static void slices_add(struct slices *s, double units, double busy_ns) {
    s->units += units;
    s->busy_ns += busy_ns;
    if (s->busy_ns < SLICE_NS || s->count == (int)(sizeof s->rates / sizeof *s->rates)) return;
    s->rates[s->count++] = s->units / s->busy_ns;
    s->units = s->busy_ns = 0;
}

bool meter_add(struct meter *m, int64_t from_ns, int64_t to_ns, double units) {
    return meter_add_busy(m, from_ns, to_ns, units, (double)(to_ns - from_ns));
}

bool meter_add_busy(struct meter *m, int64_t from_ns, int64_t to_ns, double units, double busy_ns) {
    m->all_units += units;
    int64_t low = from_ns > m->open_ns ? from_ns : m->open_ns;
    int64_t high = to_ns < m->close_ns ? to_ns : m->close_ns;
    if (high > low) {
        double part = (double)(high - low) / (double)(to_ns - from_ns);
        m->units += units * part;
        m->busy_ns += busy_ns * part;
        if (to_ns - from_ns > m->longest_ns) m->longest_ns = to_ns - from_ns;
        if (m->slices) slices_add(m->slices, units * part, busy_ns * part);
    }
    return to_ns < m->close_ns;
}

#define RUN_SHORT_NS 200000
#define RUN_LONG_NS 1000000
#define RUN_MAX 1024

int next_run(int run, int64_t took_ns) {
    if (took_ns < RUN_SHORT_NS && run < RUN_MAX) return run * 2;
    if (took_ns > RUN_LONG_NS && run > 1) return run / 2;
    return run;
}

void sleep_out(const struct meter *m) {
    struct timespec until = {(time_t)(m->close_ns / 1000000000), (long)(m->close_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
}

double units_a_second(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)b, (void)busy_ns;
    return units / interval_ns * 1e9;
}

double mean_ns(const struct bench *b, double units, double busy_ns, double interval_ns) {
    (void)b, (void)interval_ns;
    return busy_ns / units;
}

double mean_us(const struct bench *b, double units, double busy_ns, double interval_ns) {
    return mean_ns(b, units, busy_ns, interval_ns) / 1000;
}
