// A random but valid MPI program: what it does follows from a seed, every payload and status is checked.
//
//   mpiexec -n R random_traffic [--seed N] [--ops N] [--threads N] [--rounds N] [--timeout SECONDS]
//
// The schedule is explained in schedule.h. A failure prints the command that repeats it. When the time is over, or on SIGTERM,
// each thread's place in the schedule is printed, and the program ends with status 3.
#include "../c/threads.h"
#include "schedule.h"
#include <signal.h>
#include <unistd.h>

enum { THREADS_AT_MOST = 64, ROOM = 1 << 22 };

static struct plan plan = {.seed = 1, .ranks = 1, .threads = 2, .steps = 300, .rounds = 3};
static MPI_Comm comms[COMMS];             // the world, a duplicate, one in reverse order
static MPI_Comm wild[THREADS_AT_MOST];    // only thread t of a rank receives on wild[t]
static MPI_Comm by_part[THREADS_AT_MOST]; // thread t of every rank does collectives on by_part[t]
static pthread_barrier_t round_end;

// Where each thread is: round and step, for the report of a run that hangs.
static atomic_int at_round[THREADS_AT_MOST], at_step[THREADS_AT_MOST];

// A rank of the world as a rank of comms[comm], and the other way round: it is its own inverse.
static int rank_in(int comm, int rank) {
    return comm == 2 ? plan.ranks - 1 - rank : rank;
}

// ---- what a thread has begun and not finished

struct begun {
    unsigned char *buf;
    struct layout layout;
    unsigned seed;
    bool receives, persistent;
    int source, tag;
};

struct worker {
    int me; // thread
    struct dice dice;
    int n, room, buffered; // begun operations and room for them; bytes of buffered sends in this round
    MPI_Request *requests;
    struct begun *begun;
    unsigned char **kept; // buffers of sends whose requests were freed, until the end of the round
    int kept_n, kept_room;
};

static void check_message(const struct layout *l, unsigned char *buf, unsigned seed, const MPI_Status *status, int source, int tag) {
    int count = -1;
    CHECK(layout_holds(l, buf, seed));
    CHECK_EQ(status->MPI_SOURCE, source);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(status, bases[l->base].type, &count));
    CHECK_EQ(count, l->n);
}

static void finish(struct begun *b, MPI_Request *request, const MPI_Status *status) {
    if (b->receives) check_message(&b->layout, b->buf, b->seed, status, b->source, b->tag);
    if (b->persistent) CHECK_OK(MPI_Request_free(request));
    CHECK(*request == MPI_REQUEST_NULL);
    free(b->buf);
}

static void begin(struct worker *w, MPI_Request request, struct begun b) {
    if (w->n == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->requests = realloc(w->requests, sizeof *w->requests * (size_t)w->room);
        w->begun = realloc(w->begun, sizeof *w->begun * (size_t)w->room);
    }
    w->requests[w->n] = request;
    w->begun[w->n++] = b;
}

static void drop_finished(struct worker *w, int index, const MPI_Status *status) {
    finish(&w->begun[index], &w->requests[index], status);
    w->n--;
    w->requests[index] = w->requests[w->n];
    w->begun[index] = w->begun[w->n];
}

static int descending(const void *a, const void *b) {
    return *(const int *)b - *(const int *)a;
}

