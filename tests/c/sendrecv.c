// MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms: rings, self, different types on the two sides.
#include "check.h"

static int to, from;

static void ring(int n) {
    int *out = check_alloc(sizeof(int) * (size_t)n), *in = check_alloc(sizeof(int) * (size_t)n), count = -1;
    MPI_Status status;
    pattern_fill(out, sizeof(int) * (size_t)n, (unsigned)check_rank);
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, 3, in, n, MPI_INT, from, 3, MPI_COMM_WORLD, &status));
    CHECK_PATTERN(in, sizeof(int) * (size_t)n, (unsigned)from);
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_EQ(status.MPI_TAG, 3);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, n);

    CHECK_OK(MPI_Sendrecv_replace(out, n, MPI_INT, to, 4, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_PATTERN(out, sizeof(int) * (size_t)n, (unsigned)from);
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_EQ(status.MPI_TAG, 4);

    MPI_Request request;
    pattern_fill(out, sizeof(int) * (size_t)n, (unsigned)check_rank + 50);
    memset(in, 0, sizeof(int) * (size_t)n);
    CHECK_OK(MPI_Isendrecv(out, n, MPI_INT, to, 5, in, n, MPI_INT, from, 5, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_PATTERN(in, sizeof(int) * (size_t)n, (unsigned)from + 50);
    CHECK_EQ(status.MPI_SOURCE, from);
    CHECK_OK(MPI_Isendrecv_replace(out, n, MPI_INT, to, 6, from, 6, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_PATTERN(out, sizeof(int) * (size_t)n, (unsigned)from + 50);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(out);
    free(in);
}

static void self(int n) {
    char *out = check_alloc((size_t)n), *in = check_alloc((size_t)n);
    pattern_fill(out, (size_t)n, 1);
    CHECK_OK(MPI_Sendrecv(out, n, MPI_CHAR, 0, 1, in, n, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)n, 1);
    CHECK_OK(MPI_Sendrecv_replace(out, n, MPI_CHAR, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_PATTERN(out, (size_t)n, 1);
    free(out);
    free(in);
}

// Messages to oneself that other messages and receives on the communicator must not lose their order to.
static void self_in_order(MPI_Comm comm, int me) {
    int out = 10, in = -1, earlier = 20, taken = -1, count = -1;
    MPI_Status status;
    MPI_Request request;
    // An earlier message with the same envelope is received first.
    CHECK_OK(MPI_Send(&earlier, 1, MPI_INT, me, 1, comm));
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, comm, &status));
    CHECK_EQ(in, 20);
    CHECK_OK(MPI_Recv(&taken, 1, MPI_INT, me, 1, comm, &status));
    CHECK_EQ(taken, 10);
    // An earlier receive gets the message; the one in the call gets the next.
    CHECK_OK(MPI_Irecv(&taken, 1, MPI_INT, me, MPI_ANY_TAG, comm, &request));
    CHECK_OK(MPI_Send(&earlier, 1, MPI_INT, me, 2, comm));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Irecv(&taken, 1, MPI_INT, me, 3, comm, &request));
    CHECK_OK(MPI_Send(&earlier, 1, MPI_INT, me, 4, comm));
    out = 30;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 3, &in, 1, MPI_INT, me, 4, comm, &status));
    CHECK_EQ(in, 20);
    CHECK_EQ(status.MPI_TAG, 4);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQ(taken, 30);
    // The message is shorter than its receive, and longer.
    char text[16] = "................";
    CHECK_OK(MPI_Sendrecv("abc", 3, MPI_CHAR, me, 5, text, 16, MPI_CHAR, me, 5, comm, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK_EQ(count, 3);
    CHECK_EQ(status.MPI_SOURCE, me);
    CHECK_EQ(status.MPI_TAG, 5);
    CHECK_EQ(memcmp(text, "abc.", 4), 0);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    CHECK_EQ(MPI_Sendrecv("abcdef", 6, MPI_CHAR, me, 6, text, 2, MPI_CHAR, me, 6, comm, &status), MPI_ERR_TRUNCATE);
    CHECK_EQ(memcmp(text, "abc.", 4), 0);
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

static void different_types(void) {
    enum { N = 5000 };
    static int out[2 * N], in[N];
    MPI_Datatype every_second;
    CHECK_OK(MPI_Type_vector(N, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 2 * N; i++) out[i] = i * 5 + check_rank;
    CHECK_OK(MPI_Sendrecv(out, 1, every_second, to, 7, in, N, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += in[i] != i * 10 + from;
    CHECK_EQ(wrong, 0);

    // In place with gaps: only the elements of the type change.
    for (int i = 0; i < 2 * N; i++) out[i] = i % 2 ? -7 : i + check_rank;
    CHECK_OK(MPI_Sendrecv_replace(out, 1, every_second, to, 8, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    wrong = 0;
    for (int i = 0; i < 2 * N; i++) wrong += out[i] != (i % 2 ? -7 : i + from);
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&every_second));
}

// A shorter message than asked for, and none at the ends of a chain.
static void chain(void) {
    int left = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL, right = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
    int out = check_rank, in[4] = {-1, -1, -1, -1}, count = -1;
    MPI_Status status;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, right, 1, in, 4, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, left == MPI_PROC_NULL ? 0 : 1);
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(in[0], left == MPI_PROC_NULL ? -1 : left);
    if (left == MPI_PROC_NULL) CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
}

// A wrong source is found before anything is sent.
static void wrong_source(void) {
    int out = 1, in = 0, flag = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Sendrecv(&out, 1, MPI_INT, 0, 7, &in, 1, MPI_INT, 5, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Sendrecv_replace(&out, 1, MPI_INT, 0, 7, 5, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Isendrecv(&out, 1, MPI_INT, 0, 7, &in, 1, MPI_INT, 5, 7, MPI_COMM_SELF, &request), MPI_ERR_RANK);
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    static const int sizes[] = {0, 1, 10, 1000, 5000, 100000, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        ring(sizes[s]);
        self(sizes[s]);
    }
    self_in_order(MPI_COMM_SELF, 0);
    self_in_order(MPI_COMM_WORLD, check_rank);
    different_types();
    chain();
    wrong_source();
    return check_finish();
}
