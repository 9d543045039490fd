// A function of the program that MPI calls may wait for another thread, and that thread may want MPI: no critical section
// is held around operators, copies and deletions of attributes, error handlers and the functions of generalized requests.
// Each function here returns only when another thread has made several MPI calls, which it began after the function.
// ranks: 1-4
// levels: multiple
// oracle: skip it returns MPI_SUCCESS after an error handler of the program, and hangs in generalized requests
// variants: operators attributes handlers generalized
#include "threads.h"
#include <semaphore.h>

enum { LONG = 1 << 16, MESSAGE_TAG = 5 };

static struct {
    sem_t begun, done;
    atomic_bool over;
    MPI_Comm self;
    int *out, *in;
} other;

static _Thread_local bool is_other;
static atomic_int meetings;

// What the other thread does while a function of the program waits: calls without and with progress, of an object that
// comes and goes, and a collective operation.
static void use_mpi(void) {
    int rank = -1, n = LONG;
    MPI_Request request;
    MPI_Comm copy;
    MPI_Datatype pair;
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_EQ(rank, check_rank);
    CHECK_OK(MPI_Isend(other.out, 1, MPI_INT, 0, MESSAGE_TAG, other.self, &request));
    CHECK_OK(MPI_Recv(other.in, 1, MPI_INT, 0, MESSAGE_TAG, other.self, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Irecv(other.in, n, MPI_INT, 0, MESSAGE_TAG, other.self, &request));
    CHECK_OK(MPI_Ssend(other.out, n, MPI_INT, 0, MESSAGE_TAG, other.self));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_dup(other.self, &copy));
    CHECK_OK(MPI_Barrier(copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_free(&pair));
}

static void *be_other(void *unused) {
    is_other = true;
    for (;;) {
        sem_wait(&other.begun);
        if (atomic_load(&other.over)) return unused;
        use_mpi();
        sem_post(&other.done);
    }
}

// Called by each function of the program: waits until the other thread has used MPI, and uses it, too. Several threads may
// meet it at once, as any thread that makes progress may run an operator.
static void meet(void) {
    int rank = -1, value = 1, sum = 0;
    if (is_other) return;
    sem_post(&other.begun);
    sem_wait(&other.done);
    atomic_fetch_add(&meetings, 1);
    CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
    CHECK_EQ(rank, 0);
    CHECK_OK(MPI_Reduce_local(&value, &sum, 1, MPI_INT, MPI_SUM));
    CHECK_EQ(sum, 1);
}

// There were meetings since the last time, if `wanted`.
static void check_met(bool wanted, const char *where) {
    int count = atomic_exchange(&meetings, 0);
    check_that(count > 0 || !wanted, __FILE__, __LINE__, where);
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    meet();
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void add_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) {
    int n = (int)*len;
    add(in, inout, &n, type);
}

static void reductions(MPI_Op op, int n) {
    int p = check_size, *in = check_alloc(sizeof(int) * (size_t)(n * p)), *out = check_alloc(sizeof(int) * (size_t)(n * p));
    MPI_Request requests[2];
    bool many = p > 1;
    for (int i = 0; i < n * p; i++) in[i] = 1;
    CHECK_OK(MPI_Reduce_local(in, out, n, MPI_INT, op));
    CHECK_EQ(out[n - 1], 1);
    check_met(true, "MPI_Reduce_local");
    // More than two, since the first ones go by messages.
    for (int i = 0; i < 4; i++) {
        CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD));
        CHECK_EQ(out[n - 1], p);
    }
    check_met(many && check_rank == p - 1 && p == 2, "MPI_Allreduce");
    CHECK_OK(MPI_Scan(in, out, n, MPI_INT, op, MPI_COMM_WORLD));
    CHECK_EQ(out[n - 1], check_rank + 1);
    check_met(check_rank > 0, "MPI_Scan");
    CHECK_OK(MPI_Reduce_scatter_block(in, out, n, MPI_INT, op, MPI_COMM_WORLD));
    CHECK_EQ(out[n - 1], p);
    CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, op, p - 1, MPI_COMM_WORLD));
    if (check_rank == p - 1) CHECK_EQ(out[n - 1], p);
    CHECK_OK(MPI_Iallreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(out[n - 1], p);
    // Any thread makes progress for it, such as one that waits for something else.
    CHECK_OK(MPI_Iallreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(out[n - 1], p);
    CHECK_OK(MPI_Allreduce_init(in, out, n, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Start(&requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK_EQ(out[n - 1], p);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    check_met(false, "the other reductions");
    free(in);
    free(out);
}

static void operators(void) {
    static const int sizes[] = {1, 1000, LONG};
    for (int commutes = 0; commutes < 2; commutes++) {
        MPI_Op op, large;
        CHECK_OK(MPI_Op_create(add, commutes, &op));
        CHECK_OK(MPI_Op_create_c(add_large, commutes, &large));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            reductions(op, sizes[s]);
            reductions(large, sizes[s]);
        }
        CHECK_OK(MPI_Op_free(&op));
        CHECK_OK(MPI_Op_free(&large));
    }
}

static int copy_comm(MPI_Comm comm, int keyval, void *state, void *value, void *out, int *flag) {
    (void)comm, (void)keyval, (void)state;
    meet();
    *(void **)out = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *state, void *value, void *out, int *flag) {
    (void)type;
    return copy_comm(MPI_COMM_NULL, keyval, state, value, out, flag);
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *state) {
    (void)comm, (void)keyval, (void)value, (void)state;
    meet();
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *state) {
    (void)type;
    return delete_comm(MPI_COMM_NULL, keyval, value, state);
}

static int delete_win(MPI_Win win, int keyval, void *value, void *state) {
    (void)win;
    return delete_comm(MPI_COMM_NULL, keyval, value, state);
}

static void attributes(void) {
    static int value, memory[4];
    int keyval;
    MPI_Comm copy, later;
    MPI_Request request;
    CHECK_OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value));
    check_met(true, "MPI_Comm_set_attr");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    check_met(true, "MPI_Comm_dup");
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_met(true, "MPI_Comm_idup");
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&later));
    check_met(true, "MPI_Comm_free");
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    check_met(true, "MPI_Comm_delete_attr");
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));

    MPI_Datatype type, type_copy;
    CHECK_OK(MPI_Type_create_keyval(copy_type, delete_type, &keyval, NULL));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, keyval, &value));
    CHECK_OK(MPI_Type_dup(type, &type_copy));
    check_met(true, "MPI_Type_dup");
    CHECK_OK(MPI_Type_free(&type));
    check_met(true, "MPI_Type_free");
    CHECK_OK(MPI_Type_delete_attr(type_copy, keyval));
    check_met(true, "MPI_Type_delete_attr");
    CHECK_OK(MPI_Type_free(&type_copy));
    CHECK_OK(MPI_Type_free_keyval(&keyval));

    MPI_Win win;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &keyval, NULL));
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_attr(win, keyval, &value));
    CHECK_OK(MPI_Win_set_attr(win, keyval, &value));
    check_met(true, "MPI_Win_set_attr");
    CHECK_OK(MPI_Win_free(&win));
    check_met(true, "MPI_Win_free");
    CHECK_OK(MPI_Win_free_keyval(&keyval));
}