// Completes all that was begun, in one of several ways.
static void complete_all(struct worker *w) {
    int way = pick(&w->dice, 6);
    MPI_Status *statuses = check_alloc(sizeof(MPI_Status) * (size_t)(w->n + 1));
    int *indices = check_alloc(sizeof(int) * (size_t)(w->n + 1)), flag = 0, count = 0, index = 0;
    if (way < 2) {
        if (way == 0) CHECK_OK(MPI_Waitall(w->n, w->requests, statuses));
        while (way == 1 && !flag) CHECK_OK(MPI_Testall(w->n, w->requests, &flag, statuses));
        for (int i = 0; i < w->n; i++) finish(&w->begun[i], &w->requests[i], &statuses[i]);
        w->n = 0;
    }
    while (w->n > 0) {
        switch (way) {
        case 2:
            CHECK_OK(MPI_Waitany(w->n, w->requests, &index, statuses));
            drop_finished(w, index, statuses);
            break;
        case 3:
            CHECK_OK(MPI_Testany(w->n, w->requests, &index, &flag, statuses));
            if (flag) drop_finished(w, index, statuses);
            break;
        default: {
            if (way == 4) CHECK_OK(MPI_Waitsome(w->n, w->requests, &count, indices, statuses));
            if (way == 5) CHECK_OK(MPI_Testsome(w->n, w->requests, &count, indices, statuses));
            // From the last to the first, so that dropping one does not move the others; a status goes with its index.
            MPI_Status *of = check_alloc(sizeof(MPI_Status) * (size_t)w->n);
            for (int i = 0; i < count; i++) of[indices[i]] = statuses[i];
            qsort(indices, (size_t)count, sizeof(int), descending);
            for (int i = 0; i < count; i++) drop_finished(w, indices[i], &of[indices[i]]);
            free(of);
        }
        }
    }
    free(indices);
    free(statuses);
}

static void keep_until_round_end(struct worker *w, unsigned char *buf) {
    if (w->kept_n == w->kept_room) {
        w->kept_room = w->kept_room ? 2 * w->kept_room : 16;
        w->kept = realloc(w->kept, sizeof *w->kept * (size_t)w->kept_room);
    }
    w->kept[w->kept_n++] = buf;
}

// ---- one message

static void send_one(struct worker *w, const struct layout *l, unsigned seed, enum send_form form, int to, int tag, MPI_Comm comm) {
    unsigned char *buf = layout_filled(l, seed);
    struct mapped m = layout_map(l);
    struct begun b = {.buf = buf};
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == BSEND || form == IBSEND) {
        w->buffered += (int)bases[l->base].size * l->n + MPI_BSEND_OVERHEAD + 64;
        if (w->buffered > ROOM) form = ISEND; // the buffer may be full until the round ends
    }
    switch (form) {
    case SEND: CHECK_OK(MPI_Send(buf, m.count, m.type, to, tag, comm)); break;
    case SSEND: CHECK_OK(MPI_Ssend(buf, m.count, m.type, to, tag, comm)); break;
    case BSEND: CHECK_OK(MPI_Bsend(buf, m.count, m.type, to, tag, comm)); break;
    case ISSEND: CHECK_OK(MPI_Issend(buf, m.count, m.type, to, tag, comm, &request)); break;
    case IBSEND: CHECK_OK(MPI_Ibsend(buf, m.count, m.type, to, tag, comm, &request)); break;
    case SEND_INIT: CHECK_OK(MPI_Send_init(buf, m.count, m.type, to, tag, comm, &request)); break;
    case SSEND_INIT: CHECK_OK(MPI_Ssend_init(buf, m.count, m.type, to, tag, comm, &request)); break;
    default: CHECK_OK(MPI_Isend(buf, m.count, m.type, to, tag, comm, &request)); break;
    }
    if (form == SEND_INIT || form == SSEND_INIT) {
        b.persistent = true;
        CHECK_OK(MPI_Start(&request));
    }
    layout_unmap(&m); // the operation keeps the type alive
    if (form == SEND || form == SSEND || form == BSEND) {
        free(buf);
    } else if (form == ISEND_FREED) {
        CHECK_OK(MPI_Request_free(&request));
        keep_until_round_end(w, buf);
    } else {
        begin(w, request, b);
    }
}

