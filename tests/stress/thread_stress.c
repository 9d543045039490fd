// Many threads use everything at once: messages, communicators, collectives, datatypes and other objects.
// ranks: 1 2 4
// levels: multiple
// timeout: 300
//
//   mpiexec -n R thread_stress [threads=N] [rounds=N] [only=messages|communicators|collectives|objects|mixed]
//
// The work is a number of rounds, not a time, so that it can run under a sanitizer or an emulator, however slow.
#include "../c/threads.h"

enum { THREADS_AT_MOST = 64, WINDOW = 24 };

static int threads = 8, rounds = 30, to, from;
static const char *only = "";
static MPI_Comm shared_comm, own[THREADS_AT_MOST];
static MPI_Group world, halves;

static unsigned next_random(unsigned *state) {
    *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
    return *state;
}

// ---- messages: windows of nonblocking operations of mixed sizes, completed in mixed ways

static const int sizes[WINDOW] = {0, 1, 2, 5, 9, 10, 11, 16, 30, 60, 100, 250, 500, 900, 1020, 1030, 2000, 4000, 4100, 8000, 16000, 17000, 40000, 70000};

static void window_of_messages(int t, int round, MPI_Comm comm, int tag_base) {
    static _Thread_local int *out, *in;
    MPI_Request requests[2 * WINDOW];
    MPI_Status status;
    int left = 2 * WINDOW, offset = 0, index = -1, flag = 0, count = 0;
    int *start_of[WINDOW];
    size_t total = 0;
    for (int i = 0; i < WINDOW; i++) total += (size_t)sizes[i];
    out = check_alloc(total * sizeof(int));
    in = check_alloc(total * sizeof(int));
    for (int i = 0; i < WINDOW; i++) {
        int n = sizes[(i + t) % WINDOW];
        start_of[i] = in + offset;
        pattern_fill(out + offset, sizeof(int) * (size_t)n, (unsigned)(round * 100 + i + check_rank));
        CHECK_OK(MPI_Irecv(in + offset, n, MPI_INT, from, tag_base + i, comm, &requests[2 * i]));
        CHECK_OK(i % 7 == 3 ? MPI_Issend(out + offset, n, MPI_INT, to, tag_base + i, comm, &requests[2 * i + 1])
                            : MPI_Isend(out + offset, n, MPI_INT, to, tag_base + i, comm, &requests[2 * i + 1]));
        offset += n;
    }
    while (left > 0) {
        int indices[2 * WINDOW];
        switch ((round + t) % 4) {
        case 0:
            CHECK_OK(MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE));
            left = 0;
            break;
        case 1:
            CHECK_OK(MPI_Waitany(2 * WINDOW, requests, &index, &status));
            left--;
            break;
        case 2:
            CHECK_OK(MPI_Testany(2 * WINDOW, requests, &index, &flag, &status));
            left -= flag;
            break;
        default:
            CHECK_OK(MPI_Testsome(2 * WINDOW, requests, &count, indices, MPI_STATUSES_IGNORE));
            left -= count;
        }
    }
    for (int i = 0; i < WINDOW; i++) {
        CHECK_PATTERN(start_of[i], sizeof(int) * (size_t)sizes[(i + t) % WINDOW], (unsigned)(round * 100 + i + from));
    }
    free(out);
    free(in);
}

static void messages(int t, int round) {
    // The communicator of all threads and the thread's own, in turn.
    if (round % 2) {
        window_of_messages(t, round, shared_comm, t * WINDOW);
    } else {
        window_of_messages(t, round, own[t], 0);
    }
    // A probe among them, and a receive that is cancelled.
    int out = t + round, in = -1, cancelled = 0, nothing = 0;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, to, 5000 + t, shared_comm, &request));
    CHECK_OK(MPI_Mprobe(from, 5000 + t, shared_comm, &message, &status));
    CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK_EQ(in, t + round);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 9000 + t, shared_comm, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK_EQ(cancelled, 1);
}

// ---- communicators: made, used and freed with operations in flight

static void sum_on(MPI_Comm comm, int salt) {
    int rank, size, mine, sum = 0;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    mine = rank + salt;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * salt + size * (size - 1) / 2);
}

static void communicators(int t, int round) {
    MPI_Comm dup, split, group, later;
    MPI_Request request, pair[2];
    int in = -1, out = round, salt = t * 1000 + round;
    CHECK_OK(MPI_Comm_idup(own[t], &later, &request));
    CHECK_OK(MPI_Comm_create_group(shared_comm, round % 2 ? world : halves, t, &group));
    CHECK_OK(MPI_Comm_dup(own[t], &dup));
    CHECK_OK(MPI_Comm_split(dup, (check_rank + round) % 2, check_rank, &split));
    sum_on(group, salt);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, 1, later, &pair[0]));
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, to, 1, later, &pair[1]));
    CHECK_OK(MPI_Comm_free(&later));
    sum_on(split, salt + 1);
    CHECK_OK(MPI_Comm_free(&dup));
    sum_on(split, salt + 2);
    CHECK_OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    CHECK_EQ(in, round);
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free(&group));
}

// ---- collectives, each thread on its own communicator

