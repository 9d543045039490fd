/* Cache misses of rank 0 for a unit of its work, by the processor's counter, as Fig. 6 of Goodell et al. (IEEE Cluster 2010)
 * has them. Many virtual machines have no such counter; then the figure is absent, which is said once. */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Starts to count for this thread and those that it will make; -1 where it cannot. */
int misses_open(const struct bench *b) {
    if (b->rank != 0 || !b->opt.misses) return -1;
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_CACHE_MISSES;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    int counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (counter < 0) fprintf(stderr, "mtbench: no counter of cache misses: %s\n", strerror(errno));
    return counter;
}

void misses_close(struct bench *b, int counter, double units) {
    uint64_t count;
    if (counter < 0) return;
    if (read(counter, &count, sizeof count) == sizeof count) add_figure(b, "cache_misses", (double)count / units);
    close(counter);
}