static void receive_one(struct worker *w, const struct layout *l, unsigned seed, enum receive_form form, int from, int tag, MPI_Comm comm) {
    unsigned char *buf = layout_blank(l);
    struct mapped m = layout_map(l);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    struct begun b = {.buf = buf, .layout = *l, .seed = seed, .receives = true, .source = from, .tag = tag};
    switch (form) {
    case RECV: CHECK_OK(MPI_Recv(buf, m.count, m.type, from, tag, comm, &status)); break;
    case IRECV:
        CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    case IRECV_TEST:
        CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        while (!flag) CHECK_OK(MPI_Test(&request, &flag, &status));
        break;
    case PROBE:
    case IPROBE: {
        int count = -1;
        if (form == PROBE) CHECK_OK(MPI_Probe(from, tag, comm, &status));
        while (form == IPROBE && !flag) CHECK_OK(MPI_Iprobe(from, tag, comm, &flag, &status));
        CHECK_EQ(status.MPI_SOURCE, from);
        CHECK_EQ(status.MPI_TAG, tag);
        CHECK_OK(MPI_Get_count(&status, bases[l->base].type, &count));
        CHECK_EQ(count, l->n);
        CHECK_OK(MPI_Recv(buf, m.count, m.type, from, tag, comm, &status));
        break;
    }
    case MPROBE:
        CHECK_OK(MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(buf, m.count, m.type, &message, &status));
        break;
    case IMPROBE:
        while (!flag) CHECK_OK(MPI_Improbe(from, tag, comm, &flag, &message, &status));
        CHECK_OK(MPI_Imrecv(buf, m.count, m.type, &message, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    default: // finished later
        if (form == RECV_INIT) {
            b.persistent = true;
            CHECK_OK(MPI_Recv_init(buf, m.count, m.type, from, tag, comm, &request));
            CHECK_OK(MPI_Start(&request));
        } else {
            CHECK_OK(MPI_Irecv(buf, m.count, m.type, from, tag, comm, &request));
        }
        layout_unmap(&m);
        begin(w, request, b);
        return;
    }
    layout_unmap(&m);
    check_message(l, buf, seed, &status, from, tag);
    free(buf);
}

// ---- the kinds of steps

static bool is_me(const struct worker *w, struct place p) {
    return p.rank == check_rank && p.thread == w->me;
}

static void do_message(struct worker *w, const struct step *s) {
    int from = rank_in(s->comm, s->from.rank), to = rank_in(s->comm, s->to.rank);
    if (is_me(w, s->to)) receive_one(w, &s->in, s->seed, s->receive, from, s->tag, comms[s->comm]);
    if (is_me(w, s->from)) send_one(w, &s->out, s->seed, s->send, to, s->tag, comms[s->comm]);
}

// Both threads send and receive at once: `out` goes one way, `back` the other.
static void do_exchange(struct worker *w, const struct step *s) {
    bool first = is_me(w, s->from);
    if (!first && !is_me(w, s->to)) return;
    struct place peer = first ? s->to : s->from;
    struct layout out = first ? s->out : s->back, in = first ? s->back : s->in;
    if (s->replace) in = out = s->out;
    int other = rank_in(s->comm, peer.rank);
    struct place me = first ? s->from : s->to;
    int out_tag = tag_of(&plan, me, peer, 0), in_tag = tag_of(&plan, peer, me, 0);
    unsigned out_seed = s->seed + (first ? 0 : 1), in_seed = s->seed + (first ? 1 : 0);
    unsigned char *sent = layout_filled(&out, out_seed);
    struct mapped mo = layout_map(&out), mi = layout_map(&in);
    MPI_Status status;
    if (s->replace) {
        CHECK_OK(MPI_Sendrecv_replace(sent, mo.count, mo.type, other, out_tag, other, in_tag, comms[s->comm], &status));
        check_message(&in, sent, in_seed, &status, other, in_tag);
    } else {
        unsigned char *got = layout_blank(&in);
        CHECK_OK(MPI_Sendrecv(sent, mo.count, mo.type, other, out_tag, got, mi.count, mi.type, other, in_tag, comms[s->comm], &status));
        check_message(&in, got, in_seed, &status, other, in_tag);
        free(got);
    }
    layout_unmap(&mo);
    layout_unmap(&mi);
    free(sent);
}

// The receiver posts, says so, and the sender sends in ready mode.
static void do_ready(struct worker *w, const struct step *s) {
    int from = rank_in(s->comm, s->from.rank), to = rank_in(s->comm, s->to.rank), signal = signal_tag(&plan, s->to, s->from);
    MPI_Comm comm = comms[s->comm];
    bool alone = same_place(s->from, s->to);
    if (is_me(w, s->to)) {
        receive_one(w, &s->in, s->seed, IRECV_LATER, from, s->tag, comm);
        if (!alone) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, from, signal, comm));
    }
    if (is_me(w, s->from)) {
        if (!alone) CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, to, signal, comm, MPI_STATUS_IGNORE));
        unsigned char *buf = layout_filled(&s->out, s->seed);
        struct mapped m = layout_map(&s->out);
        CHECK_OK(MPI_Rsend(buf, m.count, m.type, to, s->tag, comm));
        layout_unmap(&m);
        free(buf);
    }
}

