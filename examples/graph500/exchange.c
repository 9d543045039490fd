#include "exchange.h"

#include "fatal.h"
#include "ticks.h"

#include <sched.h>
#include <stdlib.h>

/* What every message starts with; the records follow. */
struct exchange_buffer {
    uint32_t source;
    uint32_t count; /* of records; END is added in a sender's last message of a phase */
};

static const uint32_t END = UINT32_C(1) << 31;

enum {
    RECEIVES_POSTED = 4,
    SENDS_SPARE = 12,      /* send buffers beyond one open buffer a destination */
    POLLS_BEFORE_YIELD = 8 /* empty polls of a thread that has nothing else to do */
};

_Static_assert(sizeof(struct exchange_buffer) == EXCHANGE_HEADER_BYTES, "header");

static int pool_size(const struct exchange *x)
{
    return x->ranks + SENDS_SPARE;
}

static void post(struct exchange *x, int index)
{
    uint64_t start = ticks_now();
    MPI_Irecv(x->posted[index], (int)x->buffer_bytes, MPI_BYTE, MPI_ANY_SOURCE, x->tag, x->comm,
              &x->receives[index]);
    x->counters.mpi_ticks += ticks_now() - start;
}

static bool test(struct exchange *x, MPI_Request *request)
{
    int done = 0;
    uint64_t start = ticks_now();
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    x->counters.mpi_ticks += ticks_now() - start;
    x->counters.tests++;
    x->counters.hits += done != 0;
    return done != 0;
}

static void start_send(struct exchange *x, struct exchange_buffer *buffer, size_t bytes,
                       int destination)
{
    uint64_t start = ticks_now();
    MPI_Isend(buffer, (int)bytes, MPI_BYTE, destination, x->tag, x->comm,
              &x->sends[x->flying_count]);
    x->counters.mpi_ticks += ticks_now() - start;
    x->flying[x->flying_count++] = buffer;
    x->counters.messages++;
    x->counters.bytes += bytes;
}

/* Tests every pending send once; the order of sends does not matter here. */
static void reap_sends(struct exchange *x)
{
    for (int i = 0; i < x->flying_count;) {
        if (!test(x, &x->sends[i])) {
            i++;
            continue;
        }
        x->idle[x->idle_count++] = x->flying[i];
        x->flying_count--;
        x->flying[i] = x->flying[x->flying_count];
        x->sends[i] = x->sends[x->flying_count];
    }
}

static void yield_now_and_then(int *empty_polls)
{
    if (++*empty_polls >= POLLS_BEFORE_YIELD) {
        *empty_polls = 0;
        sched_yield();
    }
}

static struct exchange_buffer *take_idle(struct exchange *x)
{
    int empty_polls = 0;
    while (x->idle_count == 0) {
        bool received = exchange_poll(x);
        if (x->idle_count == 0)
            reap_sends(x);
        if (!received && x->idle_count == 0)
            yield_now_and_then(&empty_polls);
    }
    return x->idle[--x->idle_count];
}

/* Sends the open buffer of `destination`, an empty one too if it carries the END. */
static void ship(struct exchange *x, int destination, uint32_t end)
{
    struct exchange_open_buffer *open = &x->open[destination];
    if (open->buffer == NULL) {
        open->buffer = take_idle(x);
        open->used = 0;
    }
    struct exchange_buffer *buffer = open->buffer;
    buffer->source = (uint32_t)x->rank;
    buffer->count = open->used | end;
    size_t bytes = EXCHANGE_HEADER_BYTES + (size_t)x->record_bytes * open->used;
    open->buffer = NULL;
    open->used = 0;
    start_send(x, buffer, bytes, destination);
}

void *exchange_reserve_slow(struct exchange *x, int destination)
{
    struct exchange_open_buffer *open = &x->open[destination];
    if (open->buffer != NULL) {
        ship(x, destination, 0);
        exchange_poll(x);
    }
    open->buffer = take_idle(x);
    open->used = 1;
    return exchange_record(open->buffer, x->record_bytes, 0);
}

