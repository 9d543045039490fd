// An object that something still holds, freed by the program a second time by a copy of its handle: the call fails, with the
// class of a wrong handle, and what holds the object goes on.
// ranks: 1-4
// oracle: skip it crashes, or takes the holder's reference
// abi: standard a handle that was freed may name the next object in its place
#include "check.h"

static int handled;

static void on_comm_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void on_win_error(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    handled++;
}

static void on_file_error(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    handled++;
}

static void on_session_error(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    handled++;
}

// Frees the program's one handle, and then copies of it.
static void free_often(MPI_Errhandler handler) {
    for (int i = 0; i < 4; i++) {
        MPI_Errhandler copy = handler;
        CHECK_CLASS(MPI_Errhandler_free(&copy), i == 0 ? MPI_SUCCESS : MPI_ERR_ERRHANDLER);
    }
}

static void handlers(void) {
    MPI_Errhandler handler, got, copy;
    MPI_Comm comm, other;
    int memory[2];
    CHECK_OK(MPI_Comm_create_errhandler(on_comm_error, &handler));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Comm_dup(comm, &other));
    free_often(handler);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), MPI_ERR_ERRHANDLER);
    handled = 0;
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_OK(MPI_Comm_call_errhandler(other, MPI_ERR_OTHER));
    CHECK_EQ(handled, 2);
    // Each get gives the program a handle again.
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK_OK(MPI_Comm_get_errhandler(other, &copy));
    CHECK_OK(MPI_Comm_free(&other));
    CHECK(got == copy);
    CHECK_OK(MPI_Errhandler_free(&copy));
    free_often(got);
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_EQ(handled, 3);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Errhandler_free(&got), MPI_ERR_ERRHANDLER);

    MPI_Win win;
    CHECK_OK(MPI_Win_create_errhandler(on_win_error, &handler));
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    free_often(handler);
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    CHECK_EQ(handled, 4);
    CHECK_OK(MPI_Win_free(&win));

    CHECK_OK(MPI_File_create_errhandler(on_file_error, &handler));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    free_often(handler);
    CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER));
    CHECK_EQ(handled, 5);
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));

    MPI_Session session;
    CHECK_OK(MPI_Session_create_errhandler(on_session_error, &handler));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    free_often(handler);
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK_EQ(handled, 6);
    CHECK_OK(MPI_Session_finalize(&session));
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void operators(void) {
    MPI_Op op, copy;
    MPI_Request requests[2];
    int in[2] = {1, 1}, out[2] = {0, 0};
    CHECK_OK(MPI_Op_create(add, 1, &op));
    CHECK_OK(MPI_Allreduce_init(&in[0], &out[0], 1, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Iallreduce(&in[1], &out[1], 1, MPI_INT, op, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 4; i++) {
        copy = op;
        CHECK_CLASS(MPI_Op_free(&copy), i == 0 ? MPI_SUCCESS : MPI_ERR_OP);
    }
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(out[0] == check_size && out[1] == check_size);
    CHECK_OK(MPI_Start(&requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[0]));
}

static void free_type_often(MPI_Datatype type) {
    for (int i = 0; i < 4; i++) {
        MPI_Datatype copy = type;
        CHECK_CLASS(MPI_Type_free(&copy), i == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
    }
}

static void types(void) {
    enum { STEP = 3, COUNT = 4000 };
    static int out[STEP * COUNT], in[COUNT];
    int integers[3];
    MPI_Aint addresses[1];
    MPI_Datatype inner, outer, contents[2];
    MPI_Request requests[2];
    for (int i = 0; i < STEP * COUNT; i++) out[i] = i;
    CHECK_OK(MPI_Type_vector(COUNT, 1, STEP, MPI_INT, &inner));
    CHECK_OK(MPI_Type_contiguous(1, inner, &outer));
    free_type_often(inner);
    CHECK_OK(MPI_Type_commit(&outer));
    // Each call gives new handles of the types inside.
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Type_get_contents(outer, 1, 0, 1, integers, addresses, &contents[i]));
    free_type_often(contents[0]);
    CHECK_OK(MPI_Type_free(&contents[1]));
    CHECK_OK(MPI_Send_init(out, 1, outer, 0, 1, MPI_COMM_SELF, &requests[0]));
    CHECK_OK(MPI_Recv_init(in, COUNT, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]));
    free_type_often(outer);
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_EQ(in[COUNT - 1], STEP * (COUNT - 1));
        in[COUNT - 1] = -1;
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static int keep_value(MPI_Comm comm, int keyval, void *value, void *state) {
    (void)comm, (void)keyval, (void)state;
    ++*(int *)value;
    return MPI_SUCCESS;
}

static void others(void) {
    MPI_Comm comm, copy;
    MPI_Group group, group_copy;
    MPI_Info info, info_copy;
    MPI_Request request;
    int got = -1, deleted = 0, keyval, keyval_copy, value = 7, flag = 0, *found = NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_group(comm, &group));
    for (int i = 0; i < 3; i++) {
        group_copy = group;
        CHECK_CLASS(MPI_Group_free(&group_copy), i == 0 ? MPI_SUCCESS : MPI_ERR_GROUP);
    }
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, keep_value, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &deleted));
    for (int i = 0; i < 3; i++) {
        // Other libraries let a keyval be freed as long as a value uses it; the value stays.
        keyval_copy = keyval;
        CHECK_OK(MPI_Comm_free_keyval(&keyval_copy));
    }
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &found, &flag));
    CHECK(flag && found == &deleted);
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, 3, comm, &request));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 3, comm));
    for (int i = 0; i < 3; i++) {
        copy = comm;
        CHECK_CLASS(MPI_Comm_free(&copy), i == 0 ? MPI_SUCCESS : MPI_ERR_COMM);
    }
    CHECK_EQ(deleted, 1);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQ(got, value);
    CHECK_OK(MPI_Info_create(&info));
    for (int i = 0; i < 3; i++) {
        info_copy = info;
        CHECK_CLASS(MPI_Info_free(&info_copy), i == 0 ? MPI_SUCCESS : MPI_ERR_INFO);
    }
}

static int query(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int let_go(void *state) {
    ++*(int *)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

// Requests that are freed while they are active belong to the library, and later ones are not disturbed.
static void requests(void) {
    enum { COUNT = 40 };
    int got[COUNT], freed = 0;
    MPI_Request request, copies[COUNT], later[COUNT];
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request));
        for (int time = 0; time < 3; time++) {
            copies[i] = request;
            CHECK_CLASS(MPI_Request_free(&copies[i]), time == 0 ? MPI_SUCCESS : MPI_ERR_REQUEST);
        }
    }
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], i);
    for (int i = 0; i < COUNT; i++) {
        got[i] = -1;
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &later[i]));
        for (int before = 0; before < i; before++) CHECK(later[before] != later[i]);
    }
    for (int i = 0; i < COUNT; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitall(COUNT, later, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++) CHECK_EQ(got[i], i);
    CHECK_OK(MPI_Grequest_start(query, let_go, cancel, &freed, &request));
    for (int time = 0; time < 3; time++) {
        copies[0] = request;
        CHECK_CLASS(MPI_Request_free(&copies[0]), time == 0 ? MPI_SUCCESS : MPI_ERR_REQUEST);
    }
    CHECK_EQ(freed, 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_EQ(freed, 1);
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    handlers();
    operators();
    types();
    others();
    requests();
    return check_finish();
}