// Several messages from anywhere to one thread's wildcard receives. The payload says who sent it and as which one.
enum { FAN_AT_MOST = 16, FAN_BYTES = 40000 };

struct fan {
    struct place from;
    int tag, bytes;
    enum send_form send;
};

static void make_fan(const struct step *s, struct fan *fan) {
    struct dice d = dice_for(s->inner, 1, 1);
    int tag = fan_tag(&plan, s->to, pick(&d, FAN_TAGS));
    for (int i = 0; i < s->part; i++) {
        int bytes = some_bytes(&d);
        fan[i] = (struct fan){.from = some_place(&d, &plan), .bytes = 8 + bytes % FAN_BYTES, .tag = tag};
        if (s->wildcard != ANY_SOURCE) fan[i].tag = fan_tag(&plan, s->to, pick(&d, FAN_TAGS));
        if (s->wildcard == ANY_TAG) fan[i].from.rank = s->from.rank;
        fan[i].send = (enum send_form)pick(&d, SEND_FORMS);
        bool blocks = fan[i].send == SEND || fan[i].send == SSEND || fan[i].send == BSEND || fan[i].send == IBSEND;
        if (same_place(fan[i].from, s->to) && blocks) fan[i].send = ISSEND;
        if (fan[i].bytes > BUFFERED_AT_MOST && (fan[i].send == BSEND || fan[i].send == IBSEND)) fan[i].send = SEND;
    }
}

static void check_fan(const struct fan *fan, const struct step *s, bool *seen, unsigned char *buf, const MPI_Status *status) {
    int id = -1, count = -1;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    for (int i = 0; i < s->part && id < 0; i++) {
        if (!seen[i] && fan[i].bytes == count && buf[0] == pattern_byte(s->seed + (unsigned)i, 0) && pattern_differs(buf, (size_t)count, s->seed + (unsigned)i) < 0) id = i;
    }
    if (!CHECK(id >= 0)) return;
    seen[id] = true;
    CHECK_EQ(status->MPI_SOURCE, fan[id].from.rank);
    CHECK_EQ(status->MPI_TAG, fan[id].tag);
    // Those of one thread come in the order it sent them.
    for (int i = 0; i < id; i++) CHECK(seen[i] || !same_place(fan[i].from, fan[id].from));
}