bool exchange_poll(struct exchange *x)
{
    if (x->ranks == 1)
        return false;
    if (x->flying_count > 0)
        reap_sends(x);

    bool received = false;
    while (x->ends_awaited > 0 && test(x, &x->receives[x->head])) {
        int index = x->head;
        struct exchange_buffer *buffer = x->posted[index];
        x->head = (index + 1) % RECEIVES_POSTED;
        uint32_t count = buffer->count & ~END;
        if (buffer->count & END)
            x->ends_awaited--;
        if (count > 0)
            x->handler(x->context, (int)buffer->source, exchange_record(buffer, 0, 0), count);
        post(x, index);
        received = true;
    }
    return received;
}

void exchange_begin(struct exchange *x, uint32_t record_bytes, exchange_handler handler,
                    void *context)
{
    x->record_bytes = record_bytes;
    x->capacity = (uint32_t)((x->buffer_bytes - EXCHANGE_HEADER_BYTES) / record_bytes);
    x->handler = handler;
    x->context = context;
    x->ends_awaited = x->ranks - 1;
}

void exchange_finish(struct exchange *x)
{
    /* Each process starts with its neighbour, so that not all begin with rank 0. */
    for (int step = 1; step < x->ranks; step++) {
        ship(x, (x->rank + step) % x->ranks, END);
        exchange_poll(x);
    }
    int empty_polls = 0;
    while (x->ends_awaited > 0 || x->flying_count > 0) {
        if (!exchange_poll(x))
            yield_now_and_then(&empty_polls);
    }
}

void exchange_open(struct exchange *x, MPI_Comm comm, int tag, size_t buffer_bytes)
{
    *x = (struct exchange){.comm = comm, .tag = tag, .buffer_bytes = buffer_bytes};
    MPI_Comm_rank(comm, &x->rank);
    MPI_Comm_size(comm, &x->ranks);

    size_t stride = (buffer_bytes + 63) / 64 * 64;
    int sends = pool_size(x);
    size_t buffers = x->ranks > 1 ? (size_t)sends + RECEIVES_POSTED : 0;
    unsigned char *slab = allocate_aligned("message buffers", buffers, stride);
    x->slab = slab;
    x->open = allocate("message buffers", (size_t)x->ranks, sizeof *x->open);
    x->idle = allocate("message buffers", (size_t)sends, sizeof *x->idle);
    x->flying = allocate("message buffers", (size_t)sends, sizeof *x->flying);
    x->sends = allocate("message buffers", (size_t)sends, sizeof *x->sends);
    x->posted = allocate("message buffers", RECEIVES_POSTED, sizeof *x->posted);
    x->receives = allocate("message buffers", RECEIVES_POSTED, sizeof *x->receives);
    if (x->ranks == 1)
        return;
    for (int i = 0; i < sends; i++)
        x->idle[x->idle_count++] = (void *)(slab + stride * (size_t)i);
    for (int i = 0; i < RECEIVES_POSTED; i++) {
        x->posted[i] = (void *)(slab + stride * (size_t)(sends + i));
        post(x, i);
    }
}

void exchange_close(struct exchange *x)
{
    if (x->ranks > 1) {
        /* No phase runs, so the posted receives can only meet messages from here. */
        struct exchange_buffer farewell = {.source = (uint32_t)x->rank, .count = 0};
        MPI_Request sends[RECEIVES_POSTED];
        for (int i = 0; i < RECEIVES_POSTED; i++)
            MPI_Isend(&farewell, (int)sizeof farewell, MPI_BYTE, x->rank, x->tag, x->comm,
                      &sends[i]);
        MPI_Waitall(RECEIVES_POSTED, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(RECEIVES_POSTED, x->receives, MPI_STATUSES_IGNORE);
    }
    free(x->receives);
    free(x->posted);
    free(x->sends);
    free(x->flying);
    free(x->idle);
    free(x->open);
    free(x->slab);
}
