// Communicators with promises: all kinds of operations on messages that are sharded by tag and source, by one thread
// and by several.
#include "threads.h"

enum { TAGS = 12, SMALL = 3, LARGE = 60000 };

static bool no_any_tag, no_any_source;

// A receive uses each wildcard that the promises allow.
static int source_or_any(int source) {
    return no_any_source ? source : MPI_ANY_SOURCE;
}

static MPI_Comm hinted(void) {
    MPI_Info info;
    MPI_Comm comm;
    CHECK_OK(MPI_Info_create(&info));
    if (no_any_tag) CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    if (no_any_source) CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_allow_overtaking", "false"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    return comm;
}

// The ring of all ranks.
static int to(void) {
    return (check_rank + 1) % check_size;
}

static int from(void) {
    return (check_rank + check_size - 1) % check_size;
}

static int ints_of(int tag) {
    return tag % 3 == 0 ? LARGE : tag % 3 == 1 ? SMALL : 500;
}

static int value(int rank, int tag, int round) {
    return rank * 10000 + tag * 100 + round;
}

// Messages with all tags at once, received by waiting for all, any, some, and by testing, in whatever order.
static void many_tags(MPI_Comm comm) {
    static int out[TAGS][LARGE], in[TAGS][LARGE];
    for (int round = 0; round < 8; round++) {
        int first = round / 4 * 1000;
        MPI_Request requests[2 * TAGS];
        MPI_Status statuses[2 * TAGS];
        for (int t = 0; t < TAGS; t++) {
            out[t][0] = out[t][ints_of(t) - 1] = value(check_rank, t, round);
            bool late = round % 2 == 1;
            if (!late) CHECK_OK(MPI_Irecv(in[t], LARGE, MPI_INT, source_or_any(from()), first + t, comm, &requests[t]));
            int n = ints_of(t);
            MPI_Request *request = &requests[TAGS + t];
            if (t % 4 == 3) CHECK_OK(MPI_Issend(out[t], n, MPI_INT, to(), first + t, comm, request));
            else CHECK_OK(MPI_Isend(out[t], n, MPI_INT, to(), first + t, comm, request));
            if (late) CHECK_OK(MPI_Irecv(in[t], LARGE, MPI_INT, source_or_any(from()), first + t, comm, &requests[t]));
        }
        int left = 2 * TAGS, indices[2 * TAGS], flag = 0, count;
        switch (round % 4) {
        case 0: CHECK_OK(MPI_Waitall(2 * TAGS, requests, statuses)); break;
        case 1:
            for (int index; left > 0; left--) {
                CHECK_OK(MPI_Waitany(2 * TAGS, requests, &index, MPI_STATUS_IGNORE));
                CHECK(index >= 0 && index < 2 * TAGS);
            }
            break;
        case 2:
            while (left > 0) {
                CHECK_OK(MPI_Waitsome(2 * TAGS, requests, &count, indices, statuses));
                left -= count;
            }
            break;
        default:
            while (!flag) CHECK_OK(MPI_Testall(2 * TAGS, requests, &flag, statuses));
        }
        for (int t = 0; t < TAGS; t++) {
            CHECK(requests[t] == MPI_REQUEST_NULL);
            CHECK_EQ(in[t][0], value(from(), t, round));
            CHECK_EQ(in[t][ints_of(t) - 1], value(from(), t, round));
        }
    }
}

