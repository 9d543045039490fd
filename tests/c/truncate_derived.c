// Truncated messages between different layouts: the elements that fit arrive, the gaps and the bytes behind stay untouched, and
// the status tells how much arrived. MPI_ERROR of the statuses of many requests.
// ranks: 1 2
// oracle: skip it stops at the first failure of an array (MPI_ERR_PENDING), which the standard permits
#include "check.h"

#include <stddef.h>

static const int counts[] = {2, 30, 1000, 20000, 150000};
enum { COUNTS = sizeof counts / sizeof *counts };

static MPI_Comm comm;

static int peer(int step) { return (check_rank + step + check_size) % check_size; }

// `n` ints leave, `room` of every second one are wanted.
static void into_gaps(int n, int room, bool posted, bool matched) {
    MPI_Datatype type;
    MPI_Request send, receive;
    MPI_Status status;
    MPI_Message message;
    int *out = check_alloc(sizeof(int) * (size_t)n), *in = check_alloc(sizeof(int) * 2 * (size_t)n), wrong = 0, code;
    for (int i = 0; i < n; i++) out[i] = i + check_rank;
    for (int i = 0; i < 2 * n; i++) in[i] = -1;
    CHECK_OK(MPI_Type_vector(room, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    if (posted) CHECK_OK(MPI_Irecv(in, 1, type, peer(-1), 3, comm, &receive));
    CHECK_OK(MPI_Isend(out, n, MPI_INT, peer(1), 3, comm, &send));
    if (posted) {
        code = MPI_Wait(&receive, &status);
    } else if (matched) {
        CHECK_OK(MPI_Mprobe(peer(-1), MPI_ANY_TAG, comm, &message, &status));
        code = MPI_Mrecv(in, 1, type, &message, &status);
        CHECK(message == MPI_MESSAGE_NULL);
    } else {
        code = MPI_Recv(in, 1, type, MPI_ANY_SOURCE, 3, comm, &status);
    }
    CHECK_CLASS(code, room < n ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == peer(-1) && status.MPI_TAG == 3);
    for (int i = 0; i < 2 * n; i++) {
        bool data = i % 2 == 0 && i / 2 < room;
        // How much of a truncated message is stored is the library's choice, but never more than there is room for.
        int want = data ? i / 2 + peer(-1) : -1;
        wrong += in[i] != want && !(data && room < n && in[i] == -1);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&type));
    free(out), free(in);
}

// Ints with gaps leave and bytes arrive, an odd number of them.
static void out_of_gaps(int n) {
    MPI_Datatype type;
    MPI_Request send;
    MPI_Status status;
    int *out = check_alloc(sizeof(int) * 2 * (size_t)n), bytes = n * 4 - 3;
    unsigned char *in = check_alloc((size_t)n * 4 + 16);
    memset(in, 0xee, (size_t)n * 4 + 16);
    for (int i = 0; i < 2 * n; i++) out[i] = i;
    CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Isend(out, 1, type, peer(1), 4, comm, &send));
    CHECK_CLASS(MPI_Recv(in, bytes, MPI_BYTE, peer(-1), 4, comm, &status), MPI_ERR_TRUNCATE);
    for (int i = bytes; i < n * 4 + 16; i++) {
        if (!CHECK_EQ(in[i], 0xee)) break;
    }
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&type));
    free(out), free(in);
}