static void on_comm_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    meet();
}

static void on_win_error(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    meet();
}

static void on_file_error(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    meet();
}

static void on_session_error(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    meet();
}

static void handlers(void) {
    static int memory[4], data[4];
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_errhandler(on_comm_error, &handler));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_CLASS(MPI_Send(data, 1, MPI_INT, 77, 0, comm), MPI_ERR_RANK);
    check_met(true, "MPI_Send to a wrong rank");
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    check_met(true, "MPI_Comm_call_errhandler");
    CHECK_OK(MPI_Irecv(data, 1, MPI_INT, 0, 0, comm, &request));
    CHECK_OK(MPI_Send(memory, 4, MPI_INT, 0, 0, comm));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_met(true, "MPI_Wait for a message that is too long");
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Errhandler_free(&handler));

    MPI_Win win;
    CHECK_OK(MPI_Win_create_errhandler(on_win_error, &handler));
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    check_met(true, "MPI_Win_call_errhandler");
    CHECK_CLASS(MPI_Put(data, 1, MPI_INT, 77, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    check_met(true, "MPI_Put to a wrong rank");
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Errhandler_free(&handler));

    CHECK_OK(MPI_File_create_errhandler(on_file_error, &handler));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER));
    check_met(true, "MPI_File_call_errhandler");
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Errhandler_free(&handler));

    MPI_Session session;
    CHECK_OK(MPI_Session_create_errhandler(on_session_error, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    check_met(true, "MPI_Session_call_errhandler");
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static int query(void *state, MPI_Status *status) {
    (void)state;
    meet();
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int let_go(void *state) {
    (void)state;
    meet();
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    (void)state, (void)complete;
    meet();
    return MPI_SUCCESS;
}

static void generalized(void) {
    MPI_Request requests[3];
    MPI_Status status;
    int flag = 0, count = 0, index = -1;
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Grequest_start(query, let_go, cancel, NULL, &requests[i]));
    CHECK_OK(MPI_Cancel(&requests[0]));
    check_met(true, "MPI_Cancel");
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Grequest_complete(requests[i]));
    CHECK_OK(MPI_Request_get_status(requests[0], &flag, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(flag && count == 3);
    check_met(true, "MPI_Request_get_status");
    CHECK_OK(MPI_Wait(&requests[0], &status));
    check_met(true, "MPI_Wait");
    CHECK_OK(MPI_Testany(3, requests, &index, &flag, &status));
    CHECK(flag && index > 0);
    check_met(true, "MPI_Testany");
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    check_met(true, "MPI_Waitall");
    CHECK_OK(MPI_Grequest_start(query, let_go, cancel, NULL, &requests[0]));
    requests[1] = requests[0];
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Grequest_complete(requests[1]));
    check_met(true, "MPI_Grequest_complete of a freed request");
    CHECK_OK(MPI_Grequest_start(query, let_go, cancel, NULL, &requests[0]));
    CHECK_OK(MPI_Grequest_complete(requests[0]));
    CHECK_OK(MPI_Request_free(&requests[0]));
    check_met(true, "MPI_Request_free of a complete request");
}

int main(int argc, char **argv) {
    pthread_t thread;
    const char *variant = argv[argc - 1];
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other.self));
    other.out = check_alloc(sizeof(int) * LONG);
    other.in = check_alloc(sizeof(int) * LONG);
    sem_init(&other.begun, 0, 0);
    sem_init(&other.done, 0, 0);
    pthread_create(&thread, NULL, be_other, NULL);
    if (strcmp(variant, "operators") == 0) operators();
    if (strcmp(variant, "attributes") == 0) attributes();
    if (strcmp(variant, "handlers") == 0) handlers();
    if (strcmp(variant, "generalized") == 0) generalized();
    // The attribute of MPI_COMM_SELF is deleted in MPI_Finalize, while the other thread still may call MPI.
    CHECK_OK(MPI_Finalize());
    check_met(strcmp(variant, "attributes") == 0, "MPI_Finalize");
    atomic_store(&other.over, true);
    sem_post(&other.begun);
    pthread_join(thread, NULL);
    free(other.out);
    free(other.in);
    return check_status();
}