static void do_fan_in(struct worker *w, const struct step *s) {
    struct fan fan[FAN_AT_MOST];
    make_fan(s, fan);
    MPI_Comm comm = wild[s->to.thread];
    for (int i = 0; i < s->part; i++) {
        struct layout plain = {.shape = PLAIN, .base = 0, .n = fan[i].bytes, .block = 1};
        if (is_me(w, fan[i].from)) send_one(w, &plain, s->seed + (unsigned)i, fan[i].send, s->to.rank, fan[i].tag, comm);
    }
    if (!is_me(w, s->to)) return;
    struct dice d = dice_for(s->inner, 2, 2);
    size_t room = FAN_BYTES + 8;
    unsigned char *bufs = check_alloc(room * FAN_AT_MOST);
    int source = s->wildcard == ANY_TAG ? s->from.rank : MPI_ANY_SOURCE, tag = s->wildcard == ANY_SOURCE ? fan[0].tag : MPI_ANY_TAG;
    bool seen[FAN_AT_MOST] = {false};
    MPI_Request requests[FAN_AT_MOST];
    MPI_Status statuses[FAN_AT_MOST];
    bool all_posted = pick(&d, 2);
    for (int i = 0; i < s->part; i++) {
        unsigned char *buf = bufs + room * (size_t)i;
        MPI_Message message;
        if (all_posted) {
            CHECK_OK(MPI_Irecv(buf, (int)room, MPI_BYTE, source, tag, comm, &requests[i]));
            continue;
        }
        switch (pick(&d, 3)) {
        case 0: CHECK_OK(MPI_Recv(buf, (int)room, MPI_BYTE, source, tag, comm, &statuses[i])); break;
        case 1:
            CHECK_OK(MPI_Probe(source, tag, comm, &statuses[i]));
            CHECK_OK(MPI_Recv(buf, (int)room, MPI_BYTE, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, comm, &statuses[i]));
            break;
        default:
            CHECK_OK(MPI_Mprobe(source, tag, comm, &message, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Mrecv(buf, (int)room, MPI_BYTE, &message, &statuses[i]));
        }
    }
    if (all_posted) CHECK_OK(MPI_Waitall(s->part, requests, statuses));
    for (int i = 0; i < s->part; i++) check_fan(fan, s, seen, bufs + room * (size_t)i, &statuses[i]);
    free(bufs);
}

static void collective_on(MPI_Comm comm, const struct step *s, int n) {
    int p = plan.ranks, me = check_rank, root = (int)(s->inner % (uint64_t)p), wrong = 0, base = (int)(s->seed % 1000);
    int *out = check_alloc(sizeof(int) * (size_t)(n * p)), *in = check_alloc(sizeof(int) * (size_t)(n * p));
    for (int i = 0; i < n * p; i++) out[i] = base + me * 7 + i, in[i] = -1;
    switch (s->collective) {
    case BARRIER: CHECK_OK(MPI_Barrier(comm)); break;
    case BCAST:
        CHECK_OK(MPI_Bcast(out, n, MPI_INT, root, comm));
        for (int i = 0; i < n; i++) wrong += out[i] != base + root * 7 + i;
        break;
    case ALLREDUCE:
        CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < n; i++) wrong += in[i] != p * (base + i) + 7 * (p * (p - 1) / 2);
        break;
    case ALLTOALL:
        CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm));
        for (int i = 0; i < n * p; i++) wrong += in[i] != base + i / n * 7 + me * n + i % n;
        break;
    case ALLGATHER:
        CHECK_OK(MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm));
        for (int i = 0; i < n * p; i++) wrong += in[i] != base + i / n * 7 + i % n;
        break;
    case GATHER:
        CHECK_OK(MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, comm));
        for (int i = 0; i < n * p && me == root; i++) wrong += in[i] != base + i / n * 7 + i % n;
        break;
    default:
        CHECK_OK(MPI_Scan(out, in, n, MPI_INT, MPI_MAX, comm));
        for (int i = 0; i < n; i++) wrong += in[i] != base + me * 7 + i;
    }
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

static void do_collective(struct worker *w, const struct step *s) {
    if (s->part == w->me) collective_on(by_part[s->part], s, s->out.n % 20000);
}

static void do_duplicate(struct worker *w, const struct step *s) {
    if (s->part != w->me) return;
    MPI_Comm dup;
    CHECK_OK(MPI_Comm_dup(by_part[s->part], &dup));
    collective_on(dup, s, s->out.n % 200);
    int in = -1, to = (check_rank + 1) % plan.ranks, from = (check_rank + plan.ranks - 1) % plan.ranks;
    CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, dup, MPI_STATUS_IGNORE));
    CHECK_EQ(in, from);
    CHECK_OK(MPI_Comm_free(&dup));
}

static void do_cancel(struct worker *w, const struct step *s) {
    if (!is_me(w, s->from)) return;
    int value = -1, cancelled = 0, last = plan.threads * (plan.threads * TAGS + FAN_TAGS + plan.threads);
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, last + w->me, comms[s->comm], &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled && value == -1);
}

// ---- the program

