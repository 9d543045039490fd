/* System calls on the machine: prints what each takes in ns, a row each, and ends with 1 where one answers wrongly. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_NS = 50000, LIMIT_NS = 20000, MILLISECOND_NS = 1000000, COPIED = 65536 };

static void expect(int is_so, const char *what) {
    if (is_so) return;
    printf("wrong: %s\n", what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec at_ns(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Prints the time since `began`. */
static void row(const char *what, int64_t began) {
    printf("%s %lld\n", what, (long long)(now_ns() - began));
}

static long futex(atomic_int *word, int operation, int value, const struct timespec *limit, void *other, int last) {
    return syscall(SYS_futex, word, operation, value, limit, other, last);
}

static long wake(atomic_int *word, int most) {
    return futex(word, FUTEX_WAKE, most, NULL, NULL, 0);
}

static void simple_calls(void) {
    int64_t began = now_ns();
    row("clock", began);
    began = now_ns();
    for (int i = 0; i < 10; i++) syscall(SYS_getppid);
    row("ten calls", began);
    began = now_ns();
    sched_yield();
    row("yield", began);
    static char from[COPIED], to[COPIED];
    struct iovec here = {to, COPIED}, there = {from, COPIED};
    process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    began = now_ns();
    expect(process_vm_readv(getpid(), &here, 1, &there, 1, 0) == COPIED, "process_vm_readv");
    row("copy", began);
}

static void clocks(void) {
    struct timespec real;
    struct timeval day;
    clock_gettime(CLOCK_REALTIME, &real);
    gettimeofday(&day, NULL);
    expect(day.tv_sec == real.tv_sec, "gettimeofday");
    expect(syscall(SYS_time, NULL) == real.tv_sec, "time");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &real);
    expect(real.tv_sec == 0, "the time of the process does not begin at 0");
}

static void sleeps(void) {
    struct timespec length = at_ns(SLEEP_NS);
    int64_t began = now_ns();
    nanosleep(&length, NULL);
    row("sleep", began);
    began = now_ns();
    struct timespec end = at_ns(began + SLEEP_NS);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
    row("sleep until", began);
}

static void limits(void) {
    atomic_int word = 0;
    struct timespec limit = at_ns(LIMIT_NS);
    int64_t began = now_ns();
    expect(futex(&word, FUTEX_WAIT, 0, &limit, NULL, 0) == -1 && errno == ETIMEDOUT, "FUTEX_WAIT with a limit");
    row("futex", began);
    began = now_ns();
    struct timespec end = at_ns(began + LIMIT_NS);
    expect(futex(&word, FUTEX_WAIT_BITSET, 0, &end, NULL, -1) == -1 && errno == ETIMEDOUT, "FUTEX_WAIT_BITSET with a limit");
    row("futex until", began);
    expect(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0) == -1 && errno == EAGAIN, "FUTEX_WAIT for another value");

    int ends[2];
    expect(pipe(ends) == 0, "pipe");
    struct pollfd list = {.fd = ends[0], .events = POLLIN};
    began = now_ns();
    expect(poll(&list, 1, 1) == 0 && list.fd == ends[0], "poll");
    row("poll", began);
    began = now_ns();
    expect(ppoll(&list, 1, &limit, NULL) == 0 && limit.tv_nsec == LIMIT_NS, "ppoll");
    row("ppoll", began);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval short_time = {.tv_usec = LIMIT_NS / 1000};
    began = now_ns();
    expect(select(ends[0] + 1, &set, NULL, NULL, &short_time) == 0, "select");
    row("select", began);
    int group = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    expect(epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
    began = now_ns();
    expect(epoll_wait(group, &event, 1, 1) == 0, "epoll_wait");
    row("epoll", began);
    expect(write(ends[1], "x", 1) == 1 && epoll_wait(group, &event, 1, -1) == 1, "epoll_wait for what has come");
}

static atomic_int sleepers, door;
static atomic_llong woken_at;
static atomic_int first_woken;

static void *sleep_at_door(void *number) {
    sleepers++;
    futex(&door, FUTEX_WAIT_BITSET, 0, NULL, NULL, 2);
    woken_at = now_ns();
    int nobody = 0;
    atomic_compare_exchange_strong(&first_woken, &nobody, *(int *)number);
    return NULL;
}

/* Threads that sleep at the door, one after the other. */
static void put_to_sleep(pthread_t *threads, int *numbers, int count) {
    first_woken = 0;
    for (int i = 0; i < count; i++) {
        int before = sleepers;
        numbers[i] = i + 1;
        expect(pthread_create(&threads[i], NULL, sleep_at_door, &numbers[i]) == 0, "pthread_create");
        while (sleepers == before) sched_yield();
        struct timespec length = at_ns(SLEEP_NS);
        nanosleep(&length, NULL);
    }
}

