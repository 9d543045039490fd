// What the kernel copied once between processes it may refuse later, for some memory or for good: each operation then has
// its result by a slower way, and operations on other memory are as before. `memory` sends and exposes pages that a
// handler of the program opens when they are touched; after `filter`, `user` and `private` the last rank, or the others,
// may not copy at all.
// ranks: 3
// levels: single multiple
// variants: memory filter user private
// heddle: only
#define _GNU_SOURCE
#include "check.h"
#include "counters.h"
#include "refused_calls.h"

#include <signal.h>
#include <sys/mman.h>

// Long enough to be exposed in place, and longer than a ring takes at once.
enum { LEN = 300000, ODD_BYTES = 16 << 20 };

// Memory that the kernel does not copy for other processes: closed pages, which a handler opens page by page.
static char *odd;

static void open_page(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
    if (at < odd || at >= odd + ODD_BYTES) _exit(99);
    mprotect(at, 4096, PROT_READ | PROT_WRITE);
}

static void make_odd(void) {
    odd = mmap(NULL, ODD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(odd != MAP_FAILED);
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO | SA_NODEFER};
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
}

// True if the operations use that memory, which is closed before each of them.
static bool uses_odd;

static void close_odd(void) {
    if (uses_odd) CHECK_EQ(mprotect(odd, ODD_BYTES, PROT_NONE), 0);
}

// Copies between processes fail in this process from now on.
static void filter_copies(void) {
    const long calls[] = {SYS_process_vm_readv, SYS_process_vm_writev};
    CHECK(refuse_calls(calls, 2, EPERM));
}

// The byte of `from`'s data for `to` at a place.
static char value(int from, int to, int i, int round) { return (char)(from * 31 + to * 7 + i % 251 + round); }

static void fill(char *data, int to, int round) {
    for (int i = 0; i < LEN; i++) data[i] = value(check_rank, to, i, round);
}

static void check_block(const char *data, int from, int to, int round) {
    int wrong = 0;
    for (int i = 0; i < LEN; i++) wrong += data[i] != value(from, to, i, round);
    CHECK_EQ(wrong, 0);
}

// Where an operation's data lie: `in` and `out` have room for a block of each rank.
struct buffers {
    char *out, *in;
    MPI_Win window;  // over `in`, which is memory of the program
};

static void to_all(struct buffers at, int round) {
    for (int to = 0; to < check_size; to++) fill(at.out + (size_t)to * LEN, to, round);
    memset(at.in, 0, (size_t)check_size * LEN);
    close_odd();
}

