// What is an error by the standard while MPICH, Open MPI and Intel MPI let it pass: Heddle does too, unless HEDDLE_STRICT is on.
// docs/leniency.md lists all of it.
// ranks: 1 2 4
// variants: lenient strict
// settings strict: HEDDLE_STRICT=on
// oracle: skip the tables are those of three libraries together
#include "check.h"
#include <limits.h>

enum { N = 5, PLACES = 64 };

static bool strict;

#define CHECK_LENIENT(call, class) CHECK_CLASS(call, strict ? (class) : MPI_SUCCESS)

typedef struct {
    MPI_Datatype type;
    const char *name;
    // C integer or MPI_AINT's like, Fortran integer, floating point, logical, complex, byte, pair, opaque; the
    // characters of C (h) and Fortran (H).
    char class;
} Type;

#define T(type, class) {type, #type, class}

static const Type types[] = {
    T(MPI_AINT, 'i'), T(MPI_COUNT, 'i'), T(MPI_OFFSET, 'i'), T(MPI_SHORT, 'i'), T(MPI_INT, 'i'), T(MPI_LONG, 'i'),
    T(MPI_LONG_LONG, 'i'), T(MPI_UNSIGNED_SHORT, 'i'), T(MPI_UNSIGNED, 'i'), T(MPI_UNSIGNED_LONG, 'i'),
    T(MPI_UNSIGNED_LONG_LONG, 'i'), T(MPI_SIGNED_CHAR, 'i'), T(MPI_UNSIGNED_CHAR, 'i'), T(MPI_INT8_T, 'i'),
    T(MPI_UINT8_T, 'i'), T(MPI_INT16_T, 'i'), T(MPI_UINT16_T, 'i'), T(MPI_INT32_T, 'i'), T(MPI_UINT32_T, 'i'),
    T(MPI_INT64_T, 'i'), T(MPI_UINT64_T, 'i'), T(MPI_INTEGER, 'f'), T(MPI_INTEGER1, 's'), T(MPI_INTEGER2, 's'),
    T(MPI_INTEGER4, 'f'), T(MPI_INTEGER8, 's'), T(MPI_INTEGER16, 'f'), T(MPI_FLOAT, 'r'), T(MPI_DOUBLE, 'r'),
    T(MPI_REAL, 'r'), T(MPI_DOUBLE_PRECISION, 'r'), T(MPI_REAL2, 'r'), T(MPI_REAL4, 'r'), T(MPI_REAL8, 'r'),
    T(MPI_LOGICAL, 'l'), T(MPI_C_BOOL, 'l'), T(MPI_CXX_BOOL, 'l'), T(MPI_LOGICAL1, 'l'), T(MPI_LOGICAL2, 'l'),
    T(MPI_LOGICAL4, 'l'), T(MPI_LOGICAL8, 'l'), T(MPI_LOGICAL16, 'l'), T(MPI_C_FLOAT_COMPLEX, 'c'),
    T(MPI_C_DOUBLE_COMPLEX, 'c'), T(MPI_CXX_FLOAT_COMPLEX, 'c'), T(MPI_CXX_DOUBLE_COMPLEX, 'c'), T(MPI_COMPLEX, 'c'),
    T(MPI_DOUBLE_COMPLEX, 'c'), T(MPI_COMPLEX4, 'c'), T(MPI_COMPLEX8, 'c'), T(MPI_COMPLEX16, 'c'), T(MPI_BYTE, 'b'),
    T(MPI_FLOAT_INT, 'p'), T(MPI_DOUBLE_INT, 'p'), T(MPI_LONG_INT, 'p'), T(MPI_2INT, 'p'), T(MPI_SHORT_INT, 'p'),
    T(MPI_2REAL, 'p'), T(MPI_2DOUBLE_PRECISION, 'p'), T(MPI_2INTEGER, 'p'), T(MPI_PACKED, 'o'), T(MPI_WCHAR, 'o'),
    T(MPI_CHAR, 'h'), T(MPI_CHARACTER, 'H'),
};

typedef struct {
    MPI_Op op;
    const char *name;
    // The classes on which the standard defines it, those on which other libraries' accumulates have it, too.
    const char *standard, *accumulates;
} Operator;

