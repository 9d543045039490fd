/* Two threads pass a cache line to and fro: prints the median round trip in ns. The second argument is the core of the other thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIPS = 1000 };

static struct {
    _Alignas(128) atomic_int value;
} ball;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pin_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) perror("sched_setaffinity"), exit(1);
}

static void await(int value) {
    while (atomic_load_explicit(&ball.value, memory_order_acquire) != value) {}
}

static void *echo(void *core) {
    pin_to(*(int *)core);
    for (int i = 0; i < TRIPS; i++) {
        await(2 * i + 1);
        atomic_store_explicit(&ball.value, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int other = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    pin_to(0);
    if (pthread_create(&thread, NULL, echo, &other) != 0) return 1;
    int64_t began = 0;
    for (int i = 0; i < TRIPS; i++) {
        if (i == TRIPS / 2) began = now_ns();
        atomic_store_explicit(&ball.value, 2 * i + 1, memory_order_release);
        await(2 * i + 2);
    }
    int64_t ended = now_ns();
    pthread_join(thread, NULL);
    printf("%.1f\n", (double)(ended - began) / (TRIPS - TRIPS / 2));
    return 0;
}
