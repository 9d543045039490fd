// How much memory a process has: for programs that must not let it grow.
#ifndef RESIDENT_H
#define RESIDENT_H

#include "check.h"
#include <sys/stat.h>
#include <unistd.h>

static long resident_kib(void) {
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &total, &resident) == 2);
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// How much memory the files have that the process has open, which a job's shared memory may be.
CHECK_UNUSED static long files_kib(void) {
    enum { MOST = 1024 };
    struct stat all[MOST];
    int found = 0;
    long blocks = 0;
    for (int fd = 0; fd < MOST; fd++) {
        if (fstat(fd, &all[found]) != 0 || !S_ISREG(all[found].st_mode)) continue;
        int same = 0;
        for (int i = 0; i < found; i++) same += all[i].st_ino == all[found].st_ino && all[i].st_dev == all[found].st_dev;
        if (same) continue;
        blocks += (long)all[found].st_blocks;
        found++;
    }
    return blocks / 2;
}

#endif
