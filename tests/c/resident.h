// How much memory a process has: for programs that must not let it grow.
#ifndef RESIDENT_H
#define RESIDENT_H

#include "check.h"
#include <unistd.h>

static long resident_kib(void) {
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &total, &resident) == 2);
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