static void collectives(int t, int round) {
    MPI_Comm comm = own[t];
    enum { N = 700 };
    int p = check_size, root = round % p, *out = check_alloc(sizeof(int) * N * (size_t)p), *in = check_alloc(sizeof(int) * N * (size_t)p), wrong = 0;
    for (int i = 0; i < N * p; i++) out[i] = t + check_rank + i;
    CHECK_OK(MPI_Alltoall(out, N, MPI_INT, in, N, MPI_INT, comm));
    for (int i = 0; i < N * p; i++) wrong += in[i] != t + i / N + check_rank * N + i % N;
    CHECK_OK(MPI_Allreduce(out, in, N, MPI_INT, MPI_MAX, comm));
    for (int i = 0; i < N; i++) wrong += in[i] != t + p - 1 + i;
    CHECK_OK(MPI_Bcast(out, N, MPI_INT, root, comm));
    for (int i = 0; i < N; i++) wrong += out[i] != t + root + i;
    CHECK_OK(MPI_Reduce_scatter_block(out, in, N / p, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < N / p; i++) wrong += in[i] != p * (t + root + check_rank * (N / p) + i);
    CHECK_OK(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_EQ(wrong, 0);
    free(out);
    free(in);
}

// ---- objects: datatypes, groups, operators, info, attributes, error handlers come and go

static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
}

static void objects(int t, int round) {
    MPI_Datatype vector, resized;
    MPI_Group group, joined;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler, got;
    MPI_Request request;
    int data[20], back[10], one = t, sum = 0, size = 0, n = 0, keyval, flag = 0, code = 0, len = 0;
    void *value = NULL;
    char text[MPI_MAX_ERROR_STRING];
    for (int i = 0; i < 20; i++) data[i] = i + round;
    CHECK_OK(MPI_Type_vector(10, 1, 2, MPI_INT, &vector));
    CHECK_OK(MPI_Type_create_resized(vector, 0, 80, &resized));
    CHECK_OK(MPI_Type_commit(&resized));
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Irecv(back, 10, MPI_INT, check_rank, 20000 + t, shared_comm, &request));
    CHECK_OK(MPI_Send(data, 1, resized, check_rank, 20000 + t, shared_comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 10; i++) CHECK_EQ(back[i], 2 * i + round);
    CHECK_OK(MPI_Type_free(&resized));

    CHECK_OK(MPI_Group_incl(world, 1, &check_rank, &group));
    CHECK_OK(MPI_Group_union(group, world, &joined));
    CHECK_OK(MPI_Group_size(joined, &size));
    CHECK_EQ(size, check_size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&joined));

    CHECK_OK(MPI_Op_create(add, 1, &op));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, op, own[t]));
    CHECK_EQ(sum, t * check_size);
    CHECK_OK(MPI_Op_free(&op));

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread", "many"));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK_EQ(n, 1);
    CHECK_OK(MPI_Info_free(&info));

    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(shared_comm, keyval, &threads));
    CHECK_OK(MPI_Comm_get_attr(shared_comm, keyval, &value, &flag));
    CHECK(flag && value == &threads);
    CHECK_OK(MPI_Comm_delete_attr(shared_comm, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));

    CHECK_OK(MPI_Comm_create_errhandler(ignore, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(own[t], handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_get_errhandler(own[t], &got));
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Comm_set_errhandler(own[t], MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
    CHECK_OK(MPI_Add_error_string(code, "made by a thread"));
    CHECK_OK(MPI_Error_string(code, text, &len));
    CHECK(strcmp(text, "made by a thread") == 0);
}

// ---- the program

typedef void (*part)(int t, int round);
static const struct {
    const char *name;
    part run;
} parts[] = {{"messages", messages}, {"communicators", communicators}, {"collectives", collectives}, {"objects", objects}};
enum { PARTS = sizeof parts / sizeof *parts };

static void run_part(int t, void *which) {
    for (int round = 0; round < rounds; round++) parts[*(int *)which].run(t, round);
}

// Each thread has its own random order, which is the same on every rank, so that operations on a communicator are in order.
static void run_mixed(int t, void *unused) {
    (void)unused;
    unsigned state = 12345u + (unsigned)t;
    for (int round = 0; round < rounds * 2; round++) parts[next_random(&state) % PARTS].run(t, round);
}

static void read_arguments(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "threads=", 8) == 0) threads = atoi(argv[i] + 8);
        if (strncmp(argv[i], "rounds=", 7) == 0) rounds = atoi(argv[i] + 7);
        if (strncmp(argv[i], "only=", 5) == 0) only = argv[i] + 5;
    }
    if (threads < 1 || threads > THREADS_AT_MOST || rounds < 1) {
        fprintf(stderr, "threads=%d rounds=%d: use 1 to %d threads and at least one round\n", threads, rounds, THREADS_AT_MOST);
        exit(2);
    }
}

int main(int argc, char **argv) {
    read_arguments(argc, argv);
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    int range[1][3] = {{check_rank % 2, check_size - 1, 2}};
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, range, &halves));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared_comm));
    for (int t = 0; t < threads; t++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[t]));
    for (int p = 0; p < PARTS; p++) {
        if (*only && strcmp(only, parts[p].name) != 0) continue;
        if (check_rank == 0) printf("%s: %d threads, %d rounds\n", parts[p].name, threads, rounds), fflush(stdout);
        threads_run(threads, run_part, &p);
    }
    if (!*only || strcmp(only, "mixed") == 0) {
        if (check_rank == 0) printf("mixed: %d threads, %d rounds\n", threads, rounds * 2), fflush(stdout);
        threads_run(threads, run_mixed, NULL);
    }
    for (int t = 0; t < threads; t++) CHECK_OK(MPI_Comm_free(&own[t]));
    CHECK_OK(MPI_Comm_free(&shared_comm));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&halves));
    return check_finish();
}
