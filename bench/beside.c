/* Computing processes, or computing threads of the same process, beside those that communicate. They count what they
 * compute, so that it can be seen what the library leaves them. */
#define _GNU_SOURCE
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The work of a few microseconds. */
#define UNIT_STEPS 4096

static struct computer {
    _Alignas(64) _Atomic uint64_t units;
} *computers;
static int computer_count;

static _Noreturn void compute(struct computer *c) {
    volatile uint64_t x = 1;
    for (;;) {
        for (int i = 0; i < UNIT_STEPS; i++) x = x * 3 + 1;
        c->units++;
    }
}

static void *computing_thread(void *c) { compute(c); }

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

/* The child of a process that has not initialised MPI yet; it ends with its parent. */
static void start_process(struct computer *c) {
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail("mtbench: fork");
    if (child > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    compute(c);
}

static void start_thread(struct computer *c) {
    pthread_t id;
    if (pthread_create(&id, NULL, computing_thread, c) != 0) fail("mtbench: pthread_create");
    pthread_detach(id);
}

void beside_start(const struct options *opt) {
    computer_count = opt->beside_processes + opt->beside_threads;
    if (computer_count == 0) return;
    computers = mmap(NULL, (size_t)computer_count * sizeof *computers, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (computers == MAP_FAILED) fail("mtbench: mmap");
    for (int i = 0; i < computer_count; i++)
        if (i < opt->beside_processes) start_process(&computers[i]);
        else start_thread(&computers[i]);
}

double beside_units(void) {
    double units = 0;
    for (int i = 0; i < computer_count; i++) units += (double)computers[i].units;
    return units;
}
