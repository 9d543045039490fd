/* The MPI calls whose instructions are counted under callgrind: one named case for each hot path.
 *
 *   mpiexec -n 1 valgrind --tool=callgrind --collect-atstart=no --instr-atstart=no ./calls LEVEL FILE [CASE..]
 *           : -n 1 ./calls LEVEL FILE
 *   ./calls list
 *
 * The program uses standard MPI only, so it counts any library. Rank 0 runs under valgrind; rank 1 is its peer.
 * Collection is on only while rank 0 is in the calls of a case: neither the loops nor the waits for the peer are
 * counted. After each part of a case, of BATCHES batches, rank 0 dumps the counts under the name of the case. LEVEL is
 * the thread level that the program asks for. The case "nothing" counts what the switching of collection itself costs. Without the peer, in a
 * world of one process, the program runs only the cases that need none.
 *
 * Counts must not depend on timing. So the peer acts only on orders, and at most BATCH messages are in flight, which
 * fit the buffers of every library. Where a case needs a message that has arrived, rank 0 knows that it has. Either
 * rank 0 has received a later message from the same peer: then the first one is in the queue of unexpected messages.
 * Or the peer tells through FILE, which both ranks map, that its send has returned: then the message lies in shared
 * memory, in Heddle's case in a ring, and the library has not polled yet. And a busy machine must count like a quiet
 * one: a library that asks the kernel how often its thread was preempted gets the answer "never".
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

enum { BATCH = 32, BATCHES = 5, PARTS = 8, WARM_BATCHES = 12, WARM_WAITS = 8192, PEER = 1, LARGER = 1024 };
enum { TAG_DATA = 1, TAG_ORDER, TAG_LAST, TAG_NONE };
/* What rank 0 orders the peer to do; an order also names the number of messages and their size. */
enum order { RECEIVE, SEND, SEND_AND_LAST, SEND_AND_TELL, START_AND_TELL, END };

static char bytes[BATCH][LARGER];
static MPI_Request requests[BATCH];
static int flag, processes;
static MPI_Win window, unlocked_window;
/* A persistent allreduce on a communicator of its own. */
static MPI_Comm reducing;
static MPI_Request allreduce;
static long term = 1, sum;
/* Lies in the file that both ranks map: how many orders SEND_AND_TELL and START_AND_TELL the peer has carried out. */
static _Atomic int *told;
static int told_before;

/* True while rank 0 is in calls that need no peer to run. */
static int is_alone;

/* Neither is inlined, so that both add the same number of instructions everywhere. */
__attribute__((noinline)) static void begin(void) {
    is_alone = 1;
    CALLGRIND_TOGGLE_COLLECT;
}
__attribute__((noinline)) static void end(void) {
    CALLGRIND_TOGGLE_COLLECT;
    is_alone = 0;
}

/* These replace the C library's functions, for this program and for the MPI library. On a busy machine a yield takes
 * a time slice, and Heddle, which times its yields, would change how often it yields. */
int sched_yield(void) { return is_alone ? 0 : (int)syscall(SYS_sched_yield); }

int getrusage(__rusage_who_t who, struct rusage *usage) {
    int failed = (int)syscall(SYS_getrusage, who, usage);
    if (!failed && RUNNING_ON_VALGRIND) usage->ru_nivcsw = 0;
    return failed;
}

static void order(enum order what, int messages, int size) {
    int words[3] = {what, messages, size};
    MPI_Send(words, 3, MPI_INT, PEER, TAG_ORDER, MPI_COMM_WORLD);
}

static void receive_last(void) {
    MPI_Recv(NULL, 0, MPI_BYTE, PEER, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_all(void) { MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE); }

/* Returns with that many messages from the peer in the queue of unexpected messages. */
static void queue_unexpected(int messages) {
    order(SEND_AND_LAST, messages, 8);
    receive_last();
}

static void order_and_be_told(enum order what, int messages) {
    order(what, messages, 8);
    told_before++;
    while (atomic_load(told) != told_before) sched_yield();
}

/* Returns with that many messages from the peer in shared memory; the library has not polled since. */
static void put_in_ring(int messages) { order_and_be_told(SEND_AND_TELL, messages); }

static void post_receives(void) {
    for (int i = 0; i < BATCH; i++)
        MPI_Irecv(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
}

/* Each function runs a batch of its case: BATCH calls, or one call for BATCH requests. */

static void nothing(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        end();
    }
}

static void isend_sized(int size) {
    order(RECEIVE, BATCH, size);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Isend(bytes[i], size, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
        end();
    }
    wait_all();
    receive_last();
}

static void isend(void) { isend_sized(8); }

static void isend_1k(void) { isend_sized(LARGER); }

static void blocking_send(void) {
    order(RECEIVE, BATCH, 8);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Send(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD);
        end();
    }
    receive_last();
}

