/* Prints the nanoseconds per line of 64 bytes of three copies: 64 KiB that another core has written, the same again from the own caches,
 * 8 MiB from memory. The argument is the core of the other thread. */
#define _GNU_SOURCE
#include <emmintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Sources and destinations lie SHIFT apart, or they would meet in each cache whose sets repeat after 64 KiB. */
enum { LINE = 64, SMALL = 64 << 10, LARGE = 8 << 20, SHIFT = 33 * LINE };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void bind_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) perror("sched_setaffinity"), exit(1);
}

static char *memory(size_t bytes) {
    char *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) perror("mmap"), exit(1);
    return made;
}

static char *written;

static void *write_all(void *core) {
    bind_to(*(int *)core);
    memset(written, 1, SMALL);
    return NULL;
}

/* As a library copies what fits into its caches, in registers of 16 bytes. */
static double copy_small(char *to, const char *from) {
    int64_t began = now_ns();
    for (const char *end = from + SMALL; from < end; from += LINE, to += LINE)
        for (int part = 0; part < LINE; part += 16) _mm_store_si128((__m128i *)(to + part), _mm_load_si128((const __m128i *)(from + part)));
    __asm__ volatile("" ::: "memory");
    return (double)(now_ns() - began) / (SMALL / LINE);
}

static double copy_large(char *to, const char *from) {
    int64_t began = now_ns();
    memcpy(to, from, LARGE);
    return (double)(now_ns() - began) / (LARGE / LINE);
}

int main(int argc, char **argv) {
    int other = argc > 1 ? atoi(argv[1]) : 1;
    char *place = memory(SMALL + SHIFT) + SHIFT, *far = memory(LARGE), *far_place = memory(LARGE + SHIFT) + SHIFT;
    written = memory(SMALL);
    bind_to(0);
    memset(place, 0, SMALL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_all, &other) != 0) return 1;
    pthread_join(thread, NULL);
    double others = copy_small(place, written), own = copy_small(place, written);
    printf("%.2f %.2f %.2f\n", others, own, copy_large(far_place, far));
    return 0;
}
