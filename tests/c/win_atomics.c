// Atomicity of accumulates: all processes change the same elements at once, by accumulates of every form, on windows of every kind,
// by processor atomics where there are some, and in ranges under a lock.
// variants: elements ranges
// settings ranges: HEDDLE_ACCUMULATE_GRANULARITY=20
#include "win_flavors.h"

#include <complex.h>

enum { ROUNDS = 150, COUNT = 3, PLACE = 256 };

static struct flavored at;

struct pair {
    int value, index;
};

// Applies one operation to COUNT elements at a place of the target, by the form that the round asks for.
static void change(const void *operand, MPI_Datatype type, size_t len, int target, MPI_Aint disp, MPI_Op op, int round) {
    char result[COUNT * 32];
    disp += at.bases[target];
    switch (round % 3) {
    case 0: CHECK_OK(MPI_Accumulate(operand, COUNT, type, target, disp, COUNT, type, op, at.win)); break;
    case 1:
        CHECK_OK(MPI_Get_accumulate(operand, COUNT, type, result, COUNT, type, target, disp, COUNT, type, op, at.win));
        break;
    default:
        for (size_t i = 0; i < COUNT; i++) {
            const char *one = (const char *)operand + i * len;
            CHECK_OK(MPI_Fetch_and_op(one, result, type, target, disp + (MPI_Aint)(i * len), op, at.win));
        }
    }
    // The operands are the caller's.
    CHECK_OK(round % 5 == 0 ? MPI_Win_flush(target, at.win) : MPI_Win_flush_local(target, at.win));
}

#define ADD(ctype, mpitype, place)                                                                          \
    do {                                                                                                    \
        ctype operand[COUNT];                                                                               \
        for (int i = 0; i < COUNT; i++) operand[i] = (ctype)(i + 1);                                        \
        change(operand, mpitype, sizeof(ctype), target, (place) * PLACE, MPI_SUM, round);                   \
    } while (0)

#define CHECK_SUM(ctype, mpitype, place)                                                                    \
    do {                                                                                                    \
        ctype sum[COUNT];                                                                                   \
        memcpy(sum, at.memory + (place) * PLACE, sizeof sum);                                               \
        for (int i = 0; i < COUNT; i++) {                                                                   \
            ctype want = (ctype)((long)(i + 1) * ROUNDS * check_size);                                      \
            if (!check_that(sum[i] == want, __FILE__, __LINE__, #mpitype)) {                                \
                fprintf(stderr, "%s\n", flavor_names[at.flavor]);                                           \
            }                                                                                               \
        }                                                                                                   \
    } while (0)

// Each type has a place of its own.
#define EACH(DO)                                  \
    DO(int8_t, MPI_INT8_T, 0);                    \
    DO(int16_t, MPI_INT16_T, 1);                  \
    DO(int32_t, MPI_INT32_T, 2);                  \
    DO(int64_t, MPI_INT64_T, 3);                  \
    DO(float, MPI_FLOAT, 4);                      \
    DO(double, MPI_DOUBLE, 5);                    \
    DO(long double, MPI_LONG_DOUBLE, 6);          \
    DO(float complex, MPI_C_FLOAT_COMPLEX, 7);    \
    DO(double complex, MPI_C_DOUBLE_COMPLEX, 8);  \
    DO(uint64_t, MPI_UINT64_T, 9)

enum { PLACE_OF_PAIRS = 10, PLACE_OF_BITS, PLACE_OF_MAXIMA, PLACE_OF_TICKETS, PLACE_OF_SWAPS, PLACE_UNALIGNED, PLACES };

static void changes(void) {
    for (int round = 0; round < ROUNDS; round++) {
        for (int target = 0; target < check_size; target++) {
            EACH(ADD);
            int64_t odd[COUNT] = {1, 2, 3};
            change(odd, MPI_INT64_T, 8, target, PLACE_UNALIGNED * PLACE + 3, MPI_SUM, round);
            struct pair pairs[COUNT];
            for (int i = 0; i < COUNT; i++) pairs[i] = (struct pair){(round * 7 + i) % ROUNDS, check_rank};
            change(pairs, MPI_2INT, sizeof *pairs, target, PLACE_OF_PAIRS * PLACE, MPI_MAXLOC, round);
            uint16_t bits[COUNT];
            for (int i = 0; i < COUNT; i++) bits[i] = (uint16_t)(1 << (round + i + check_rank) % 16);
            change(bits, MPI_UINT16_T, sizeof *bits, target, PLACE_OF_BITS * PLACE, MPI_BXOR, round);
            double maxima[COUNT];
            for (int i = 0; i < COUNT; i++) maxima[i] = (round * 11 + i) % ROUNDS + check_rank * 0.125;
            change(maxima, MPI_DOUBLE, sizeof *maxima, target, PLACE_OF_MAXIMA * PLACE, MPI_MAX, round);
        }
    }
}

// Tickets drawn by fetch-and-op are all different, and a counter raised by compare-and-swap loses nothing.
static void tickets(int64_t *drawn) {
    const int64_t one = 1;
    int64_t seen = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Aint disp = at.bases[0] + PLACE_OF_TICKETS * PLACE;
        CHECK_OK(MPI_Fetch_and_op(&one, &drawn[round], MPI_INT64_T, 0, disp, MPI_SUM, at.win));
        CHECK_OK(MPI_Win_flush(0, at.win));
        disp = at.bases[0] + PLACE_OF_SWAPS * PLACE;
        for (;;) {
            int64_t expected = seen, value = seen + 1;
            CHECK_OK(MPI_Compare_and_swap(&value, &expected, &seen, MPI_INT64_T, 0, disp, at.win));
            CHECK_OK(MPI_Win_flush(0, at.win));
            if (seen == expected) break;
        }
        seen++;
    }
}

