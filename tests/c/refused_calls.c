// System calls that worked when the job started and that a filter of the program refuses later: everything goes on. Threads
// sleep and are woken, biased locks change hands, memory is made and freed.
// ranks: 3
// levels: multiple
// variants: futex membarrier membarrier_of_cores places madvise files sleeps processes
// heddle: only
#include "refused_calls.h"
#include "threads.h"

#include <time.h>

enum { THREADS = 3, ROUNDS = 30, LARGE = 200000 };

static MPI_Comm comms[THREADS];

// Long enough for the peers to go to sleep.
static void be_away(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 3000000;
    for (struct timespec now = {0}; now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec);) {
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

static void talk(int index, void *shared) {
    (void)shared;
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    char *out = check_alloc(LARGE), *in = check_alloc(LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        int len = round % 5 == 4 ? LARGE : round % 5 * 700;
        pattern_fill(out, (size_t)len, (unsigned)(check_rank + round + index));
        if (round % (4 * check_size) == check_rank) be_away();
        // Each thread on its own communicator, and all of them on one.
        for (int comm = 0; comm < 2; comm++) {
            CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, to, index, in, len, MPI_BYTE, from, index,
                                  comm == 0 ? comms[index] : MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(in, (size_t)len, (unsigned)(from + round + index));
        }
        long one = 1, sum = 0;
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comms[index]));
        CHECK_EQ(sum, check_size);
    }
    free(in), free(out);
}

static void objects(void) {
    MPI_Comm copy;
    MPI_Win win;
    long *memory, one = 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, copy, &memory, &win));
    *memory = 0;
    CHECK_OK(MPI_Barrier(copy));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        if (i == check_rank) be_away();
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Barrier(copy));
    if (check_rank == 0) CHECK_EQ(*memory, 10 * check_size);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Comm_free(&copy));
}

static const struct {
    const char *name;
    long calls[REFUSED_AT_MOST];
} groups[] = {
    {"membarrier", {SYS_membarrier}},
    {"membarrier_of_cores", {SYS_membarrier}},
    {"places", {SYS_getcpu, SYS_sched_getaffinity, SYS_mbind, SYS_get_mempolicy, SYS_set_mempolicy, SYS_move_pages}},
    {"madvise", {SYS_madvise, SYS_mlock, SYS_munlock, SYS_mincore}},
    {"files", {SYS_openat, SYS_memfd_create, SYS_fcntl, SYS_readlink, SYS_statfs}},
    {"sleeps", {SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_ppoll, SYS_epoll_wait}},
    {"processes", {SYS_gettid, SYS_getpid, SYS_kill, SYS_tgkill, SYS_prctl, SYS_getrusage}},
};

int main(int argc, char **argv) {
    const char *variant = argv[argc - 1];
    // Not every model has such locks.
    const char *model = getenv("HEDDLE_MODEL");
    bool is_default = model == NULL || strcmp(model, "auto") == 0;
    if (strcmp(variant, "membarrier_of_cores") == 0 && is_default) setenv("HEDDLE_BIAS", "core", 1);
    check_start(argc, argv);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    threads_run(THREADS, talk, NULL);
    objects();
    if (strcmp(variant, "futex") == 0 && check_rank != 0) CHECK(refuse_futexes());
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(groups[i].name, variant) != 0) continue;
        int count = 0;
        while (count < REFUSED_AT_MOST && (count == 0 || groups[i].calls[count] != 0)) count++;
        // One process may still call all.
        if (check_rank != 0) CHECK(refuse_calls(groups[i].calls, count, EPERM));
    }
    threads_run(THREADS, talk, NULL);
    objects();
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&comms[i]));
    return check_finish();
}
