// Buffers of every kind: at odd addresses, read-only, on the stack, ending where memory ends.
#include "check.h"
#include <sys/mman.h>
#include <unistd.h>

static int peer;
static const int sizes[] = {1, 7, 40, 41, 64, 300, 4095, 4096, 10000, 65536, 65537, 400000, 3000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void exchange(const void *out, void *in, int n, unsigned seed) {
    MPI_Request requests[2];
    CHECK_OK(MPI_Irecv(in, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(in, (size_t)n, seed);
    // The other order: the message is there before its receive.
    memset(in, 0, (size_t)n);
    CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Probe(peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(in, n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, (size_t)n, seed);
}

static void odd_addresses(int n) {
    unsigned char *out = check_alloc((size_t)n + 16), *in = check_alloc((size_t)n + 16);
    for (int shift = 1; shift <= 7; shift += 2) {
        pattern_fill(out + shift, (size_t)n, (unsigned)shift);
        memset(in, 0, (size_t)n + 16);
        exchange(out + shift, in + 8 - shift, n, (unsigned)shift);
        CHECK_EQ(in[8 - shift - 1], 0);
        CHECK_EQ(in[8 - shift + n], 0);
    }
    free(out);
    free(in);
}

// Pages for n bytes, followed by an inaccessible page; the bytes end where that page begins.
static unsigned char *before_the_edge(int n, void **map, size_t *len) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = ((size_t)n + page - 1) / page * page;
    *len = whole + page;
    *map = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*map == MAP_FAILED || mprotect((char *)*map + whole, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(2);
    }
    return (unsigned char *)*map + whole - n;
}

static void edges(int n) {
    void *out_map, *in_map;
    size_t out_len, in_len;
    unsigned char *out = before_the_edge(n, &out_map, &out_len), *in = before_the_edge(n, &in_map, &in_len);
    pattern_fill(out, (size_t)n, 21);
    // A send buffer is read, never written.
    CHECK_EQ(mprotect(out_map, out_len, PROT_READ), 0);
    exchange(out, in, n, 21);
    munmap(out_map, out_len);
    munmap(in_map, in_len);
}

// With inaccessible gaps: blocks of a type on every second page.
static void holes(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    enum { BLOCKS = 20 };
    size_t len = 2 * BLOCKS * page;
    unsigned char *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *flat = check_alloc(BLOCKS * page);
    MPI_Datatype type;
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < page; i++) map[2 * b * page + i] = pattern_byte(5, b * page + i);
        CHECK_EQ(mprotect(map + (2 * b + 1) * page, page, PROT_NONE), 0);
    }
    CHECK_OK(MPI_Type_vector(BLOCKS, (int)page, 2 * (int)page, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Sendrecv(map, 1, type, peer, 3, flat, (int)(BLOCKS * page), MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(flat, BLOCKS * page, 5);
    pattern_fill(flat, BLOCKS * page, 6);
    CHECK_OK(MPI_Sendrecv(flat, (int)(BLOCKS * page), MPI_BYTE, peer, 4, map, 1, type, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < page; i++) wrong += map[2 * b * page + i] != pattern_byte(6, b * page + i);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Type_free(&type));
    munmap(map, len);
    free(flat);
}

static void on_the_stack(void) {
    unsigned char out[100000], in[100000];
    pattern_fill(out, sizeof out, 77);
    exchange(out, in, sizeof out, 77);
    static const char text[] = "constant text, as programs send it";
    char got[sizeof text];
    CHECK_OK(MPI_Sendrecv(text, sizeof text, MPI_CHAR, peer, 9, got, sizeof got, MPI_CHAR, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(strcmp(got, text) == 0);
}

// Several sends may read one buffer at once.
static void shared_send_buffer(void) {
    enum { SENDS = 8, BYTES = 200000 };
    unsigned char *out = check_alloc(BYTES), *in = check_alloc((size_t)SENDS * BYTES);
    MPI_Request requests[2 * SENDS];
    pattern_fill(out, BYTES, 4);
    for (int i = 0; i < SENDS; i++) {
        CHECK_OK(MPI_Irecv(in + i * BYTES, BYTES, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]));
        CHECK_OK(MPI_Isend(out, BYTES, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[SENDS + i]));
    }
    CHECK_OK(MPI_Waitall(2 * SENDS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < SENDS; i++) CHECK_PATTERN(in + i * BYTES, BYTES, 4);
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    for (int s = 0; s < SIZES; s++) {
        odd_addresses(sizes[s]);
        edges(sizes[s]);
    }
    holes();
    on_the_stack();
    shared_send_buffer();
    return check_finish();
}