static void messages(struct buffers at, int round) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    for (int k = 0; k < 12; k++) {
        to_all(at, round + k);
        MPI_Request requests[2];
        CHECK_OK(MPI_Irecv(at.in, LEN, MPI_BYTE, before, 0, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(at.out + (size_t)next * LEN, LEN, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check_block(at.in, before, check_rank, round + k);
    }
}

static void finish(MPI_Request *request, bool persistent) {
    if (persistent) CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (persistent) CHECK_OK(MPI_Request_free(request));
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static void gather(struct buffers at, int round, enum form form) {
    MPI_Request request;
    to_all(at, round);
    if (form == BLOCKING) CHECK_OK(MPI_Gather(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Igather(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, 0, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Gather_init(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    for (int from = 0; check_rank == 0 && from < check_size; from++) check_block(at.in + (size_t)from * LEN, from, 0, round);
}

static void allgather(struct buffers at, int round, enum form form) {
    MPI_Request request;
    to_all(at, round);
    if (form == BLOCKING) CHECK_OK(MPI_Allgather(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Iallgather(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Allgather_init(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    for (int from = 0; from < check_size; from++) check_block(at.in + (size_t)from * LEN, from, 0, round);
}

static void alltoall(struct buffers at, int round, enum form form) {
    MPI_Request request;
    to_all(at, round);
    if (form == BLOCKING) CHECK_OK(MPI_Alltoall(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Ialltoall(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Alltoall_init(at.out, LEN, MPI_BYTE, at.in, LEN, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    for (int from = 0; from < check_size; from++) check_block(at.in + (size_t)from * LEN, from, check_rank, round);
}

static void bcast(struct buffers at, int round, enum form form) {
    MPI_Request request;
    int root = round % check_size;
    memset(at.in, 0, LEN);
    if (check_rank == root) fill(at.in, 0, round);
    close_odd();
    if (form == BLOCKING) CHECK_OK(MPI_Bcast(at.in, LEN, MPI_BYTE, root, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Ibcast(at.in, LEN, MPI_BYTE, root, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Bcast_init(at.in, LEN, MPI_BYTE, root, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    check_block(at.in, root, 0, round);
}

static void reductions(struct buffers at, int round, enum form form) {
    MPI_Request request;
    enum { N = LEN / 8 };
    long *out = (long *)(void *)at.out, *in = (long *)(void *)at.in, size = check_size;
    for (int i = 0; i < N * check_size; i++) out[i] = check_rank + i + round;
    memset(at.in, 0, (size_t)check_size * LEN);
    close_odd();
    if (form == BLOCKING) CHECK_OK(MPI_Allreduce(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Iallreduce(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Allreduce_init(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += in[i] != size * (size - 1) / 2 + size * (i + round);
    CHECK_EQ(wrong, 0);
    memset(at.in, 0, (size_t)check_size * LEN);
    close_odd();
    if (form == BLOCKING) CHECK_OK(MPI_Reduce_scatter_block(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (form == NONBLOCKING) CHECK_OK(MPI_Ireduce_scatter_block(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request));
    if (form == PERSISTENT) CHECK_OK(MPI_Reduce_scatter_block_init(out, in, N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    if (form != BLOCKING) finish(&request, form == PERSISTENT);
    for (int i = 0; i < N; i++) wrong += in[i] != size * (size - 1) / 2 + size * (check_rank * N + i + round);
    CHECK_EQ(wrong, 0);
}

static void partitions(struct buffers at, int round) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    MPI_Request requests[2];
    to_all(at, round);
    CHECK_OK(MPI_Precv_init(at.in, 3, LEN / 3, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(at.out + (size_t)next * LEN, 3, LEN / 3, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Startall(2, requests));
    for (int part = 0; part < 3; part++) CHECK_OK(MPI_Pready(part, requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_block(at.in, before, check_rank, round);
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void one_sided(struct buffers at, int round) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    to_all(at, round);
    CHECK_OK(MPI_Win_fence(0, at.window));
    CHECK_OK(MPI_Put(at.out + (size_t)next * LEN, LEN, MPI_BYTE, next, 0, LEN, MPI_BYTE, at.window));
    CHECK_OK(MPI_Win_fence(0, at.window));
    check_block(at.in, before, check_rank, round);
    // In turns under a lock: the target waits in the barrier meanwhile.
    for (int turn = 0; turn < check_size; turn++) {
        if (turn == check_rank) {
            char *got = check_alloc(LEN);
            long one = 1, sum;
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, at.window));
            CHECK_OK(MPI_Get(got, LEN, MPI_BYTE, next, 0, LEN, MPI_BYTE, at.window));
            CHECK_OK(MPI_Win_flush(next, at.window));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, next, LEN, 1, MPI_LONG, MPI_SUM, at.window));
            CHECK_OK(MPI_Win_flush(next, at.window));
            CHECK_OK(MPI_Fetch_and_op(&one, &sum, MPI_LONG, next, LEN, MPI_SUM, at.window));
            CHECK_OK(MPI_Win_unlock(next, at.window));
            check_block(got, check_rank, next, round);
            CHECK_EQ(sum, 1);
            free(got);
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void everything(struct buffers at, int round) {
    messages(at, round);
    for (int form = 0; form < FORMS; form++) {
        gather(at, round, (enum form)form);
        allgather(at, round, (enum form)form);
        alltoall(at, round, (enum form)form);
        bcast(at, round, (enum form)form);
        reductions(at, round, (enum form)form);
    }
    partitions(at, round);
    one_sided(at, round);
}

static struct buffers buffers_in(char *memory) {
    struct buffers at = {.out = memory, .in = memory + (size_t)check_size * (LEN + 64)};
    CHECK_OK(MPI_Win_create(at.in, (MPI_Aint)check_size * LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at.window));
    return at;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    const char *variant = argv[argc - 1];
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    struct buffers plain = buffers_in(check_alloc(2 * (size_t)check_size * (LEN + 64)));
    struct counter served = counter_start("heddle_served_copies");
    everything(plain, 1);
    bool copies = counter_read(&served) == 0;

    if (strcmp(variant, "memory") == 0) {
        make_odd();
        struct buffers closed = buffers_in(odd);
        uses_odd = true;
        everything(closed, 2);
        uses_odd = false;
        unsigned long long count = counter_read(&served);
        CHECK(!copies || count != 0);
        // The kernel copies ordinary memory as before.
        everything(plain, 3);
        CHECK(!copies || counter_read(&served) == count);
        CHECK_OK(MPI_Win_free(&closed.window));
    } else {
        bool last = check_rank == check_size - 1;
        if (last && strcmp(variant, "filter") == 0) filter_copies();
        // The others may not copy from and to a process of another user, unless they are root's.
        if (last && strcmp(variant, "private") == 0) CHECK_EQ(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
        if (last && strcmp(variant, "user") == 0 && geteuid() == 0) CHECK_EQ(setresuid(65534, 65534, 65534), 0);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int round = 2; round < 4; round++) everything(plain, round);
        if (strcmp(variant, "filter") == 0 && last) CHECK(!copies || counter_read(&served) != 0);
    }
    counter_end(&served);
    CHECK_OK(MPI_Win_free(&plain.window));
    free(plain.out);
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