// Probes find messages of any tag, and matched messages are received on their VNI.
static void probed(MPI_Comm comm) {
    for (int t = 0; t < TAGS; t++) {
        int out[SMALL] = {value(check_rank, t, 0)}, in[SMALL] = {-1}, flag = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Message message;
        CHECK_OK(MPI_Isend(out, SMALL, MPI_INT, to(), t, comm, &request));
        switch (t % 4) {
        case 0: CHECK_OK(MPI_Probe(source_or_any(from()), t, comm, &status)); break;
        case 1: CHECK_OK(MPI_Mprobe(source_or_any(from()), t, comm, &message, &status)); break;
        case 2:
            while (!flag) CHECK_OK(MPI_Iprobe(source_or_any(from()), t, comm, &flag, &status));
            break;
        default:
            while (!flag) CHECK_OK(MPI_Improbe(source_or_any(from()), t, comm, &flag, &message, &status));
        }
        CHECK_EQ(status.MPI_SOURCE, from());
        CHECK_EQ(status.MPI_TAG, t);
        if (t % 2 == 0) CHECK_OK(MPI_Recv(in, SMALL, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
        else CHECK_OK(MPI_Mrecv(in, SMALL, MPI_INT, &message, &status));
        CHECK_EQ(in[0], value(from(), t, 0));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

// Sends and receives that are one request and lie on different VNIs; either may end first.
static void joint(MPI_Comm comm) {
    static int out[TAGS][LARGE], in[TAGS][LARGE];
    for (int round = 0; round < 6; round++) {
        MPI_Request requests[TAGS];
        MPI_Status statuses[TAGS];
        for (int t = 0; t < TAGS; t++) {
            // Around the ring in both directions, each direction with tags of its own.
            bool forth = t % 2 == 0;
            int dest = forth ? to() : from(), source = forth ? from() : to();
            out[t][0] = value(check_rank, t, round);
            if (t % 5 == 4) dest = source = MPI_PROC_NULL;
            CHECK_OK(MPI_Isendrecv(out[t], ints_of(t + round), MPI_INT, dest, t, in[t], LARGE, MPI_INT, source, t, comm, &requests[t]));
        }
        if (round % 2 == 0) {
            CHECK_OK(MPI_Waitall(TAGS, requests, statuses));
        } else {
            for (int left = TAGS, index = -1; left > 0; left--) {
                MPI_Status status;
                CHECK_OK(MPI_Waitany(TAGS, requests, &index, &status));
                statuses[index] = status;
            }
        }
        for (int t = 0; t < TAGS; t++) {
            int count = -1, source = t % 5 == 4 ? MPI_PROC_NULL : t % 2 == 0 ? from() : to();
            CHECK_OK(MPI_Get_count(&statuses[t], MPI_INT, &count));
            CHECK_EQ(statuses[t].MPI_SOURCE, source);
            CHECK_EQ(count, source == MPI_PROC_NULL ? 0 : ints_of(t + round));
            if (source != MPI_PROC_NULL) CHECK_EQ(in[t][0], value(source, t, round));
        }
        // With one tag out and another in.
        int sent = value(check_rank, round, 50), got = -1;
        CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, to(), 40 + round, &got, 1, MPI_INT, from(), 40 + round, comm, MPI_STATUS_IGNORE));
        CHECK_EQ(got, value(from(), round, 50));
        got = sent;
        CHECK_OK(MPI_Isendrecv_replace(&got, 1, MPI_INT, to(), 50 + round, from(), 50 + round, comm, requests));
        CHECK_OK(MPI_Wait(requests, MPI_STATUS_IGNORE));
        CHECK_EQ(got, value(from(), round, 50));
    }
}

static void persistent(MPI_Comm comm) {
    enum { ROUNDS = 10 };
    int in[TAGS], out[TAGS];
    MPI_Request requests[2 * TAGS];
    for (int t = 0; t < TAGS; t++) {
        CHECK_OK(MPI_Recv_init(&in[t], 1, MPI_INT, source_or_any(from()), t, comm, &requests[t]));
        if (t % 2 == 0) CHECK_OK(MPI_Send_init(&out[t], 1, MPI_INT, to(), t, comm, &requests[TAGS + t]));
        else CHECK_OK(MPI_Bsend_init(&out[t], 1, MPI_INT, to(), t, comm, &requests[TAGS + t]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < TAGS; t++) out[t] = value(check_rank, t, round);
        CHECK_OK(MPI_Startall(2 * TAGS, requests));
        CHECK_OK(MPI_Waitall(2 * TAGS, requests, MPI_STATUSES_IGNORE));
        for (int t = 0; t < TAGS; t++) CHECK_EQ(in[t], value(from(), t, round));
    }
    for (int i = 0; i < 2 * TAGS; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void cancelled(MPI_Comm comm) {
    MPI_Request requests[TAGS];
    MPI_Status status;
    int in[TAGS], flag = 0;
    for (int t = 0; t < TAGS; t++) CHECK_OK(MPI_Irecv(&in[t], 1, MPI_INT, source_or_any(from()), 90 + t, comm, &requests[t]));
    for (int t = TAGS - 1; t >= 0; t--) {
        CHECK_OK(MPI_Cancel(&requests[t]));
        CHECK_OK(MPI_Wait(&requests[t], &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK_EQ(flag, 1);
    }
}

// One tag of one sender in order, whatever lies between: with any tag, if that was not promised away.
static void ordered(MPI_Comm comm) {
    enum { MESSAGES = 300 };
    static int out[MESSAGES][500];
    MPI_Request requests[MESSAGES];
    int next[TAGS] = {0}, in[500];
    for (int i = 0; i < MESSAGES; i++) {
        out[i][0] = i / TAGS;
        CHECK_OK(MPI_Isend(out[i], i % 7 == 0 ? 500 : 1, MPI_INT, to(), i % TAGS, comm, &requests[i]));
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        int tag = no_any_tag ? (i * 7) % TAGS : MPI_ANY_TAG;
        CHECK_OK(MPI_Recv(in, 500, MPI_INT, source_or_any(from()), tag, comm, &status));
        if (tag == MPI_ANY_TAG) CHECK_EQ(status.MPI_TAG, i % TAGS);
        CHECK_EQ(in[0], next[status.MPI_TAG]);
        next[status.MPI_TAG]++;
    }
    CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

// From all ranks at once: with any source, if that was not promised away.
static void from_all(MPI_Comm comm) {
    enum { ROUNDS = 20 };
    MPI_Request *requests = check_alloc((size_t)check_size * ROUNDS * sizeof *requests);
    int (*out)[ROUNDS] = check_alloc((size_t)check_size * sizeof *out), *next = check_alloc((size_t)check_size * sizeof *next);
    for (int r = 0, n = 0; r < check_size; r++) {
        for (int i = 0; i < ROUNDS; i++, n++) {
            out[r][i] = i;
            CHECK_OK(MPI_Isend(&out[r][i], 1, MPI_INT, r, 60, comm, &requests[n]));
        }
    }
    for (int n = 0; n < check_size * ROUNDS; n++) {
        MPI_Status status;
        int in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, source_or_any(n % check_size), 60, comm, &status));
        CHECK_EQ(in, next[status.MPI_SOURCE]);
        next[status.MPI_SOURCE]++;
    }
    CHECK_OK(MPI_Waitall(check_size * ROUNDS, requests, MPI_STATUSES_IGNORE));
    free(next);
    free(out);
    free(requests);
}

// Collective operations are not affected meanwhile.
static void collective(MPI_Comm comm) {
    int in = -1, sum = -1;
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, source_or_any(from()), 70, comm, &request));
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    CHECK_OK(MPI_Send(&sum, 1, MPI_INT, to(), 70, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(in, sum);
    CHECK_OK(MPI_Barrier(comm));
}

// The communicator is freed before its messages arrive.
static void freed_early(MPI_Comm *comm) {
    static int out[TAGS][LARGE], in[TAGS][LARGE];
    MPI_Request requests[2 * TAGS];
    for (int t = 0; t < TAGS; t++) {
        out[t][0] = value(check_rank, t, 99);
        CHECK_OK(MPI_Irecv(in[t], LARGE, MPI_INT, source_or_any(from()), t, *comm, &requests[t]));
        CHECK_OK(MPI_Isend(out[t], ints_of(t), MPI_INT, to(), t, *comm, &requests[TAGS + t]));
    }
    CHECK_OK(MPI_Comm_free(comm));
    CHECK_OK(MPI_Waitall(2 * TAGS, requests, MPI_STATUSES_IGNORE));
    for (int t = 0; t < TAGS; t++) CHECK_EQ(in[t][0], value(from(), t, 99));
}

// Each thread with a tag of its own, around the ring, by all kinds of calls.
static MPI_Comm common;

static void own_tag(int t, void *shared) {
    (void)shared;
    enum { ROUNDS = 150 };
    int *in = check_alloc(LARGE * sizeof *in), *out = check_alloc(LARGE * sizeof *out);
    for (int i = 0; i < ROUNDS; i++) {
        int n = i % 30 == 29 ? LARGE : i % 10 == 9 ? 3000 : 1;
        MPI_Request requests[2];
        MPI_Status status;
        MPI_Message message;
        out[0] = out[n - 1] = value(check_rank, t, i);
        in[0] = in[n - 1] = -1;
        switch (i % 4) {
        case 0:
            CHECK_OK(MPI_Irecv(in, n, MPI_INT, source_or_any(from()), t, common, &requests[0]));
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to(), t, common, &requests[1]));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            break;
        case 1:
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to(), t, common, &requests[1]));
            CHECK_OK(MPI_Recv(in, n, MPI_INT, source_or_any(from()), t, common, &status));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            break;
        case 2:
            CHECK_OK(MPI_Isendrecv(out, n, MPI_INT, to(), t, in, n, MPI_INT, source_or_any(from()), t, common, requests));
            CHECK_OK(MPI_Wait(requests, &status));
            break;
        default:
            CHECK_OK(MPI_Isend(out, n, MPI_INT, to(), t, common, &requests[1]));
            CHECK_OK(MPI_Mprobe(source_or_any(from()), t, common, &message, &status));
            CHECK_OK(MPI_Mrecv(in, n, MPI_INT, &message, &status));
            CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        }
        CHECK_EQ(in[0], value(from(), t, i));
        if (!CHECK_EQ(in[n - 1], value(from(), t, i))) break;
    }
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    // More than the machine may have cores, unless the caller wants another number.
    setenv("HEDDLE_VNIS", "4", 0);
    check_start(argc, argv);
    static char attached[1 << 16];
    CHECK_OK(MPI_Buffer_attach(attached, sizeof attached));
    for (int promises = 0; promises < 4; promises++) {
        no_any_tag = promises & 1;
        no_any_source = promises & 2;
        MPI_Comm comm = hinted();
        // A barrier between any two: a receive from any source must not meet the next one's messages.
        static void (*const parts[])(MPI_Comm) = {many_tags, probed, joint, persistent, cancelled, ordered, from_all, collective};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            parts[i](comm);
            CHECK_OK(MPI_Barrier(comm));
        }
        if (check_level_asked(argc, argv) == MPI_THREAD_MULTIPLE) {
            common = comm;
            threads_run(6, own_tag, NULL);
            CHECK_OK(MPI_Barrier(comm));
        }
        freed_early(&comm);
        comm = hinted();
        int word = 1;
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, check_rank, 1, comm));
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, check_rank, 1, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_disconnect(&comm));
    }
    void *address;
    int size;
    CHECK_OK(MPI_Buffer_detach(&address, &size));
    return check_finish();
}
