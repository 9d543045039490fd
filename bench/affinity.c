/* Cores: which may be used, and staying on one. Done here and not by the launcher, so that it is the same for all
 * libraries. */
#define _GNU_SOURCE
#include "harness.h"

#include <sched.h>
#include <stdio.h>

/* The mask the process was started with, before anything was pinned. */
static const cpu_set_t *initial_mask(void) {
    static cpu_set_t mask;
    static bool known;
    if (!known) {
        if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
            perror("mtbench: sched_getaffinity");
            CPU_ZERO(&mask);
            CPU_SET(0, &mask);
        }
        known = true;
    }
    return &mask;
}

int allowed_cpus(void) { return CPU_COUNT(initial_mask()); }

int allowed_cpu(int index) {
    const cpu_set_t *mask = initial_mask();
    int wanted = index % CPU_COUNT(mask);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, mask) && wanted-- == 0) return cpu;
    return 0;
}

void pin_to(int cpu) {
    cpu_set_t one;
    initial_mask();
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) perror("mtbench: sched_setaffinity");
}

void unpin(void) {
    const cpu_set_t *mask = initial_mask();
    if (sched_setaffinity(0, sizeof *mask, mask) != 0) perror("mtbench: sched_setaffinity");
}
