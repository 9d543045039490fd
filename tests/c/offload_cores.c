// Each thread of the library runs on the core that was chosen for it, and on no other.
// ranks: 1
// levels: multiple
// models: default
// heddle: only
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <sched.h>

enum { CORES = 2 };

static int cores[CORES];

static bool find_cores(void) {
    int found = 0;
    cpu_set_t allowed;
    CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int core = 0; core < CPU_SETSIZE && found < CORES; core++) {
        if (CPU_ISSET(core, &allowed)) cores[found++] = core;
    }
    return found == CORES;
}

// The number of a thread of the library among its threads; -1 for another thread.
static int number_of(const char *task) {
    char path[300], name[32] = "";
    int number = -1;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (!fgets(name, sizeof name, file) || sscanf(name, "heddle-vni-%d", &number) != 1) number = -1;
    fclose(file);
    return number;
}

int main(int argc, char **argv) {
    char list[32];
    int seen = 0;
    if (!find_cores()) {
        fprintf(stderr, "this needs two cores\n");
        return 0;
    }
    snprintf(list, sizeof list, "%d,%d", cores[0], cores[1]);
    CHECK_EQ(setenv("HEDDLE_EXECUTION", "offload", 1), 0);
    CHECK_EQ(setenv("HEDDLE_VNIS", "2", 1), 0);
    CHECK_EQ(setenv("HEDDLE_OFFLOAD_CORES", list, 1), 0);
    check_start(argc, argv);
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        int number = number_of(task->d_name);
        cpu_set_t set;
        if (number < 0) continue;
        CHECK_EQ(sched_getaffinity(atoi(task->d_name), sizeof set, &set), 0);
        CHECK_EQ(CPU_COUNT(&set), 1);
        CHECK(CPU_ISSET(cores[number % CORES], &set));
        seen++;
    }
    closedir(tasks);
    CHECK_EQ(seen, CORES);
    return check_finish();
}
