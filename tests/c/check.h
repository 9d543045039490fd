// Checks for the C test programs: a failed check is printed with its place and values and counted, and the program goes on.
//
// A program starts with check_start(argc, argv) and ends with `return check_finish();`. The argument `level=NAME`
// (single, funneled, serialized, multiple; multiple when absent) chooses the thread level. No MPI call is made to
// report a failure, so that a broken library cannot hide one: each rank answers for itself by its exit status.
#ifndef HEDDLE_TEST_CHECK_H
#define HEDDLE_TEST_CHECK_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_PRINTED_AT_MOST = 25 };

static atomic_int check_failures;
static int check_rank = -1;
static int check_size = -1;

#define CHECK_UNUSED __attribute__((unused))

// True when the library under test is the oracle, which departs from the standard's text in known places: a check that it
// cannot pass is made only when this is false. run.py defines the macro under --oracle.
#ifdef HEDDLE_TEST_ORACLE
enum { oracle = 1 };
#else
enum { oracle = 0 };
#endif

CHECK_UNUSED static void check_failed(const char *file, int line, const char *what, const char *detail) {
    int nth = atomic_fetch_add(&check_failures, 1);
    if (nth < CHECK_PRINTED_AT_MOST) {
        fprintf(stderr, "%s:%d: rank %d: check failed: %s%s%s\n", file, line, check_rank, what, *detail ? ": " : "", detail);
    } else if (nth == CHECK_PRINTED_AT_MOST) {
        fprintf(stderr, "%s: rank %d: more failures are counted, not printed\n", file, check_rank);
    }
}

CHECK_UNUSED static bool check_that(bool ok, const char *file, int line, const char *what) {
    if (!ok) check_failed(file, line, what, "");
    return ok;
}

CHECK_UNUSED static bool check_equal(long long got, long long want, const char *file, int line, const char *what) {
    if (got == want) return true;
    char detail[96];
    snprintf(detail, sizeof detail, "%lld is not %lld", got, want);
    check_failed(file, line, what, detail);
    return false;
}

CHECK_UNUSED static bool check_code(int code, int want, const char *file, int line, const char *what) {
    int class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class == want) return true;
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int len = 0;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &len);
    char detail[MPI_MAX_ERROR_STRING + 96];
    snprintf(detail, sizeof detail, "class %d (code %d: %s), wanted class %d", class, code, text, want);
    check_failed(file, line, what, detail);
    return false;
}

// True when the condition holds.
#define CHECK(cond) check_that((cond), __FILE__, __LINE__, #cond)
// Two integers are equal.
#define CHECK_EQ(got, want) check_equal((long long)(got), (long long)(want), __FILE__, __LINE__, #got " == " #want)
// An MPI call succeeds.
#define CHECK_OK(call) check_code((call), MPI_SUCCESS, __FILE__, __LINE__, #call)
// An MPI call fails with this error class.
#define CHECK_CLASS(call, class) check_code((call), (class), __FILE__, __LINE__, #call)

static const struct {
    const char *name;
    int level;
} check_levels[] = {
    {"single", MPI_THREAD_SINGLE},
    {"funneled", MPI_THREAD_FUNNELED},
    {"serialized", MPI_THREAD_SERIALIZED},
    {"multiple", MPI_THREAD_MULTIPLE},
};

// The level asked for on the command line.
CHECK_UNUSED static int check_level_asked(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "level=", 6) != 0) continue;
        for (size_t l = 0; l < sizeof check_levels / sizeof *check_levels; l++) {
            if (strcmp(argv[i] + 6, check_levels[l].name) == 0) return check_levels[l].level;
        }
        fprintf(stderr, "unknown thread level in %s: use single, funneled, serialized or multiple\n", argv[i]);
        exit(2);
    }
    return MPI_THREAD_MULTIPLE;
}

// Initialises MPI at the level asked for (`single` by MPI_Init) and learns who we are.
CHECK_UNUSED static void check_start(int argc, char **argv) {
    int level = check_level_asked(argc, argv), provided = -1;
    if (level == MPI_THREAD_SINGLE) {
        CHECK_OK(MPI_Init(&argc, &argv));
    } else {
        CHECK_OK(MPI_Init_thread(&argc, &argv, level, &provided));
        CHECK(provided >= level);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

// The other rank of this rank's pair: 0 and 1, 2 and 3, and so on. A rank that is left over is its own partner.
CHECK_UNUSED static int check_partner(void) {
    int partner = check_rank ^ 1;
    return partner < check_size ? partner : check_rank;
}

// A communicator for each pair of ranks, and the caller's rank in it: programs of two ranks run once in every pair.
// False for a rank that is left over, which gets no communicator.
CHECK_UNUSED static bool check_pair(MPI_Comm *pair, int *rank_in_pair) {
    bool paired = check_partner() != check_rank;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, paired ? check_rank / 2 : MPI_UNDEFINED, 0, pair));
    if (paired) CHECK_OK(MPI_Comm_rank(*pair, rank_in_pair));
    return paired;
}

// The exit status that tells whether any check of this rank failed.
CHECK_UNUSED static int check_status(void) {
    int failures = atomic_load(&check_failures);
    if (failures != 0) fprintf(stderr, "rank %d: %d checks failed\n", check_rank, failures);
    return failures != 0;
}

// Finalises MPI and gives the exit status.
CHECK_UNUSED static int check_finish(void) {
    CHECK_OK(MPI_Finalize());
    return check_status();
}

// One byte of a repeatable pattern: depends on the seed and on the place, so that shifted data is noticed.
CHECK_UNUSED static unsigned char pattern_byte(unsigned seed, size_t i) {
    uint64_t x = (uint64_t)(seed + 1) * 0x9E3779B97F4A7C15u + (uint64_t)i * 0xBF58476D1CE4E5B9u;
    return (unsigned char)(x >> 56 ^ x >> 29);
}

CHECK_UNUSED static void pattern_fill(void *buf, size_t len, unsigned seed) {
    unsigned char *bytes = buf;
    for (size_t i = 0; i < len; i++) bytes[i] = pattern_byte(seed, i);
}

// The first byte that differs from the pattern, or -1.
CHECK_UNUSED static long long pattern_differs(const void *buf, size_t len, unsigned seed) {
    const unsigned char *bytes = buf;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != pattern_byte(seed, i)) return (long long)i;
    }
    return -1;
}

#define CHECK_PATTERN(buf, len, seed) CHECK_EQ(pattern_differs((buf), (len), (seed)), -1)

// Memory that is there, or the program ends.
CHECK_UNUSED static void *check_alloc(size_t len) {
    void *p = calloc(len ? len : 1, 1);
    if (p == NULL) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", check_rank, len);
        exit(2);
    }
    return p;
}

#endif
