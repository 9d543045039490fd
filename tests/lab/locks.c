/* locks KIND THREADS [free|packed|spread [LINES [MICROSECONDS]]]: threads acquire and release one lock, and add to LINES (1) lines of 64
 * inside, drawn at random. Prints nanoseconds per acquisition over that time (500).
 *
 * KIND is tas, tas-yield, ticket, mcs or hmcs, as in a textbook; pthread; or one of Heddle's, heddle:NAME. Threads are bound to the first cores
 * (packed), to each half of the cores in turn (spread), or not at all. */
#define _GNU_SOURCE
#include <heddle_sync.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256, WARM_NS = 100000, TURNS_PER_LOOK = 4, LINES = 64, MOST_PASSED = 256 };

struct node {
    _Alignas(128) _Atomic(struct node *) next;
    atomic_int told;
    unsigned half;
};

static _Alignas(128) atomic_uint word, serving;
static _Alignas(128) _Atomic(struct node *) tail;
static _Alignas(128) atomic_llong opens_at;
static struct {
    _Alignas(64) uint64_t value;
} inside[LINES];
static int64_t length_ns = 500000;
static unsigned long touched = 1;
static enum { FREE, PACKED, SPREAD } place;
static pthread_mutex_t system_lock = PTHREAD_MUTEX_INITIALIZER;
static heddle_lock *heddles_lock;
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

static void yield_acquire(struct node *mine) {
    (void)mine;
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire) != 0) sched_yield();
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

/* What the next in a queue is told: the lock is its own, it has to wait, or it has to take the lock above. */
enum { PASSED, WAITS, FIRST };

static int enter(_Atomic(struct node *) *queue, struct node *mine) {
    atomic_store_explicit(&mine->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&mine->told, WAITS, memory_order_relaxed);
    struct node *before = atomic_exchange(queue, mine);
    if (!before) return FIRST;
    atomic_store_explicit(&before->next, mine, memory_order_release);
    int told;
    while ((told = atomic_load_explicit(&mine->told, memory_order_acquire)) == WAITS) rest();
    return told;
}
static void leave(_Atomic(struct node *) *queue, struct node *mine, int tell) {
    struct node *after = atomic_load_explicit(&mine->next, memory_order_acquire), *last = mine;
    if (!after && atomic_compare_exchange_strong(queue, &last, NULL)) return;
    while (!(after = atomic_load_explicit(&mine->next, memory_order_acquire))) rest();
    atomic_store_explicit(&after->told, tell, memory_order_release);
}

static void mcs_acquire(struct node *mine) { enter(&tail, mine); }
static void mcs_release(struct node *mine) { leave(&tail, mine, PASSED); }

/* A queue for each half of the cores. Its first waits in the queue of both, and hands the lock on within the half. */
static struct half {
    _Alignas(128) _Atomic(struct node *) tail;
    struct node above;
    int passed;
} halves[2];

static void hmcs_acquire(struct node *mine) {
    struct half *half = &halves[mine->half];
    if (enter(&half->tail, mine) == PASSED) return;
    enter(&tail, &half->above);
    half->passed = 0;
}
static void hmcs_release(struct node *mine) {
    struct half *half = &halves[mine->half];
    if (half->passed++ < MOST_PASSED && atomic_load_explicit(&mine->next, memory_order_acquire)) return leave(&half->tail, mine, PASSED);
    leave(&tail, &half->above, PASSED);
    leave(&half->tail, mine, FIRST);
}

static void system_acquire(struct node *mine) { (void)mine, pthread_mutex_lock(&system_lock); }
static void system_release(struct node *mine) { (void)mine, pthread_mutex_unlock(&system_lock); }

static void heddle_acquire(struct node *mine) { (void)mine, heddle_lock_acquire(heddles_lock); }
static void heddle_release(struct node *mine) { (void)mine, heddle_lock_release(heddles_lock); }

static const struct kind {
    const char *name;
    void (*acquire)(struct node *);
    void (*release)(struct node *);
} kinds[] = {
    {"tas", tas_acquire, tas_release},
    {"tas-yield", yield_acquire, tas_release},
    {"ticket", ticket_acquire, ticket_release},
    {"mcs", mcs_acquire, mcs_release},
    {"hmcs", hmcs_acquire, hmcs_release},
    {"pthread", system_acquire, system_release},
    {"heddle:", heddle_acquire, heddle_release},
};
static const struct kind *kind;

static void bind_thread(size_t mine) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long core = place == PACKED ? (long)mine : (long)(mine % 2) * (cores / 2) + (long)(mine / 2);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(core % cores), &set);
    nodes[mine].half = core % cores >= cores / 2;
    if (sched_setaffinity(0, sizeof set, &set) != 0) perror("sched_setaffinity"), exit(1);
}

static void *work(void *number) {
    size_t mine = (size_t)number;
    uint32_t random = (uint32_t)mine * 2654435761u + 1;
    if (place != FREE) bind_thread(mine);
    pthread_barrier_wait(&all_here);
    if (mine == 0) atomic_store(&opens_at, now_ns() + WARM_NS);
    while (!atomic_load(&opens_at)) rest();
    int64_t from = atomic_load(&opens_at);
    for (int64_t now; (now = now_ns()) < from + length_ns;)
        for (int turn = 0; turn < TURNS_PER_LOOK; turn++) {
            kind->acquire(&nodes[mine]);
            for (unsigned long line = 0; line < touched; line++) {
                inside[touched > 1 ? random % LINES : 0].value++;
                random ^= random << 13, random ^= random >> 17, random ^= random << 5;
            }
            kind->release(&nodes[mine]);
            counts[mine * 16] += now >= from;
        }
    return NULL;
}

static int usage(void) {
    fprintf(stderr, "locks KIND THREADS [free|packed|spread [LINES [MICROSECONDS]]]\n");
    return 2;
}

int main(int argc, char **argv) {
    static const char *const places[] = {"free", "packed", "spread"};
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t k = 0; argc > 1 && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(argv[1], kinds[k].name) == 0) kind = &kinds[k];
    if (argc > 1 && strncmp(argv[1], "heddle:", 7) == 0) {
        if (heddle_lock_create(argv[1] + 7, &heddles_lock) != HEDDLE_STATUS_OK) return fprintf(stderr, "%s\n", heddle_last_error()), 2;
        kind = &kinds[sizeof kinds / sizeof *kinds - 1];
    }
    for (int p = 0; argc > 3 && p < 3; p++)
        if (strcmp(argv[3], places[p]) == 0) place = p;
    if (argc > 4) touched = strtoul(argv[4], NULL, 10);
    if (argc > 5) length_ns = 1000 * strtoll(argv[5], NULL, 10);
    if (!kind || threads < 1 || threads > MOST_THREADS || length_ns < 1) return usage();
    pthread_t ids[MOST_THREADS];
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (size_t t = 0; t < threads; t++)
        if (pthread_create(&ids[t], NULL, work, (void *)t) != 0) return 1;
    uint64_t all = 0;
    for (size_t t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
        all += counts[t * 16];
    }
    printf("%.1f\n", (double)length_ns / (double)all);
    return 0;
}
