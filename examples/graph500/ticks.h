/* A clock cheap enough to stand around every MPI call.
 *
 * Ticks have no unit of their own. tick_rate() compares them with MPI_Wtime over
 * the time since tick_start(), so call it once, late in the run. */
#ifndef GRAPH500_TICKS_H
#define GRAPH500_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t ticks_now(void) { return __rdtsc(); }
#elif defined(__aarch64__)
static inline uint64_t ticks_now(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#include <time.h>
static inline uint64_t ticks_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

struct tick_origin {
    uint64_t ticks;
    double seconds;
};

/* Remembers where both clocks stand. */
struct tick_origin tick_start(void);

/* Ticks a second, from the time passed since `origin`. */
double tick_rate(struct tick_origin origin);

#endif
