// Objects of every kind are freed as soon as the last operation with them has begun, by many threads at once, while others
// make new ones on the same storage: operations in flight complete correctly.
// ranks: 1-4
// levels: multiple
#include "threads.h"

enum { THREADS = 6, ROUNDS = 150, NUMBERS = 300, LARGE = 40000 };

static MPI_Comm world[THREADS];

// A datatype of every second int; `gaps` says whether there are gaps.
static MPI_Datatype ints(int count, bool gaps) {
    MPI_Datatype type = MPI_DATATYPE_NULL, part = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &part));
    CHECK_OK(gaps ? MPI_Type_vector(count, 1, 2, part, &type) : MPI_Type_contiguous(count, part, &type));
    CHECK_OK(MPI_Type_commit(&type));
    // The datatypes that it is made of are freed first.
    CHECK_OK(MPI_Type_free(&part));
    return type;
}

static void fill(int *data, int count, bool gaps, int seed) {
    for (int i = 0; i < count; i++) data[gaps ? 2 * i : i] = seed + i;
}

static void check(const int *data, int count, bool gaps, int seed) {
    int wrong = 0;
    for (int i = 0; i < count; i++) wrong += data[gaps ? 2 * i : i] != seed + i;
    CHECK_EQ(wrong, 0);
}

// The paper's Fig. 1, with a neighbour, in all send modes.
static void ring(MPI_Comm parent, int *out, int *in, int round) {
    int rank, size, count = round % 10 == 0 ? LARGE : NUMBERS;
    bool gaps = round % 3 != 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_dup(parent, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Datatype type = ints(count, gaps);
    fill(out, count, gaps, rank * 1000 + round);
    memset(in, 0xff, sizeof(int) * 2 * LARGE);
    CHECK_OK(MPI_Irecv(in, 1, type, from, 1, comm, &requests[0]));
    if (round % 4 == 0) {
        CHECK_OK(MPI_Issend(out, 1, type, to, 1, comm, &requests[1]));
    } else {
        CHECK_OK(MPI_Isend(out, 1, type, to, 1, comm, &requests[1]));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&type));
    // Others, likely on the same storage.
    for (int i = 0; i < 3; i++) {
        MPI_Comm other = MPI_COMM_NULL;
        MPI_Datatype unlike = ints(7 + i, true);
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
        CHECK_OK(MPI_Comm_free(&other));
        CHECK_OK(MPI_Type_free(&unlike));
    }
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check(in, count, gaps, from * 1000 + round);
}

// Persistent requests outlive what they were made with, from start to start.
static void persistent(int *out, int *in, int round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI_Datatype type = ints(NUMBERS, true);
    CHECK_OK(MPI_Recv_init(in, 1, type, 0, 1, comm, &requests[0]));
    CHECK_OK(MPI_Send_init(out, 1, type, 0, 1, comm, &requests[1]));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 3; i++) {
        fill(out, NUMBERS, true, round + i);
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check(in, NUMBERS, true, round + i);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

// A matched message, a request for both directions, and a request that is freed while it is active.
static void others(int *out, int *in, int round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL, forgotten = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI_Datatype type = ints(NUMBERS, true);
    fill(out, NUMBERS, true, round);
    CHECK_OK(MPI_Isend(out, 1, type, 0, 5, comm, &request));
    CHECK_OK(MPI_Mprobe(0, 5, comm, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Imrecv(in, 1, type, &message, &forgotten));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Wait(&forgotten, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(in, NUMBERS, true, round);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    type = ints(NUMBERS, true);
    CHECK_OK(MPI_Isendrecv(out, 1, type, 0, 6, in + 1, 1, type, 0, 6, comm, &request));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(in + 1, NUMBERS, true, round);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    type = ints(NUMBERS, true);
    CHECK_OK(MPI_Irecv(in, 1, type, 0, 7, comm, &forgotten));
    CHECK_OK(MPI_Request_free(&forgotten));
    CHECK_OK(MPI_Isend(out, 1, type, 0, 7, comm, &request));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static _Thread_local int handled;

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

// Groups, infos, error handlers, operators and keys live until their last user ends.
static void attached(int round) {
    MPI_Comm comm = MPI_COMM_NULL, part = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Op op = MPI_OP_NULL;
    int key = MPI_KEYVAL_INVALID, mine[2] = {round, 1}, total[2] = {0, 0};
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_create(comm, group, &part));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(part, key, &key));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(part, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Op_create(sum, 1, &op));
    CHECK_OK(MPI_Allreduce(mine, total, 2, MPI_INT, op, part));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_EQ(total[0], round);
    // The freed communicator's own handler hears of its request's error.
    MPI_Request request = MPI_REQUEST_NULL;
    int room = 0, before = handled;
    CHECK_OK(MPI_Irecv(&room, 1, MPI_INT, 0, 1, part, &request));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Send(mine, 2, MPI_INT, 0, 1, part));
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_EQ(handled, before + 1);
}

static void traffic(int index, void *shared) {
    (void)shared;
    int *out = check_alloc(sizeof(int) * 2 * LARGE), *in = check_alloc(sizeof(int) * 2 * LARGE);
    for (int round = 0; round < ROUNDS; round++) {
        ring(world[index], out, in, round);
        persistent(out, in, round);
        others(out, in, round);
        attached(round);
    }
    free(out);
    free(in);
}

// One thread frees what another one's pending requests use.
struct handed {
    MPI_Comm comm;
    MPI_Datatype type;
    pthread_barrier_t begun, freed;
};

static void free_for_others(int index, void *shared) {
    struct handed *handed = shared;
    int out[2 * NUMBERS], in[2 * NUMBERS];
    for (int round = 0; round < ROUNDS; round++) {
        if (index == 0) {
            CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &handed->comm));
            handed->type = ints(NUMBERS, true);
        }
        pthread_barrier_wait(&handed->begun);
        MPI_Request request = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
        fill(out, NUMBERS, true, index + round);
        CHECK_OK(MPI_Irecv(in, 1, handed->type, 0, index, handed->comm, &request));
        CHECK_OK(MPI_Issend(out, 1, handed->type, 0, index, handed->comm, &send));
        pthread_barrier_wait(&handed->freed);
        if (index == 1) {
            CHECK_OK(MPI_Comm_free(&handed->comm));
            CHECK_OK(MPI_Type_free(&handed->type));
        }
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        check(in, NUMBERS, true, index + round);
        pthread_barrier_wait(&handed->freed);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world[i]));
    threads_run(THREADS, traffic, NULL);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&world[i]));
    struct handed handed = {.comm = MPI_COMM_NULL};
    pthread_barrier_init(&handed.begun, NULL, THREADS);
    pthread_barrier_init(&handed.freed, NULL, THREADS);
    threads_run(THREADS, free_for_others, &handed);
    return check_finish();
}
