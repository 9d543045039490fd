// Non-contiguous messages in every size class, with unlike type maps on the two sides.
#include "check.h"
#include <stddef.h>

static const int blocks[] = {0, 1, 3, 8, 20, 100, 1000, 5000, 30000, 200000};
enum { CASES = sizeof blocks / sizeof *blocks };

struct record {
    double weight;
    int id;
    char mark;
    short pair[2];
};

// Type maps that all carry 4 n ints.
enum { PLAIN, STRIDED, BACKWARDS, SCATTERED, RESIZED, STRUCTS, SHAPES };

struct layout {
    MPI_Datatype type;
    int count, base; // elements of the type; where in the buffer of ints its origin is
};

// Where the k-th int of the shape lies in the buffer, and the ints the buffer needs.
static int index_of(int shape, int n, int k) {
    switch (shape) {
    case STRIDED: return k / 4 * 7 + k % 4;
    case BACKWARDS: return (n - 1 - k / 4) * 5 + k % 4;
    case SCATTERED: return k < n * 3 ? n + 7 + k : k - n * 3;
    case RESIZED: return k * 2;
    case STRUCTS: return k / 4 * 6 + (k % 4 < 1 ? 5 : k % 4 - 1);
    default: return k;
    }
}

static struct layout make(int shape, int n) {
    struct layout l = {MPI_DATATYPE_NULL, 1, 0};
    MPI_Datatype inner;
    switch (shape) {
    case STRIDED: CHECK_OK(MPI_Type_vector(n, 4, 7, MPI_INT, &l.type)); break;
    case BACKWARDS:
        CHECK_OK(MPI_Type_vector(n, 4, -5, MPI_INT, &l.type));
        l.base = n ? (n - 1) * 5 : 0;
        break;
    case SCATTERED: CHECK_OK(MPI_Type_indexed(2, (int[]){n * 3, n}, (int[]){n + 7, 0}, MPI_INT, &l.type)); break;
    case RESIZED:
        CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 8, &l.type));
        l.count = 4 * n;
        break;
    case STRUCTS:
        CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 3}, (MPI_Aint[]){20, 0}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &inner));
        CHECK_OK(MPI_Type_create_resized(inner, 0, 24, &l.type));
        CHECK_OK(MPI_Type_free(&inner));
        l.count = n;
        break;
    default: CHECK_OK(MPI_Type_contiguous(4 * n, MPI_INT, &l.type)); break;
    }
    CHECK_OK(MPI_Type_commit(&l.type));
    return l;
}

static int value_at(int rank, int k) {
    return k * 31 + rank * 7 + 1;
}

static void exchange(int send_shape, int recv_shape, int n, int peer) {
    size_t room = sizeof(int) * (size_t)(8 * n + 16);
    int *out = check_alloc(room), *in = check_alloc(room), count = -1, wrong = 0;
    struct layout s = make(send_shape, n), r = make(recv_shape, n);
    MPI_Status status;
    memset(out, 0x55, room);
    memset(in, 0x66, room);
    for (int k = 0; k < 4 * n; k++) out[index_of(send_shape, n, k)] = value_at(check_rank, k);
    CHECK_OK(MPI_Sendrecv(out + s.base, s.count, s.type, peer, 1, in + r.base, r.count, r.type, peer, 1, MPI_COMM_WORLD, &status));
    for (int k = 0; k < 4 * n; k++) {
        int *got = &in[index_of(recv_shape, n, k)];
        wrong += *got != value_at(peer, k);
        *got = 0x66666666; // so that what is left shows writes between the elements
    }
    CHECK_EQ(wrong, 0);
    int strays = 0;
    for (size_t i = 0; i < room / sizeof(int); i++) strays += in[i] != 0x66666666;
    CHECK_EQ(strays, 0);
    CHECK_OK(MPI_Get_elements(&status, r.type, &count));
    CHECK_EQ(count, 4 * n);
    CHECK_OK(MPI_Type_free(&s.type));
    CHECK_OK(MPI_Type_free(&r.type));
    free(out);
    free(in);
}

// A struct with padding, members of several sizes, by value.
static void records(int n, int peer) {
    MPI_Datatype members, type;
    struct record *out = check_alloc(sizeof *out * (size_t)(n + 1)), *in = check_alloc(sizeof *in * (size_t)(n + 1));
    MPI_Aint displs[4] = {offsetof(struct record, weight), offsetof(struct record, id), offsetof(struct record, mark), offsetof(struct record, pair)};
    MPI_Datatype kinds[4] = {MPI_DOUBLE, MPI_INT, MPI_CHAR, MPI_SHORT};
    CHECK_OK(MPI_Type_create_struct(4, (int[]){1, 1, 1, 2}, displs, kinds, &members));
    CHECK_OK(MPI_Type_create_resized(members, 0, sizeof(struct record), &type));
    CHECK_OK(MPI_Type_commit(&type));
    for (int i = 0; i < n; i++) out[i] = (struct record){i * 0.5, i + check_rank, (char)i, {(short)i, (short)-i}};
    CHECK_OK(MPI_Sendrecv(out, n, type, peer, 2, in, n + 1, type, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += in[i].weight != i * 0.5 || in[i].id != i + peer || in[i].mark != (char)i || in[i].pair[0] != (short)i || in[i].pair[1] != (short)-i;
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&members));
    CHECK_OK(MPI_Type_free(&type));
    free(out);
    free(in);
}

// A message shorter than the receiving type ends in the middle of a block.
static void part_of_a_type(int peer) {
    int out[10], in[40], wrong = 0;
    MPI_Datatype type;
    MPI_Status status;
    int count = 0;
    CHECK_OK(MPI_Type_vector(5, 3, 6, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    for (int i = 0; i < 10; i++) out[i] = i + 1;
    for (int n = 0; n <= 10; n++) {
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, peer, 3, in, 1, type, peer, 3, MPI_COMM_WORLD, &status));
        for (int i = 0; i < 15; i++) wrong += in[i / 3 * 6 + i % 3] != (i < n ? i + 1 : 0);
        CHECK_OK(MPI_Get_elements(&status, type, &count));
        CHECK_EQ(count, n);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&type));
}

// Absolute addresses with MPI_BOTTOM.
static void bottom(int peer) {
    int a = check_rank + 100;
    double b = check_rank + 0.25;
    MPI_Aint displs[2];
    MPI_Datatype type;
    struct {
        int a;
        double b;
    } in = {0, 0};
    MPI_Datatype flat;
    CHECK_OK(MPI_Get_address(&a, &displs[0]));
    CHECK_OK(MPI_Get_address(&b, &displs[1]));
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, displs, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &flat));
    CHECK_OK(MPI_Type_commit(&flat));
    CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, type, peer, 4, &in, 1, flat, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in.a, peer + 100);
    CHECK(in.b == peer + 0.25);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&flat));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int peer = check_partner();
    for (int c = 0; c < CASES; c++) {
        for (int s = 0; s < SHAPES; s++) {
            for (int r = 0; r < SHAPES; r++) {
                // The largest only on the diagonal and against plain ones.
                if (blocks[c] > 5000 && s != r && s != PLAIN && r != PLAIN) continue;
                exchange(s, r, blocks[c], peer);
            }
        }
        if (blocks[c] <= 30000) records(blocks[c], peer);
    }
    part_of_a_type(peer);
    bottom(peer);
    return check_finish();
}