static void check_tickets(const int64_t *drawn) {
    int all = ROUNDS * check_size;
    int64_t *tickets = check_alloc((size_t)all * sizeof *tickets);
    char *seen = check_alloc((size_t)all);
    CHECK_OK(MPI_Gather(drawn, ROUNDS, MPI_INT64_T, tickets, ROUNDS, MPI_INT64_T, 0, MPI_COMM_WORLD));
    for (int i = 0; check_rank == 0 && i < all; i++) {
        if (CHECK(tickets[i] >= 0 && tickets[i] < all)) seen[tickets[i]]++;
    }
    for (int i = 0; check_rank == 0 && i < all; i++) CHECK_EQ(seen[i], 1);
    int64_t swapped;
    memcpy(&swapped, at.memory + PLACE_OF_SWAPS * PLACE, sizeof swapped);
    if (check_rank == 0) CHECK_EQ(swapped, all);
    free(tickets);
    free(seen);
}

static void check_changes(void) {
    EACH(CHECK_SUM);
    int64_t odd[COUNT];
    memcpy(odd, at.memory + PLACE_UNALIGNED * PLACE + 3, sizeof odd);
    struct pair pairs[COUNT];
    memcpy(pairs, at.memory + PLACE_OF_PAIRS * PLACE, sizeof pairs);
    uint16_t bits[COUNT];
    memcpy(bits, at.memory + PLACE_OF_BITS * PLACE, sizeof bits);
    double maxima[COUNT];
    memcpy(maxima, at.memory + PLACE_OF_MAXIMA * PLACE, sizeof maxima);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(odd[i], (int64_t)(i + 1) * ROUNDS * check_size);
        // Of equal maxima the lowest index stays.
        CHECK_EQ(pairs[i].value, ROUNDS - 1);
        CHECK_EQ(pairs[i].index, 0);
        uint16_t want = 0;
        for (int rank = 0; rank < check_size; rank++) {
            for (int round = 0; round < ROUNDS; round++) want ^= (uint16_t)(1 << (round + i + rank) % 16);
        }
        CHECK_EQ(bits[i], want);
        CHECK(maxima[i] == ROUNDS - 1 + (check_size - 1) * 0.125);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int64_t drawn[ROUNDS];
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        at = flavored_make(flavor, PLACES * PLACE, MPI_COMM_WORLD);
        if (!oracle && strcmp(argv[argc - 1], "ranges") == 0) check_granularity(at.win, "20");
        CHECK_OK(MPI_Win_lock_all(0, at.win));
        changes();
        tickets(drawn);
        CHECK_OK(MPI_Win_unlock_all(at.win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, at.win));
        check_changes();
        check_tickets(drawn);
        CHECK_OK(MPI_Win_unlock(check_rank, at.win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        flavored_free(&at);
    }
    return check_finish();
}