// A message of less than a whole element of the receiver's type is no error: elements are counted, whole ones undefined.
static void partial(void) {
    struct pair {
        int a;
        double b;
    } in[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int lengths[2] = {1, 1}, count = 0, elements = 0;
    MPI_Aint displs[2] = {offsetof(struct pair, a), offsetof(struct pair, b)};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type, ints;
    MPI_Request send;
    MPI_Status status;
    CHECK_OK(MPI_Type_create_struct(2, lengths, displs, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_create_struct(1, lengths, displs, types, &ints));
    CHECK_OK(MPI_Type_commit(&ints));
    struct pair out[2] = {{1, 2.5}, {3, 4.5}};
    // One and a half elements: int, double, int.
    MPI_Datatype three;
    int blocks[2] = {1, 1};
    MPI_Aint at[2] = {0, sizeof(struct pair)};
    MPI_Datatype parts[2] = {type, ints};
    CHECK_OK(MPI_Type_create_struct(2, blocks, at, parts, &three));
    CHECK_OK(MPI_Type_commit(&three));
    CHECK_OK(MPI_Isend(out, 1, three, peer(1), 5, comm, &send));
    CHECK_OK(MPI_Recv(in, 3, type, peer(-1), 5, comm, &status));
    CHECK(in[0].a == 1 && in[0].b == 2.5 && in[1].a == 3 && in[1].b == -1);
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements(&status, type, &elements));
    CHECK_EQ(elements, 3);
    MPI_Count many = -1;
    CHECK_OK(MPI_Get_elements_c(&status, type, &many));
    CHECK_EQ(many, 3);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 16);
    CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK_EQ(count, 2);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&ints));
    CHECK_OK(MPI_Type_free(&three));
}

// Statuses of arrays: errors only where they belong, null requests empty, inactive persistent ones too.
static void statuses_of_many(int form) {
    int in[4] = {0}, out[2] = {1, 2}, flag = 0, count = 0, indices[6];
    MPI_Request requests[6] = {MPI_REQUEST_NULL}, sends[3];
    MPI_Status statuses[6];
    CHECK_OK(MPI_Recv_init(&in[3], 1, MPI_INT, peer(-1), 9, comm, &requests[5]));
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, peer(-1), i, comm, &requests[1 + i]));
    requests[4] = MPI_REQUEST_NULL;
    for (int i = 0; i < 6; i++) statuses[i].MPI_ERROR = -99;
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Isend(out, 1 + (i != 1), MPI_INT, peer(1), i, comm, &sends[i]));
    CHECK_OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    int code = MPI_SUCCESS;
    if (form == 0) {
        code = MPI_Waitall(6, requests, statuses);
    } else if (form == 1) {
        while (!flag && code == MPI_SUCCESS) code = MPI_Testall(6, requests, &flag, statuses);
        CHECK_EQ(flag, 1);
    } else {
        int truncated = 0, whole = 0;
        for (int left = 3; left > 0; left -= count) {
            code = form == 2 ? MPI_Waitsome(6, requests, &count, indices, statuses) : MPI_SUCCESS;
            for (count = form == 2 ? count : 0; count == 0;) code = MPI_Testsome(6, requests, &count, indices, statuses);
            if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_IN_STATUS);
            for (int i = 0; i < count; i++) {
                bool fails = indices[i] == 1 || indices[i] == 3;
                CHECK(fails || indices[i] == 2);
                if (code != MPI_SUCCESS) CHECK_CLASS(statuses[i].MPI_ERROR, fails ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
                else CHECK(!fails);
                CHECK_EQ(statuses[i].MPI_TAG, indices[i] - 1);
                truncated += fails, whole += !fails;
            }
        }
        CHECK(truncated == 2 && whole == 1);
        CHECK_OK(MPI_Request_free(&requests[5]));
        return;
    }
    CHECK_CLASS(code, MPI_ERR_IN_STATUS);
    for (int i = 0; i < 6; i++) {
        bool fails = i == 1 || i == 3;
        CHECK_CLASS(statuses[i].MPI_ERROR, fails ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_EQ(statuses[i].MPI_SOURCE, i >= 1 && i <= 3 ? peer(-1) : MPI_ANY_SOURCE);
        CHECK((requests[i] == MPI_REQUEST_NULL) == (i != 5));
    }
    CHECK_OK(MPI_Request_free(&requests[5]));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int c = 0; c < COUNTS; c++) {
        for (int mode = 0; mode < 3; mode++) {
            into_gaps(counts[c], counts[c], mode == 1, mode == 2);
            into_gaps(counts[c], counts[c] / 2, mode == 1, mode == 2);
            into_gaps(counts[c], counts[c] - 1, mode == 1, mode == 2);
        }
        out_of_gaps(counts[c]);
    }
    partial();
    for (int form = 0; form < 4; form++) statuses_of_many(form);
    CHECK_OK(MPI_Comm_free(&comm));
    return check_finish();
}