static void wakes(void) {
    pthread_t threads[2];
    int numbers[2];
    int64_t began = now_ns();
    wake(&door, 1);
    row("wake nobody", began);
    put_to_sleep(threads, numbers, 1);
    expect(futex(&door, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1) == 0, "FUTEX_WAKE_BITSET of other bits");
    began = now_ns();
    expect(wake(&door, 1) == 1, "FUTEX_WAKE");
    row("wake", began);
    pthread_join(threads[0], NULL);
    printf("awake %lld\n", (long long)(woken_at - began));

    put_to_sleep(threads, numbers, 2);
    expect(futex(&door, FUTEX_WAKE_BITSET, 1, NULL, NULL, 2) == 1, "FUTEX_WAKE_BITSET");
    pthread_join(threads[0], NULL);
    expect(first_woken == 1, "the first to sleep is not the first to wake");
    expect(wake(&door, 1) == 1, "FUTEX_WAKE of the second");
    pthread_join(threads[1], NULL);
    put_to_sleep(threads, numbers, 2);
    atomic_int other = 0;
    expect(futex(&door, FUTEX_CMP_REQUEUE, 0, (void *)2, &other, 1) == -1 && errno == EAGAIN, "FUTEX_CMP_REQUEUE with another value");
    futex(&door, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 0);
    wake(&other, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void pin_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    expect(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
    unsigned here, node;
    syscall(SYS_getcpu, &here, &node, NULL);
    expect((int)here == core && (int)node == core / 44, "getcpu");
    expect(sched_getcpu() == core, "the restartable sequence's core");
}

static void *begin(void *began) {
    row("thread", *(int64_t *)began);
    return NULL;
}

/* The longest time between two looks at the clock, while the other thread makes a barrier. */
static atomic_int runs, is_over;
static void *be_interrupted(void *unused) {
    (void)unused;
    int64_t last = now_ns(), longest = 0;
    runs = 1;
    while (!is_over) {
        int64_t now = now_ns();
        if (now - last > longest) longest = now - last;
        last = now;
    }
    printf("interrupted %lld\n", (long long)longest);
    return NULL;
}

static void cores(void) {
    cpu_set_t set;
    expect(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 88, "sched_getaffinity");
    expect(syscall(SYS_sched_getaffinity, 0, 8, &set) == -1 && errno == EINVAL, "sched_getaffinity with room for 64 cores");
    pin_to(3);
    pin_to(44);
    CPU_ZERO(&set);
    CPU_SET(88, &set);
    expect(sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL, "sched_setaffinity to no core");
    CPU_SET(0, &set);
    CPU_SET(1, &set);
    expect(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");

    pthread_t thread;
    int64_t began = now_ns();
    expect(pthread_create(&thread, NULL, begin, &began) == 0, "pthread_create");
    pthread_join(thread, NULL);
    expect(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED, "membarrier's commands");
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    expect(pthread_create(&thread, NULL, be_interrupted, NULL) == 0, "pthread_create");
    while (!runs) {}
    began = now_ns();
    expect(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0, "membarrier");
    row("barrier", began);
    is_over = 1;
    pthread_join(thread, NULL);
}

/* How often another thread has run on this one's core though it wanted to run. */
static long switches(void) {
    struct rusage usage;
    expect(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
    return usage.ru_nivcsw;
}

static atomic_int is_beside, is_done;
static void *yield_beside(void *unused) {
    (void)unused;
    pin_to(3);
    is_beside = 1;
    while (!is_done) sched_yield();
    return NULL;
}

/* Yields count as switches if another thread runs meanwhile, and only then. */
static void yields(void) {
    enum { YIELDS = 10 };
    pthread_t thread;
    pin_to(3);
    long before = switches();
    for (int i = 0; i < YIELDS; i++) sched_yield();
    expect(switches() == before, "a yield to nobody is a switch");
    expect(pthread_create(&thread, NULL, yield_beside, NULL) == 0, "pthread_create");
    while (!is_beside) sched_yield();
    before = switches();
    for (int i = 0; i < YIELDS; i++) sched_yield();
    expect(switches() == before + YIELDS, "a yield to a thread of the same core is no switch");
    is_done = 1;
    pthread_join(thread, NULL);
}

/* It holds up nobody, nor the end of the process. */
static void *compute(void *unused) {
    (void)unused;
    for (volatile unsigned i = 0;;) i++;
}

int main(void) {
    simple_calls();
    clocks();
    sleeps();
    limits();
    wakes();
    cores();
    yields();
    pthread_t computer;
    expect(pthread_create(&computer, NULL, compute, NULL) == 0, "pthread_create");
    return 0;
}
