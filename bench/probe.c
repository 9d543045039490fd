/* The machine's own speed beside every figure: how long a cache line takes from the first core to the second and
 * back. Hosts differ, and the same virtual machine may be twice as slow a minute later; figures compare only when
 * their probes agree. One line a direction, as in a message channel.
 *
 * With two or more ranks it runs between ranks 0 and its partner, over a shared mapping, so that nothing else of the
 * job runs on the two cores; alone it runs between two threads. */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCHES 64
#define TRIPS 500
#define SPINS_BEFORE_YIELD 20000

struct lines {
    _Alignas(256) atomic_uint there;
    _Alignas(256) atomic_uint back;
};

static void await(atomic_uint *line, unsigned value) {
    for (unsigned spins = 0; atomic_load_explicit(line, memory_order_acquire) != value;)
        if (++spins >= SPINS_BEFORE_YIELD) sched_yield();
}

static double ask(struct lines *l) {
    double batches[BATCHES];
    unsigned turn = 0;
    for (int b = 0; b < BATCHES; b++) {
        int64_t start = now_ns();
        for (int i = 0; i < TRIPS; i++) {
            atomic_store_explicit(&l->there, ++turn, memory_order_release);
            await(&l->back, turn);
        }
        batches[b] = (double)(now_ns() - start) / TRIPS;
    }
    return median(batches, BATCHES);
}

static void answer(struct lines *l) {
    for (unsigned turn = 1; turn <= BATCHES * TRIPS; turn++) {
        await(&l->there, turn);
        atomic_store_explicit(&l->back, turn, memory_order_release);
    }
}

static void *answering_thread(void *arg) {
    pin_to(allowed_cpu(1));
    answer(arg);
    return NULL;
}

static double probe_threads(void) {
    static struct lines l;
    atomic_store(&l.there, 0);
    atomic_store(&l.back, 0);
    pthread_t other;
    pin_to(allowed_cpu(0));
    double ns = NAN;
    if (pthread_create(&other, NULL, answering_thread, &l) == 0) {
        ns = ask(&l);
        pthread_join(other, NULL);
    }
    return ns;
}

static struct lines *map(const char *name, int flags) {
    int fd = shm_open(name, flags, 0600);
    if (fd < 0) return NULL;
    struct lines *l = NULL;
    if (ftruncate(fd, sizeof *l) == 0) {
        l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (l == MAP_FAILED) l = NULL;
    }
    close(fd);
    return l;
}

static double probe_ranks(struct bench *b, int partner) {
    char name[64] = "";
    double ns = NAN;
    struct lines *l = NULL;
    if (b->rank == 0) {
        snprintf(name, sizeof name, "/heddle-bench-probe-%ld", (long)getpid());
        l = map(name, O_RDWR | O_CREAT | O_EXCL);
        if (!l) name[0] = '\0';
        MPI_Send(name, sizeof name, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
        int mapped;
        MPI_Recv(&mapped, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (l) shm_unlink(name);
        if (l && !mapped) {
            munmap(l, sizeof *l);
            l = NULL;
        }
    } else if (b->rank == partner) {
        MPI_Recv(name, sizeof name, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (name[0]) l = map(name, O_RDWR);
        int mapped = l != NULL;
        MPI_Send(&mapped, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (l) {
        pin_to(allowed_cpu(b->rank == 0 ? 0 : 1));
        if (b->rank == 0) ns = ask(l);
        else answer(l);
        munmap(l, sizeof *l);
    }
    return ns;
}

double probe(struct bench *b) {
    if (allowed_cpus() < 2) return NAN;
    double ns = b->ranks == 1 ? probe_threads() : probe_ranks(b, b->ranks / 2);
    if (b->opt.pin) pin_to(allowed_cpu(b->rank));
    else unpin();
    return ns;
}

int probe_alone(void) {
    double ns = allowed_cpus() < 2 ? NAN : probe_threads();
    if (isnan(ns)) {
        fprintf(stderr, "mtbench: the probe needs two cores\n");
        return 1;
    }
    printf("{\"bench\":\"probe\",\"value\":%.1f,\"unit\":\"ns\"}\n", ns);
    return 0;
}
