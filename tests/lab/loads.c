/* Loads of lines that no cache near the core has: prints how long one takes in ns, when each has its address from the one before, and when all
 * addresses are known. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINES = 1 << 15, LOADS = 2000, STEP = 12345 };

struct line {
    _Alignas(64) struct line *next;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void) {
    struct line *lines = aligned_alloc(64, LINES * sizeof *lines);
    if (lines == NULL) return 1;
    /* A step that has no divisor in common with their number leads to all of them. */
    for (int i = 0; i < LINES; i++) lines[i].next = &lines[(i + STEP) % LINES];
    int64_t began = now_ns();
    struct line *at = lines;
    for (int i = 0; i < LOADS; i++) at = at->next;
    int64_t chained = now_ns();
    uintptr_t sum = (uintptr_t)at;
    for (unsigned i = 0, number = STEP / 2; i < LOADS; i++, number = (number + STEP) % LINES) sum += (uintptr_t)lines[number].next;
    int64_t ended = now_ns();
    printf("%.1f %.1f\n", (double)(chained - began) / LOADS, (double)(ended - chained) / LOADS);
    return sum == 0;
}