static const Operator operators[] = {
    {MPI_SUM, "MPI_SUM", "ifsrc", "hH"},  {MPI_PROD, "MPI_PROD", "ifsrc", "hH"}, {MPI_MIN, "MPI_MIN", "ifsr", "h"},
    {MPI_MAX, "MPI_MAX", "ifsr", "h"},    {MPI_BAND, "MPI_BAND", "ifsb", "hH"},  {MPI_BOR, "MPI_BOR", "ifsb", "hH"},
    {MPI_BXOR, "MPI_BXOR", "ifsb", "hH"}, {MPI_LAND, "MPI_LAND", "il", "hHs"},   {MPI_LOR, "MPI_LOR", "il", "hHs"},
    {MPI_LXOR, "MPI_LXOR", "il", "hHs"},  {MPI_MINLOC, "MPI_MINLOC", "p", ""},   {MPI_MAXLOC, "MPI_MAXLOC", "p", ""},
};

#define EACH(item, array) (size_t item = 0; item < sizeof(array) / sizeof *(array); item++)

static void expect(const char *call, const Operator *op, const Type *type, int code, bool allowed, int refusal) {
    char what[160];
    int class;
    MPI_Error_class(code, &class);
    snprintf(what, sizeof what, "%s with %s on %s gives class %d", call, op ? op->name : "no operator", type->name, class);
    check_that(class == (allowed ? MPI_SUCCESS : refusal), __FILE__, __LINE__, what);
}

// Every operator on every type, in a reduction, an accumulate and a comparison.
static void tables(MPI_Win win) {
    static _Alignas(32) char one[PLACES], other[PLACES];
    for EACH(t, types) {
        const Type *type = &types[t];
        for EACH(o, operators) {
            const Operator *op = &operators[o];
            bool standard = strchr(op->standard, type->class), char_too = type->class == 'h' && *op->accumulates;
            bool accumulates = standard || (!strict && strchr(op->accumulates, type->class));
            expect("MPI_Reduce_local", op, type, MPI_Reduce_local(one, other, 1, type->type, op->op),
                   standard || (!strict && char_too), MPI_ERR_OP);
            expect("MPI_Accumulate", op, type,
                   MPI_Accumulate(one, 1, type->type, check_rank, 0, 1, type->type, op->op, win), accumulates, MPI_ERR_OP);
            expect("MPI_Get_accumulate", op, type,
                   MPI_Get_accumulate(one, 1, type->type, other, 1, type->type, check_rank, 0, 1, type->type, op->op, win),
                   accumulates, MPI_ERR_OP);
            expect("MPI_Fetch_and_op", op, type, MPI_Fetch_and_op(one, other, type->type, check_rank, 0, op->op, win),
                   accumulates, MPI_ERR_OP);
        }
        bool compared = strchr("ifslb", type->class) || (!strict && strchr("hH", type->class));
        expect("MPI_Compare_and_swap", NULL, type, MPI_Compare_and_swap(one, one, other, type->type, check_rank, 0, win),
               compared, MPI_ERR_TYPE);
    }
}

static char letter(int rank, int i) {
    static const unsigned char letters[] = {0, 1, 100, 128, 200, 255, 3, 37};
    return (char)letters[(rank * 3 + i) % (int)sizeof letters];
}

static int combined(int op, int a, int b) {
    switch (op) {
    case 0: return a + b;
    case 1: return a * b;
    case 2: return a < b ? a : b;
    case 3: return a > b ? a : b;
    case 4: return a & b;
    case 5: return a | b;
    case 6: return a ^ b;
    case 7: return a && b;
    case 8: return a || b;
    default: return !a != !b;
    }
}

// The result of an operator on the letters of the ranks from 0 to `last`.
static char folded(int op, int last, int i) {
    char all = letter(0, i);
    for (int rank = 1; rank <= last; rank++) all = (char)combined(op, all, letter(rank, i));
    return all;
}

static void is_folded(int op, int last, const char *got, int count, const char *what) {
    for (int i = 0; i < count; i++) {
        if (!check_equal(got[i], folded(op, last, i), __FILE__, __LINE__, what)) return;
    }
}

