/* locks KIND THREADS: threads acquire and release one lock for half a millisecond, and add to a line inside. Prints nanoseconds per
 * acquisition. KIND is tas, ticket or mcs, as in a textbook. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 256, LENGTH_NS = 500000, WARM_NS = 100000, TURNS_PER_LOOK = 4 };

struct node {
    _Alignas(128) _Atomic(struct node *) next;
    atomic_int waits;
};

static _Alignas(128) atomic_uint word, serving;
static _Alignas(128) _Atomic(struct node *) tail;
static _Alignas(128) atomic_llong opens_at;
static _Alignas(128) uint64_t inside;
static struct node nodes[MOST_THREADS];
static uint64_t counts[MOST_THREADS * 16];
static pthread_barrier_t all_here;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(void) { __builtin_ia32_pause(); }

static void tas_acquire(struct node *mine) {
    (void)mine;
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0) rest();
}
static void tas_release(struct node *mine) {
    (void)mine;
    atomic_store_explicit(&word, 0, memory_order_release);
}

static void ticket_acquire(struct node *mine) {
    (void)mine;
    unsigned ticket = atomic_fetch_add(&word, 1);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket) rest();
}
static void ticket_release(struct node *mine) {
    (void)mine;
    unsigned now = atomic_load_explicit(&serving, memory_order_relaxed);
    atomic_store_explicit(&serving, now + 1, memory_order_release);
}

static void mcs_acquire(struct node *mine) {
    atomic_store_explicit(&mine->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
    struct node *before = atomic_exchange(&tail, mine);
    if (!before) return;
    atomic_store_explicit(&before->next, mine, memory_order_release);
    while (atomic_load_explicit(&mine->waits, memory_order_acquire)) rest();
}
static void mcs_release(struct node *mine) {
    struct node *after = atomic_load_explicit(&mine->next, memory_order_acquire), *last = mine;
    if (!after && atomic_compare_exchange_strong(&tail, &last, NULL)) return;
    while (!(after = atomic_load_explicit(&mine->next, memory_order_acquire))) rest();
    atomic_store_explicit(&after->waits, 0, memory_order_release);
}

static const struct kind {
    const char *name;
    void (*acquire)(struct node *);
    void (*release)(struct node *);
} kinds[] = {{"tas", tas_acquire, tas_release}, {"ticket", ticket_acquire, ticket_release}, {"mcs", mcs_acquire, mcs_release}};
static const struct kind *kind;

static void *work(void *number) {
    size_t mine = (size_t)number;
    pthread_barrier_wait(&all_here);
    if (mine == 0) atomic_store(&opens_at, now_ns() + WARM_NS);
    while (!atomic_load(&opens_at)) rest();
    int64_t from = atomic_load(&opens_at);
    for (int64_t now; (now = now_ns()) < from + LENGTH_NS;)
        for (int turn = 0; turn < TURNS_PER_LOOK; turn++) {
            kind->acquire(&nodes[mine]);
            inside++;
            kind->release(&nodes[mine]);
            counts[mine * 16] += now >= from;
        }
    return NULL;
}

int main(int argc, char **argv) {
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t k = 0; argc > 1 && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(argv[1], kinds[k].name) == 0) kind = &kinds[k];
    if (!kind || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "locks tas|ticket|mcs THREADS\n");
        return 2;
    }
    pthread_t ids[MOST_THREADS];
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (size_t t = 0; t < threads; t++)
        if (pthread_create(&ids[t], NULL, work, (void *)t) != 0) return 1;
    uint64_t all = 0;
    for (size_t t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
        all += counts[t * 16];
    }
    printf("%.1f\n", (double)LENGTH_NS / (double)all);
    return 0;
}