static void irecv_posted(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Irecv(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
        end();
    }
    order(SEND, BATCH, 8);
    wait_all();
}

static void irecv_unexpected(void) {
    queue_unexpected(BATCH);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Irecv(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
        end();
    }
    wait_all();
}

static void recv_unexpected(void) {
    queue_unexpected(BATCH);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Recv(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end();
    }
}

static void recv_in_ring(void) {
    for (int i = 0; i < BATCH; i++) {
        put_in_ring(1);
        begin();
        MPI_Recv(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end();
    }
}

static void waitall_in_ring(void) {
    post_receives();
    put_in_ring(BATCH);
    begin();
    wait_all();
    end();
}

static void sendrecv_unexpected(void) {
    queue_unexpected(BATCH);
    order(RECEIVE, BATCH, 8);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Sendrecv(bytes[0], 8, MPI_BYTE, PEER, TAG_DATA, bytes[1], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        end();
    }
    receive_last();
}

static void probe_unexpected(void) {
    queue_unexpected(1);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Probe(PEER, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end();
    }
    MPI_Recv(bytes[0], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void iprobe_unexpected(void) {
    queue_unexpected(1);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Iprobe(PEER, TAG_DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        end();
    }
    MPI_Recv(bytes[0], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void iprobe_nothing(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Iprobe(processes - 1, TAG_NONE, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        end();
    }
}

static void test_pending(void) {
    MPI_Request request;
    MPI_Irecv(bytes[0], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        end();
    }
    order(SEND, 1, 8);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Returns with a batch of complete receives: a later message has been received. */
static void complete_receives(void) {
    post_receives();
    queue_unexpected(BATCH);
}

static void test_complete(void) {
    complete_receives();
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        end();
        if (!flag) MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void test_send_done(void) {
    order(RECEIVE, BATCH, 8);
    for (int i = 0; i < BATCH; i++) {
        MPI_Isend(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
        begin();
        MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        end();
        if (!flag) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    receive_last();
}

static void wait_complete(void) {
    complete_receives();
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        end();
    }
}

static void waitall_complete(void) {
    complete_receives();
    begin();
    wait_all();
    end();
}

static void startall_recv(void) {
    MPI_Request persistent[BATCH];
    for (int i = 0; i < BATCH; i++)
        MPI_Recv_init(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &persistent[i]);
    begin();
    MPI_Startall(BATCH, persistent);
    end();
    order(SEND, BATCH, 8);
    MPI_Waitall(BATCH, persistent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < BATCH; i++) MPI_Request_free(&persistent[i]);
}

static void start_send(void) {
    MPI_Request persistent[BATCH];
    for (int i = 0; i < BATCH; i++)
        MPI_Send_init(bytes[i], 8, MPI_BYTE, PEER, TAG_DATA, MPI_COMM_WORLD, &persistent[i]);
    order(RECEIVE, BATCH, 8);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Start(&persistent[i]);
        end();
    }
    MPI_Waitall(BATCH, persistent, MPI_STATUSES_IGNORE);
    receive_last();
    for (int i = 0; i < BATCH; i++) MPI_Request_free(&persistent[i]);
}

/* The peer has started before, so that its data are there. */
static void start_wait_allreduce(void) {
    for (int i = 0; i < BATCH; i++) {
        if (processes > 1) order_and_be_told(START_AND_TELL, 0);
        begin();
        MPI_Start(&allreduce);
        MPI_Wait(&allreduce, MPI_STATUS_IGNORE);
        end();
        if (sum != processes) MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void self_irecv_isend_waitall(void) {
    MPI_Request pair[2];
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Irecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &pair[0]);
        MPI_Isend(bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &pair[1]);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        end();
    }
}

static void self_comm_irecv_isend_waitall(void) {
    MPI_Request pair[2];
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Irecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_SELF, &pair[0]);
        MPI_Isend(bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_SELF, &pair[1]);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        end();
    }
}

static void self_sendrecv(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Sendrecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        end();
    }
}

/* A ready send needs a receive that is posted, so these go to the process itself. */
static void self_rsend(void) {
    MPI_Request receive;
    for (int i = 0; i < BATCH; i++) {
        MPI_Irecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &receive);
        begin();
        MPI_Rsend(bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
        end();
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
}

static void self_irsend(void) {
    MPI_Request pair[2];
    for (int i = 0; i < BATCH; i++) {
        MPI_Irecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &pair[0]);
        begin();
        MPI_Irsend(bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &pair[1]);
        end();
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
}

static void null_isend_wait(void) {
    MPI_Request request;
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Isend(bytes[0], 8, MPI_BYTE, MPI_PROC_NULL, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end();
    }
}

/* Partitions of a message to oneself: what is counted does not know who the receiver is. */
static void pready(void) {
    static char in[BATCH][8];
    MPI_Request both[2];
    MPI_Psend_init(bytes, BATCH, 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(in, BATCH, 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Pready(i, both[0]);
        end();
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

static void parrived(void) {
    static char in[BATCH][8];
    MPI_Request both[2];
    MPI_Psend_init(bytes, BATCH, 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(in, BATCH, 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    MPI_Startall(2, both);
    MPI_Pready_range(0, BATCH - 1, both[0]);
    MPI_Parrived(both[1], 0, &flag);
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Parrived(both[1], i, &flag);
        end();
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* One-sided operations on the peer's memory, or on one's own in a world of one. The window is locked all the time; for
   the locks themselves there is another one. */

static void put(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Put(bytes[i], 8, MPI_BYTE, processes - 1, 8, 8, MPI_BYTE, window);
        end();
    }
    MPI_Win_flush_all(window);
}

static void get(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Get(bytes[i], 8, MPI_BYTE, processes - 1, 8, 8, MPI_BYTE, window);
        end();
    }
    MPI_Win_flush_all(window);
}

static void fetch_and_op(void) {
    long one = 1, before;
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Fetch_and_op(&one, &before, MPI_LONG, processes - 1, 0, MPI_SUM, window);
        end();
    }
    MPI_Win_flush_all(window);
}

static void accumulate(void) {
    long one = 1;
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Accumulate(&one, 1, MPI_LONG, processes - 1, 0, 1, MPI_LONG, MPI_SUM, window);
        end();
    }
    MPI_Win_flush_all(window);
}

static void compare_and_swap(void) {
    long value = 1, expected = 0, before;
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Compare_and_swap(&value, &expected, &before, MPI_LONG, processes - 1, 0, window);
        end();
    }
    MPI_Win_flush_all(window);
}

static void flush(void) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Win_flush(processes - 1, window);
        end();
    }
}

static void lock_unlock(int type) {
    for (int i = 0; i < BATCH; i++) {
        begin();
        MPI_Win_lock(type, processes - 1, 0, unlocked_window);
        MPI_Win_unlock(processes - 1, unlocked_window);
        end();
    }
}

static void win_lock_exclusive(void) {
    lock_unlock(MPI_LOCK_EXCLUSIVE);
}

static void win_lock_shared(void) {
    lock_unlock(MPI_LOCK_SHARED);
}

static const struct test_case {
    const char *name;
    void (*batch)(void);
    /* How often a batch switches collection on. */
    int switches;
    /* Whether it needs no peer. */
    int alone;
} cases[] = {
    {"nothing", nothing, BATCH, 1},
    {"self_irecv_isend_waitall", self_irecv_isend_waitall, BATCH, 1},
    {"self_comm_irecv_isend_waitall", self_comm_irecv_isend_waitall, BATCH, 1},
    {"self_sendrecv", self_sendrecv, BATCH, 1},
    {"self_rsend", self_rsend, BATCH, 1},
    {"self_irsend", self_irsend, BATCH, 1},
    {"null_isend_wait", null_isend_wait, BATCH, 1},
    {"pready", pready, BATCH, 0},
    {"parrived", parrived, BATCH, 0},
    {"put", put, BATCH, 1},
    {"get", get, BATCH, 1},
    {"fetch_and_op", fetch_and_op, BATCH, 1},
    {"accumulate", accumulate, BATCH, 1},
    {"compare_and_swap", compare_and_swap, BATCH, 1},
    {"win_flush", flush, BATCH, 1},
    {"win_lock_exclusive", win_lock_exclusive, BATCH, 1},
    {"win_lock_shared", win_lock_shared, BATCH, 1},
    {"isend", isend, BATCH, 0},
    {"isend_1k", isend_1k, BATCH, 0},
    {"send", blocking_send, BATCH, 0},
    {"start_send", start_send, BATCH, 0},
    {"start_wait_allreduce", start_wait_allreduce, BATCH, 1},
    {"irecv_posted", irecv_posted, BATCH, 0},
    {"irecv_unexpected", irecv_unexpected, BATCH, 0},
    {"recv_unexpected", recv_unexpected, BATCH, 0},
    {"recv_in_ring", recv_in_ring, BATCH, 0},
    {"waitall_in_ring", waitall_in_ring, 1, 0},
    {"sendrecv_unexpected", sendrecv_unexpected, BATCH, 0},
    {"startall_recv", startall_recv, 1, 0},
    {"test_pending", test_pending, BATCH, 0},
    {"test_complete", test_complete, BATCH, 0},
    {"test_send_done", test_send_done, BATCH, 0},
    {"wait_complete", wait_complete, BATCH, 0},
    {"waitall_complete", waitall_complete, 1, 0},
    /* Probes come last: a probe may change how Heddle sends self messages from then on. */
    {"probe_unexpected", probe_unexpected, BATCH, 0},
    {"iprobe_unexpected", iprobe_unexpected, BATCH, 0},
    {"iprobe_nothing", iprobe_nothing, BATCH, 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int wanted(const struct test_case *c, int count, char **names) {
    if (processes == 1 && !c->alone) return 0;
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], c->name)) return 1;
    return !count || c->batch == nothing;
}

static void count_case(const struct test_case *c) {
    /* Binds functions, fills the pools of requests, and goes once round the rings. */
    for (int i = 0; i < WARM_BATCHES; i++) c->batch();
    CALLGRIND_ZERO_STATS;
    for (int part = 0; part < PARTS; part++) {
        for (int i = 0; i < BATCHES; i++) c->batch();
        CALLGRIND_DUMP_STATS_AT(c->name);
    }
    printf("case %s %d %d\n", c->name, BATCH * BATCHES, c->switches * BATCHES);
}

static void obey(void) {
    for (;;) {
        int words[3];
        MPI_Recv(words, 3, MPI_INT, 0, TAG_ORDER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (words[0] == END) return;
        for (int i = 0; i < words[1]; i++) {
            if (words[0] == RECEIVE)
                MPI_Recv(bytes[i], words[2], MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(bytes[i], words[2], MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
        }
        if (words[0] == RECEIVE || words[0] == SEND_AND_LAST) MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_LAST, MPI_COMM_WORLD);
        if (words[0] == START_AND_TELL) MPI_Start(&allreduce);
        if (words[0] == SEND_AND_TELL || words[0] == START_AND_TELL) atomic_fetch_add(told, 1);
        if (words[0] == START_AND_TELL) MPI_Wait(&allreduce, MPI_STATUS_IGNORE);
    }
}

static void map_file(const char *name) {
    int file = open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *told)) {
        perror(name);
        exit(2);
    }
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (told == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    close(file);
}

int main(int argc, char **argv) {
    static const struct { const char *name; int level; } levels[] = {
        {"single", MPI_THREAD_SINGLE},
        {"funneled", MPI_THREAD_FUNNELED},
        {"serialized", MPI_THREAD_SERIALIZED},
        {"multiple", MPI_THREAD_MULTIPLE},
    };
    int level = -1, provided, rank, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (int i = 1; i < CASES; i++) puts(cases[i].name);
        return 0;
    }
    for (int i = 0; argc > 2 && i < 4; i++)
        if (!strcmp(argv[1], levels[i].name)) level = levels[i].level;
    if (level < 0) {
        fprintf(stderr, "usage: calls single|funneled|serialized|multiple FILE [CASE..]\n");
        return 2;
    }
    map_file(argv[2]);
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (provided < level || processes > 2) {
        fprintf(stderr, "calls: this wants one process or two, and the level %s\n", argv[1]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    void *memory;
    MPI_Win_allocate(sizeof bytes[0], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_allocate(sizeof bytes[0], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &unlocked_window);
    MPI_Comm_dup(MPI_COMM_WORLD, &reducing);
    MPI_Allreduce_init(&term, &sum, 1, MPI_LONG, MPI_SUM, reducing, MPI_INFO_NULL, &allreduce);
    if (rank) {
        obey();
    } else {
        MPI_Win_lock_all(0, window);
        MPI_Get_library_version(version, &length);
        printf("version %.*s\n", (int)strcspn(version, "\n"), version);
        /* Heddle yields after every 22 waits at first, and less often where a yield lets no other thread run. */
        is_alone = 1;
        for (int i = 0; i < WARM_WAITS; i++)
            MPI_Sendrecv(bytes[0], 8, MPI_BYTE, 0, TAG_DATA, bytes[1], 8, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        is_alone = 0;
        CALLGRIND_START_INSTRUMENTATION;
        for (int i = 0; i < CASES; i++)
            if (wanted(&cases[i], argc - 3, argv + 3)) count_case(&cases[i]);
        CALLGRIND_STOP_INSTRUMENTATION;
        fflush(stdout);
        MPI_Win_unlock_all(window);
        if (processes > 1) order(END, 0, 0);
    }
    MPI_Request_free(&allreduce);
    MPI_Comm_free(&reducing);
    MPI_Win_free(&unlocked_window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