// A char is an integer of one byte in every reduction.
static void chars(void) {
    char mine[8 * N], all[8 * N];
    int counts[8];
    MPI_Request request;
    for (int i = 0; i < 8 * N; i++) mine[i] = letter(check_rank, i);
    for (int i = 0; i < 8; i++) counts[i] = N;
    for (int o = 0; o < 10; o++) {
        MPI_Op op = operators[o].op;
        CHECK_LENIENT(MPI_Reduce(mine, all, N, MPI_CHAR, op, 0, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict && check_rank == 0) is_folded(o, check_size - 1, all, N, "MPI_Reduce");
        CHECK_LENIENT(MPI_Allreduce(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict) is_folded(o, check_size - 1, all, N, "MPI_Allreduce");
        CHECK_LENIENT(MPI_Scan(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict) is_folded(o, check_rank, all, N, "MPI_Scan");
        CHECK_LENIENT(MPI_Exscan(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict && check_rank > 0) is_folded(o, check_rank - 1, all, N, "MPI_Exscan");
        CHECK_LENIENT(MPI_Reduce_scatter(mine, all, counts, MPI_CHAR, op, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict && check_rank == 0) is_folded(o, check_size - 1, all, N, "MPI_Reduce_scatter");
        CHECK_LENIENT(MPI_Reduce_scatter_block(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD), MPI_ERR_OP);
        if (!strict && check_rank == 0) is_folded(o, check_size - 1, all, N, "MPI_Reduce_scatter_block");
        CHECK_LENIENT(MPI_Iallreduce(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD, &request), MPI_ERR_OP);
        if (!strict) CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE)), is_folded(o, check_size - 1, all, N, "MPI_Iallreduce");
        CHECK_LENIENT(MPI_Allreduce_init(mine, all, N, MPI_CHAR, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_OP);
        if (strict) continue;
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        is_folded(o, check_size - 1, all, N, "MPI_Allreduce_init");
        CHECK_OK(MPI_Request_free(&request));
    }
}

// Accumulates on chars and on Fortran's characters, with the results of C's.
static void accumulated(MPI_Win win, char *memory) {
    MPI_Datatype both[] = {MPI_CHAR, MPI_CHARACTER};
    for (int o = 0; !strict && o < 10; o++) {
        for (int t = 0; t < 2; t++) {
            if (t == 1 && (operators[o].op == MPI_MIN || operators[o].op == MPI_MAX)) continue;
            char mine[N], before[N], one = 7, was;
            for (int i = 0; i < N; i++) mine[i] = letter(1, i), memory[i] = letter(0, i);
            CHECK_OK(MPI_Get_accumulate(mine, N, both[t], before, N, both[t], check_rank, 0, N, both[t], operators[o].op, win));
            CHECK_OK(MPI_Win_flush(check_rank, win));
            for (int i = 0; i < N; i++) CHECK_EQ(before[i], letter(0, i));
            is_folded(o, 1, memory, N, operators[o].name);
            memory[0] = letter(0, 2);
            CHECK_OK(MPI_Fetch_and_op(&mine[2], before, both[t], check_rank, 0, operators[o].op, win));
            CHECK_OK(MPI_Win_flush(check_rank, win));
            CHECK_EQ(memory[0], folded(o, 1, 2));
            was = memory[0];
            CHECK_OK(MPI_Compare_and_swap(&one, &was, before, both[t], check_rank, 0, win));
            CHECK_OK(MPI_Win_flush(check_rank, win));
            CHECK_EQ(before[0], was);
            CHECK_EQ(memory[0], 7);
        }
    }
}

static void until_complete(MPI_Request request) {
    int flag = 0;
    while (!flag) CHECK_OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
}

static void free_complete(MPI_Request *request) {
    until_complete(*request);
    CHECK_LENIENT(MPI_Request_free(request), MPI_ERR_REQUEST);
    CHECK((*request == MPI_REQUEST_NULL) == !strict);
    if (!strict) return;
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (*request != MPI_REQUEST_NULL) CHECK_OK(MPI_Request_free(request));
}

// The request of a complete collective or partitioned operation is freed without a wait.
static void freed_requests(void) {
    int value = check_rank + 1, sum = 0, from = (check_rank + check_size - 1) % check_size, to = (check_rank + 1) % check_size;
    MPI_Request request, halves[2];
    for (int round = 0; round < 3; round++) {
        sum = 0;
        CHECK_OK(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        free_complete(&request);
        CHECK_EQ(sum, check_size * (check_size + 1) / 2);
        CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        free_complete(&request);
        CHECK_OK(MPI_Psend_init(&value, 1, 1, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &halves[0]));
        CHECK_OK(MPI_Precv_init(&sum, 1, 1, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &halves[1]));
        CHECK_OK(MPI_Startall(2, halves));
        CHECK_OK(MPI_Pready(0, halves[0]));
        until_complete(halves[1]);
        free_complete(&halves[0]);
        free_complete(&halves[1]);
        CHECK_EQ(sum, from + 1);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void process_sets(void) {
    static const char *const names[] = {"mpi://world", "MPI://world", "mpi://Self"};
    MPI_Session session;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    for EACH(n, names) {
        MPI_Group group;
        MPI_Info info;
        int size = 0;
        CHECK_LENIENT(MPI_Group_from_session_pset(session, names[n], &group), MPI_ERR_ARG);
        CHECK_LENIENT(MPI_Session_get_pset_info(session, names[n], &info), MPI_ERR_ARG);
        if (strict) continue;
        CHECK_OK(MPI_Group_size(group, &size));
        CHECK_EQ(size, n == 2 ? 1 : check_size);
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Info_free(&info));
    }
    CHECK_OK(MPI_Session_finalize(&session));
}

// The canonical representation is packed, whatever it is called.
static void representations(void) {
    static const char *const names[] = {"native", "EXTERNAL32", "none"};
    for EACH(n, names) {
        char packed[8];
        int value = 0x01020304, back = 0;
        MPI_Aint at = 0, size = 0;
        CHECK_LENIENT(MPI_Pack_external_size(names[n], 1, MPI_INT, &size), MPI_ERR_ARG);
        CHECK_LENIENT(MPI_Pack_external(names[n], &value, 1, MPI_INT, packed, sizeof packed, &at), MPI_ERR_ARG);
        if (strict) continue;
        CHECK_EQ(size, 4);
        CHECK_EQ(at, 4);
        CHECK(packed[0] == 1 && packed[3] == 4);
        at = 0;
        CHECK_OK(MPI_Unpack_external(names[n], packed, sizeof packed, &at, &back, 1, MPI_INT));
        CHECK_EQ(back, value);
    }
}

// Operations with requests between two fences, and between a start and its complete.
static void requests_in_epochs(MPI_Win win, char *memory) {
    int value = 5 + check_rank, *target = (int *)memory, next = (check_rank + 1) % check_size;
    int last = (check_rank + check_size - 1) % check_size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group group;
    CHECK_OK(MPI_Win_get_group(win, &group));
    for (int fences = 0; fences < 2; fences++) {
        *target = 0;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (fences) CHECK_OK(MPI_Win_fence(0, win));
        if (!fences) CHECK_OK(MPI_Win_post(group, 0, win)), CHECK_OK(MPI_Win_start(group, 0, win));
        CHECK_LENIENT(MPI_Rput(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (fences) CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        if (!fences) CHECK_OK(MPI_Win_complete(win)), CHECK_OK(MPI_Win_wait(win));
        CHECK_EQ(*target, strict ? 0 : 5 + last);
    }
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    char *memory;
    MPI_Win win;
    check_start(argc, argv);
    for (int i = 1; i < argc; i++) strict |= strcmp(argv[i], "strict") == 0;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_allocate(PLACES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
    tables(win);
    accumulated(win, memory);
    CHECK_OK(MPI_Win_unlock(check_rank, win));
    chars();
    freed_requests();
    process_sets();
    representations();
    requests_in_epochs(win, memory);
    CHECK_OK(MPI_Win_free(&win));
    return check_finish();
}