static void walk(int me, void *shared) {
    (void)shared;
    struct worker w = {.me = me, .dice = dice_for(plan.seed, 0, (uint64_t)(check_rank * THREADS_AT_MOST + me))};
    unsigned char *fanned = check_alloc((size_t)(plan.ranks * plan.threads));
    for (int round = 0; round < plan.rounds; round++) {
        memset(fanned, 0, (size_t)(plan.ranks * plan.threads));
        atomic_store(&at_round[me], round);
        for (int i = 0; i < plan.steps; i++) {
            atomic_store(&at_step[me], i);
            struct step s = make_step(&plan, round, i, fanned);
            switch (s.kind) {
            case EXCHANGE: do_exchange(&w, &s); break;
            case READY: do_ready(&w, &s); break;
            case FAN_IN: do_fan_in(&w, &s); break;
            case COLLECTIVE: do_collective(&w, &s); break;
            case DUPLICATE: do_duplicate(&w, &s); break;
            case CANCEL: do_cancel(&w, &s); break;
            default: do_message(&w, &s);
            }
            if (w.n > 0 && pick(&w.dice, 12) == 0) complete_all(&w);
        }
        atomic_store(&at_step[me], plan.steps);
        complete_all(&w);
        // Between rounds nothing is under way.
        pthread_barrier_wait(&round_end);
        if (me == 0) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        pthread_barrier_wait(&round_end);
        for (int i = 0; i < w.kept_n; i++) free(w.kept[i]);
        w.kept_n = 0;
        w.buffered = 0;
    }
    free(fanned);
    free(w.requests);
    free(w.begun);
    free(w.kept);
}

static void report_places(int number) {
    (void)number;
    char text[160];
    for (int t = 0; t < plan.threads; t++) {
        int len = snprintf(text, sizeof text, "rank %d thread %d of seed %llu: round %d step %d\n", check_rank, t,
                           (unsigned long long)plan.seed, atomic_load(&at_round[t]), atomic_load(&at_step[t]));
        if (write(STDERR_FILENO, text, (size_t)len) < 0) break;
    }
    _exit(3);
}

static void read_arguments(int argc, char **argv) {
    unsigned timeout = 100;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        unsigned long long number = strtoull(value, &end, 10);
        bool right = *value && !*end;
        if (right && strcmp(argv[i], "--seed") == 0) {
            plan.seed = number;
        } else if (right && strcmp(argv[i], "--ops") == 0) {
            plan.steps = (int)number;
        } else if (right && strcmp(argv[i], "--threads") == 0 && number >= 1 && number <= THREADS_AT_MOST) {
            plan.threads = (int)number;
        } else if (right && strcmp(argv[i], "--rounds") == 0) {
            plan.rounds = (int)number;
        } else if (right && strcmp(argv[i], "--timeout") == 0) {
            timeout = (unsigned)number;
        } else {
            fprintf(stderr, "cannot use %s %s; usage: %s [--seed N] [--ops N] [--threads 1..%d] [--rounds N] [--timeout SECONDS]\n",
                    argv[i], value, argv[0], THREADS_AT_MOST);
            exit(2);
        }
    }
    signal(SIGTERM, report_places);
    signal(SIGALRM, report_places);
    alarm(timeout);
}

int main(int argc, char **argv) {
    read_arguments(argc, argv);
    check_start(1, argv);
    plan.ranks = check_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[2]));
    for (int t = 0; t < plan.threads; t++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &wild[t]));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &by_part[t]));
    }
    void *room = check_alloc(ROOM * (size_t)plan.threads), *back = NULL;
    int size = 0;
    CHECK_OK(MPI_Buffer_attach(room, ROOM * plan.threads));
    pthread_barrier_init(&round_end, NULL, (unsigned)plan.threads);
    threads_run(plan.threads, walk, NULL);
    pthread_barrier_destroy(&round_end);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    free(room);
    for (int c = 0; c < COMMS; c++) CHECK_OK(MPI_Comm_free(&comms[c]));
    for (int t = 0; t < plan.threads; t++) {
        CHECK_OK(MPI_Comm_free(&wild[t]));
        CHECK_OK(MPI_Comm_free(&by_part[t]));
    }
    if (atomic_load(&check_failures)) {
        fprintf(stderr, "repeat with: mpiexec -n %d %s --seed %llu --ops %d --threads %d --rounds %d\n", check_size, argv[0],
                (unsigned long long)plan.seed, plan.steps, plan.threads, plan.rounds);
    }
    return check_finish();
}
