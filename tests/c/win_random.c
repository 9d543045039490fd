// Random one-sided operations, whose outcomes are known: each process's script comes from the seed, so everybody knows what must be
// where. A phase is between fences, in locks, or in post and start; places of a slot are written by one process only, and exactly
// one value may be there afterwards; places of sums are accumulated by all, and their sum is known.
//
// The argument `seed=N` repeats one program; `phases=N` asks for more of them.
#include "win_flavors.h"

enum { SLOT_WORDS = 24, SUMS = 8, MOST_STEPS = 40 };

static unsigned long seed = 20260101;
static int phases = 60;

static uint64_t drawn(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static int below(uint64_t *state, int limit) { return (int)(drawn(state) % (uint64_t)limit); }

enum action { PUT, GET, REPLACE, SWAP, FETCH, SUM, GET_SUM, MAX, ACTIONS };

struct step {
    enum action action;
    int target, word, words, form, sum;
    int64_t value;
};

// Step `number` of a process in a phase: the same whoever asks.
static struct step step_of(int rank, int phase, int number) {
    uint64_t state = seed * 1000003u + (uint64_t)rank * 7919u + (uint64_t)phase * 104729u + (uint64_t)number * 1299709u;
    struct step step;
    step.action = (enum action)below(&state, ACTIONS);
    step.target = below(&state, check_size);
    step.word = below(&state, SLOT_WORDS);
    step.words = 1 + below(&state, SLOT_WORDS - step.word);
    step.form = below(&state, 4);
    step.sum = below(&state, SUMS);
    step.value = (int64_t)(drawn(&state) >> 20);
    return step;
}

static int steps_of(int rank, int phase) {
    uint64_t state = seed + (uint64_t)rank * 31u + (uint64_t)phase * 1009u;
    return below(&state, MOST_STEPS);
}

// What the memory of this process must be, and what this process's slots at all targets must be.
static int64_t *own, *slots;
static struct flavored at;

// The memory of each process: a slot for each rank, the sums, a maximum for each sum.
static size_t slot_at(int rank) { return (size_t)rank * SLOT_WORDS; }
static size_t sums_at(void) { return slot_at(check_size); }
static size_t words_in_all(void) { return sums_at() + 2 * SUMS; }

static void apply(int64_t *memory, const struct step *step, int rank) {
    int64_t *slot = memory + slot_at(rank) + step->word;
    switch (step->action) {
    case PUT:
    case REPLACE:
        for (int i = 0; i < step->words; i++) slot[i] = step->value + i;
        break;
    case SWAP:
        *slot = step->form % 2 ? *slot : step->value;
        break;
    case FETCH: *slot += step->value; break;
    case SUM:
    case GET_SUM: memory[sums_at() + (size_t)step->sum] += step->value; break;
    case MAX:
        slot = memory + sums_at() + SUMS + step->sum;
        if (*slot < step->value) *slot = step->value;
        break;
    default: break;
    }
}

static MPI_Aint place(int target, size_t word) { return at.bases[target] + (MPI_Aint)(word * 8); }

// Makes one step. `flush` tells whether the epoch has flushes; without, two steps of a phase use no word twice, unless by accumulates.
static void make(const struct step *step, int number, bool flush, MPI_Datatype strided) {
    // Buffers that live until the epoch is over.
    static struct {
        int64_t data[2 * SLOT_WORDS], got[SLOT_WORDS], expected;
        struct step step;
    } all[MOST_STEPS];
    MPI_Win win = at.win;
    int64_t *data = all[number].data, *got = all[number].got, *known = slots + slot_at(step->target) + step->word;
    all[number].step = *step;
    step = &all[number].step;
    MPI_Aint disp = place(step->target, slot_at(check_rank) + (size_t)step->word);
    int target = step->target, n = step->words;
    MPI_Request request = MPI_REQUEST_NULL;
    bool twice = step->form == 2 || (step->form == 3 && !flush);
    for (int i = 0; i < n; i++) data[twice ? 2 * i : i] = step->value + i;
    switch (step->action) {
    case PUT:
        if (step->form == 3 && flush) {
            CHECK_OK(MPI_Rput(data, n, MPI_INT64_T, target, disp, n * 8, MPI_BYTE, win, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Put(data, n, twice ? strided : MPI_INT64_T, target, disp, n, MPI_INT64_T, win));
        }
        break;
    case REPLACE:
        CHECK_OK(MPI_Accumulate(data, n, twice ? strided : MPI_INT64_T, target, disp, n, MPI_INT64_T, MPI_REPLACE, win));
        break;
    case GET:
        CHECK_OK(MPI_Get(got, n, MPI_INT64_T, target, disp, n, MPI_INT64_T, win));
        if (flush) {
            CHECK_OK(step->form % 2 ? MPI_Win_flush(target, win) : MPI_Win_flush_local_all(win));
            for (int i = 0; i < n; i++) CHECK_EQ(got[i], known[i]);
        }
        break;
    case SWAP: {
        int64_t *expected = &all[number].expected;
        *expected = step->form % 2 ? ~*known : *known;
        CHECK_OK(MPI_Compare_and_swap(&step->value, expected, got, MPI_INT64_T, target, disp, win));
        if (flush) {
            CHECK_OK(MPI_Win_flush(target, win));
            CHECK_EQ(*got, *known);
        }
        break;
    }
    case FETCH:
        CHECK_OK(MPI_Fetch_and_op(&step->value, got, MPI_INT64_T, target, disp, MPI_SUM, win));
        if (flush) {
            CHECK_OK(MPI_Win_flush(target, win));
            CHECK_EQ(*got, *known);
        }
        break;
    case SUM:
        CHECK_OK(MPI_Accumulate(&step->value, 1, MPI_INT64_T, target, place(target, sums_at() + (size_t)step->sum), 1, MPI_INT64_T,
                                MPI_SUM, win));
        break;
    case GET_SUM:
        CHECK_OK(MPI_Get_accumulate(&step->value, 1, MPI_INT64_T, got, 1, MPI_INT64_T, target,
                                    place(target, sums_at() + (size_t)step->sum), 1, MPI_INT64_T, MPI_SUM, win));
        break;
    default:
        CHECK_OK(MPI_Accumulate(&step->value, 1, MPI_INT64_T, target, place(target, sums_at() + SUMS + (size_t)step->sum), 1,
                                MPI_INT64_T, MPI_MAX, win));
    }
    if (flush) CHECK_OK(step->form ? MPI_Win_flush(target, win) : MPI_Win_flush_all(win));
}

// Without flushes, operations of one epoch must not meet. Here the first step on a word keeps it.
static bool meets(char *used, const struct step *step) {
    if (step->action >= SUM) return false;
    int n = step->action == SWAP || step->action == FETCH ? 1 : step->words;
    char *words = used + step->target * SLOT_WORDS + step->word;
    for (int i = 0; i < n; i++) {
        if (words[i]) return true;
    }
    memset(words, 1, (size_t)n);
    return false;
}

enum epoch { FENCES, LOCK_ALL, LOCKS, POSTS, EPOCHS };

static void phase(int number, enum epoch epoch, MPI_Group everybody, MPI_Datatype strided) {
    bool flush = epoch == LOCK_ALL || epoch == LOCKS;
    char *used = check_alloc((size_t)check_size * SLOT_WORDS);
    if (epoch == FENCES) CHECK_OK(MPI_Win_fence(0, at.win));
    if (epoch == LOCK_ALL) CHECK_OK(MPI_Win_lock_all(0, at.win));
    if (epoch == POSTS) {
        CHECK_OK(MPI_Win_post(everybody, 0, at.win));
        CHECK_OK(MPI_Win_start(everybody, 0, at.win));
    }
    for (int rank = 0; rank < check_size; rank++) {
        memset(used, 0, (size_t)check_size * SLOT_WORDS);
        for (int i = 0; i < steps_of(rank, number); i++) {
            struct step step = step_of(rank, number, i);
            if (!flush && meets(used, &step)) continue;
            if (rank == check_rank) {
                bool exclusive = step.form % 2;
                if (epoch == LOCKS) {
                    CHECK_OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, step.target, 0, at.win));
                }
                // An epoch of locks has flushes by its unlocks, too.
                make(&step, i, flush && (epoch == LOCK_ALL || step.value % 2), strided);
                if (epoch == LOCKS) CHECK_OK(MPI_Win_unlock(step.target, at.win));
                if (step.action < SUM) apply(slots + slot_at(step.target), &step, 0);
            }
            if (step.target == check_rank) apply(own, &step, rank);
        }
    }
    if (epoch == FENCES) CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, at.win));
    if (epoch == LOCK_ALL) CHECK_OK(MPI_Win_unlock_all(at.win));
    if (epoch == POSTS) {
        CHECK_OK(MPI_Win_complete(at.win));
        CHECK_OK(MPI_Win_wait(at.win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, at.win));
    const int64_t *memory = (const void *)at.memory;
    for (size_t i = 0; i < words_in_all(); i++) {
        if (memory[i] == own[i]) continue;
        char detail[160];
        snprintf(detail, sizeof detail, "seed=%lu, phase %d, %s, epoch %d, word %zu: %lld is not %lld", seed, number,
                 flavor_names[at.flavor], (int)epoch, i, (long long)memory[i], (long long)own[i]);
        check_failed(__FILE__, __LINE__, "memory", detail);
        break;
    }
    CHECK_OK(MPI_Win_unlock(check_rank, at.win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(used);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "seed=", 5) == 0) seed = strtoul(argv[i] + 5, NULL, 10);
        if (strncmp(argv[i], "phases=", 7) == 0) phases = atoi(argv[i] + 7);
    }
    MPI_Group everybody;
    MPI_Datatype strided;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    CHECK_OK(MPI_Type_create_resized(MPI_INT64_T, 0, 16, &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    uint64_t state = seed;
    int window_phases = 0;
    for (int number = 0; number < phases; number++) {
        if (window_phases == 0) {
            int flavor = below(&state, FLAVORS);
            at = flavored_make(flavor, words_in_all() * 8, MPI_COMM_WORLD);
            own = check_alloc(words_in_all() * 8);
            slots = check_alloc(slot_at(check_size) * 8);
            window_phases = 1 + below(&state, 8);
        }
        phase(number, (enum epoch)below(&state, EPOCHS), everybody, strided);
        if (--window_phases == 0 || number == phases - 1) {
            flavored_free(&at);
            free(own);
            free(slots);
        }
    }
    CHECK_OK(MPI_Type_free(&strided));
    CHECK_OK(MPI_Group_free(&everybody));
    return check_finish();
}
