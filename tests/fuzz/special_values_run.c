// Makes the calls of special_values.py: SEED, PAIRS for each function (-1: all), thread LEVELS, FUNCTIONS that begin so.
//
// The parent forks a child for each thread level, which initialises MPI and makes one call after the other. It writes the number of
// the call to a shared page first. If it dies or hangs, the parent names the call, and another child goes on behind it.
#include "special_values.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_VALUES = 24, MOST_PARAMETERS = 20, ZONE = 1 << 16, HANG_SECONDS = 20, GROWTH_KIB = 64 << 10 };

// A value of an argument.
struct value {
    const char *name;
    intptr_t bits;
    // Stored at the address that is passed, for pointers to variables.
    bool is_content;
    // The call must fail; 0: no matter. `class`: with this class, `or`: or this one.
    bool wrong;
    int class, or;
    // Sizes for which no memory is there.
    bool huge;
};

struct shared {
    long number;
    char call[2048];
    bool after;
};

static struct shared *shared;
static char *zones;
static long failures, calls;
static MPI_Comm plain, checks, freed_comm, topologies[4];
static MPI_Group group, freed_group;
static MPI_Datatype derived, uncommitted, freed_type, no_data;
static MPI_Op own_op, freed_op;
static MPI_Info info, freed_info;
static MPI_Errhandler handler, freed_handler;
static MPI_Win win;
static MPI_Session session;
static MPI_Request freed_request;
static char long_text[8192], text_300[301];
static double buffer[512], buffer_out[512];

// A callback of any kind, which does nothing.
static int callback(void) { return 0; }

static intptr_t fresh(enum slot slot) {
    switch (slot) {
    case COMM_INOUT: { MPI_Comm c; MPI_Comm_dup(plain, &c); MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); return (intptr_t)c; }
    case GROUP_INOUT: { MPI_Group g; MPI_Comm_group(plain, &g); return (intptr_t)g; }
    case DATATYPE_INOUT: { MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t); return (intptr_t)t; }
    case REQUEST_INOUT: { MPI_Request r; MPI_Send_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, plain, &r); return (intptr_t)r; }
    case OP_INOUT: { MPI_Op o; MPI_Op_create((MPI_User_function *)callback, 1, &o); return (intptr_t)o; }
    case INFO_INOUT: { MPI_Info i; MPI_Info_create(&i); MPI_Info_set(i, "name", "value"); return (intptr_t)i; }
    case ERRHANDLER_INOUT: {
        MPI_Errhandler e;
        MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)callback, &e);
        return (intptr_t)e;
    }
    case WIN: case WIN_INOUT: {
        MPI_Win w;
        MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, plain, &w);
        MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
        return (intptr_t)w;
    }
    case SESSION_INOUT: { MPI_Session s; MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s); return (intptr_t)s; }
    case FILE_INOUT: return (intptr_t)MPI_FILE_NULL;
    default: return (intptr_t)MPI_MESSAGE_NULL;
    }
}

static void make_objects(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &plain);
    MPI_Comm_dup(MPI_COMM_SELF, &checks);
    MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
    int one = 1, two[2] = {1, 1}, zero = 0;
    topologies[BASE_PLAIN] = plain;
    MPI_Cart_create(plain, 1, &one, &one, 0, &topologies[BASE_CART]);
    MPI_Graph_create(plain, 1, two, &zero, 0, &topologies[BASE_GRAPH]);
    MPI_Dist_graph_create_adjacent(plain, 1, &zero, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &topologies[BASE_DIST_GRAPH]);
    freed_comm = (MPI_Comm)fresh(COMM_INOUT), group = freed_group = (MPI_Group)fresh(GROUP_INOUT);
    freed_group = (MPI_Group)fresh(GROUP_INOUT), freed_type = (MPI_Datatype)fresh(DATATYPE_INOUT);
    uncommitted = (MPI_Datatype)fresh(DATATYPE_INOUT), derived = (MPI_Datatype)fresh(DATATYPE_INOUT);
    MPI_Type_commit(&derived);
    MPI_Type_contiguous(0, MPI_INT, &no_data);
    MPI_Type_commit(&no_data);
    own_op = (MPI_Op)fresh(OP_INOUT), freed_op = (MPI_Op)fresh(OP_INOUT);
    info = (MPI_Info)fresh(INFO_INOUT), freed_info = (MPI_Info)fresh(INFO_INOUT);
    handler = (MPI_Errhandler)fresh(ERRHANDLER_INOUT), freed_handler = (MPI_Errhandler)fresh(ERRHANDLER_INOUT);
    win = (MPI_Win)fresh(WIN), session = (MPI_Session)fresh(SESSION_INOUT), freed_request = (MPI_Request)fresh(REQUEST_INOUT);
    MPI_Comm c = freed_comm; MPI_Comm_free(&c);
    MPI_Group g = freed_group; MPI_Group_free(&g);
    MPI_Datatype t = freed_type; MPI_Type_free(&t);
    MPI_Op o = freed_op; MPI_Op_free(&o);
    MPI_Info i = freed_info; MPI_Info_free(&i);
    MPI_Errhandler e = freed_handler; MPI_Errhandler_free(&e);
    MPI_Request r = freed_request; MPI_Request_free(&r);
    memset(long_text, 'x', sizeof long_text - 1);
    memset(text_300, 'y', sizeof text_300 - 1);
}

#define ADD(...) (values[n++] = (struct value){__VA_ARGS__})

// The values of a handle: the base, others that are right, and those that are wrong with this class.
static int handles(struct value *values, bool content, intptr_t base, intptr_t null, bool null_is_right, intptr_t freed, int class, intptr_t other) {
    int n = 0;
    ADD("right", base, content);
    ADD("null", null, content, !null_is_right, class);
    ADD("0", 0, content, true, class);
    ADD("garbage", (intptr_t)0xdeadbeefcafe, content, true, class);
    ADD("-1", -1, content, true, class);
    ADD("unknown predefined", 0x7ff, content, true, class);
    if (freed) ADD("freed", freed, content, true, class);
    ADD("another kind", other, content, true, class);
    if (content) ADD("null pointer", 0, false, true, MPI_ERR_ARG, class);
    return n;
}

static int all_values_of(const struct function *function, const struct parameter *parameter, struct value *values) {
    enum slot slot = parameter->slot;
    int n = 0;
    bool content = slot >= COMM_INOUT && slot <= MESSAGE_INOUT;
    intptr_t type = (intptr_t)MPI_INT, another = (intptr_t)plain;
    switch (slot) {
    case COMM: case COMM_INOUT: {
        intptr_t base = content ? 0 : (intptr_t)topologies[function->flags & BASE_MASK];
        n = handles(values, content, base, (intptr_t)MPI_COMM_NULL, false, (intptr_t)freed_comm, MPI_ERR_COMM, type);
        if (!content) ADD("MPI_COMM_WORLD", (intptr_t)MPI_COMM_WORLD);
        if (!content) ADD("a grid", (intptr_t)topologies[BASE_CART]);
        return n;
    }
    case GROUP: case GROUP_INOUT:
        n = handles(values, content, (intptr_t)group, (intptr_t)MPI_GROUP_NULL, false, (intptr_t)freed_group, MPI_ERR_GROUP, another);
        ADD("MPI_GROUP_EMPTY", (intptr_t)MPI_GROUP_EMPTY, content);
        return n;
    case DATATYPE: case DATATYPE_INOUT:
        n = handles(values, content, type, (intptr_t)MPI_DATATYPE_NULL, false, (intptr_t)freed_type, MPI_ERR_TYPE, another);
        if (content) return n;
        ADD("derived", (intptr_t)derived, content);
        ADD("not committed", (intptr_t)uncommitted, content);
        ADD("without data", (intptr_t)no_data, content);
        ADD("MPI_DOUBLE_INT", (intptr_t)MPI_DOUBLE_INT, content);
        return n;
    case REQUEST: case REQUEST_INOUT:
        return handles(values, content, (intptr_t)MPI_REQUEST_NULL, (intptr_t)MPI_REQUEST_NULL, true, (intptr_t)freed_request, MPI_ERR_REQUEST, type);
    case OP: case OP_INOUT:
        n = handles(values, content, (intptr_t)MPI_SUM, (intptr_t)MPI_OP_NULL, false, (intptr_t)freed_op, MPI_ERR_OP, type);
        if (!content) ADD("of the program", (intptr_t)own_op);
        ADD("MPI_MINLOC", (intptr_t)MPI_MINLOC, content);
        ADD("MPI_REPLACE", (intptr_t)MPI_REPLACE, content);
        ADD("MPI_NO_OP", (intptr_t)MPI_NO_OP, content);
        return n;
    case INFO: case INFO_INOUT:
        n = handles(values, content, (intptr_t)info, (intptr_t)MPI_INFO_NULL, true, (intptr_t)freed_info, MPI_ERR_INFO, type);
        ADD("MPI_INFO_ENV", (intptr_t)MPI_INFO_ENV, content);
        return n;
    case ERRHANDLER: case ERRHANDLER_INOUT:
        return handles(values, content, (intptr_t)MPI_ERRORS_RETURN, (intptr_t)MPI_ERRHANDLER_NULL, false, (intptr_t)freed_handler, MPI_ERR_ERRHANDLER, type);
    case WIN: case WIN_INOUT:
        return handles(values, content, (intptr_t)win, (intptr_t)MPI_WIN_NULL, false, 0, MPI_ERR_WIN, type);
    case FILE_: case FILE_INOUT:
        return handles(values, content, (intptr_t)MPI_FILE_NULL, (intptr_t)MPI_FILE_NULL, true, 0, MPI_ERR_FILE, type);
    case SESSION: case SESSION_INOUT:
        return handles(values, content, (intptr_t)session, (intptr_t)MPI_SESSION_NULL, false, 0, MPI_ERR_SESSION, type);
    case MESSAGE: case MESSAGE_INOUT:
        return handles(values, content, (intptr_t)MPI_MESSAGE_NO_PROC, (intptr_t)MPI_MESSAGE_NULL, false, 0, MPI_ERR_REQUEST, type);
    case DATATYPE_ARRAY: case REQUEST_ARRAY: case INFO_ARRAY: case INT_ARRAY: case WIDE_ARRAY: case RANGES: case STRINGS:
        ADD("right", 0, true);
        ADD("null pointer", 0);
        ADD("of -1", -1, true);
        ADD("of the largest numbers", slot == INT_ARRAY || slot == RANGES ? INT_MAX : INTPTR_MAX, true);
        ADD("of garbage", (intptr_t)0xdeadbeefcafe, true);
        if (strstr(parameter->name, "weights") != NULL) {
            ADD("MPI_UNWEIGHTED", (intptr_t)MPI_UNWEIGHTED);
            ADD("MPI_WEIGHTS_EMPTY", (intptr_t)MPI_WEIGHTS_EMPTY);
        }
        if (slot == STRINGS) n = 2;
        return n;
    case RANK: case ROOT: {
        int class = slot == ROOT ? MPI_ERR_ROOT : MPI_ERR_RANK;
        ADD("right", slot == ROOT ? 0 : MPI_PROC_NULL);
        ADD("0", 0);
        ADD("MPI_ANY_SOURCE", MPI_ANY_SOURCE);
        ADD("-2", -2, false, true, class);
        ADD("MPI_PROC_NULL", MPI_PROC_NULL);
        ADD("MPI_ROOT", MPI_ROOT, false, true, class);
        ADD("MPI_UNDEFINED", MPI_UNDEFINED);
        ADD("1", 1, false, true, class);
        ADD("INT_MAX", INT_MAX, false, true, class);
        ADD("INT_MIN", INT_MIN, false, true, class);
        return n;
    }
    case TAG:
        ADD("right", 3);
        ADD("MPI_ANY_TAG", MPI_ANY_TAG);
        ADD("-3", -3, false, true, MPI_ERR_TAG);
        ADD("INT_MAX", INT_MAX);
        ADD("INT_MIN", INT_MIN, false, true, MPI_ERR_TAG);
        return n;
    case COUNT: case COUNT_WIDE:
        ADD("right", 1);
        ADD("-1", -1, false, true, MPI_ERR_COUNT, MPI_ERR_ARG);
        ADD("0", 0);
        ADD("INT_MAX", INT_MAX, false, false, 0, 0, true);
        ADD("INT_MIN", INT_MIN, false, true, MPI_ERR_COUNT, MPI_ERR_ARG);
        if (slot == COUNT_WIDE) ADD("INT64_MAX", INT64_MAX, false, false, 0, 0, true);
        if (slot == COUNT_WIDE) ADD("INT64_MAX / 4", INT64_MAX / 4, false, false, 0, 0, true);
        if (slot == COUNT_WIDE) ADD("INT64_MIN", INT64_MIN, false, true, MPI_ERR_COUNT, MPI_ERR_ARG);
        return n;
    case DISPL: case DISPL_WIDE: case INT: case LOGICAL:
        ADD("right", slot == DISPL_WIDE ? 8 : 1);
        ADD("-1", -1);
        ADD("0", 0);
        ADD("INT_MAX", INT_MAX);
        ADD("INT_MIN", INT_MIN);
        ADD("MPI_UNDEFINED", MPI_UNDEFINED);
        if (slot == DISPL_WIDE) ADD("INT64_MAX", INT64_MAX, false, false, 0, 0, true);
        if (slot == DISPL_WIDE) ADD("INT64_MIN", INT64_MIN);
        if (slot == DISPL_WIDE) ADD("2^46", (intptr_t)1 << 46, false, false, 0, 0, true);
        return n;
    case INT_INOUT: case WIDE_INOUT:
        ADD("right", 8, true);
        ADD("-1", -1, true);
        ADD("0", 0, true);
        ADD("INT_MAX", INT_MAX, true);
        ADD("INT_MIN", INT_MIN, true);
        if (slot == WIDE_INOUT) ADD("INT64_MAX", INT64_MAX, true);
        ADD("null pointer", 0);
        return n;
    case TEXT:
        ADD("right", (intptr_t)(strcmp(parameter->name, "pset_name") == 0 ? "mpi://WORLD" : strcmp(parameter->name, "datarep") == 0 ? "external32" : "name"));
        ADD("null pointer", 0, false, true);
        ADD("empty", (intptr_t)"");
        ADD("300 characters", (intptr_t)text_300);
        ADD("8191 characters", (intptr_t)long_text);
        ADD("no UTF-8", (intptr_t)"\xff\xfe\x80");
        return n;
    case FUNCTION:
        ADD("right", (intptr_t)callback);
        ADD("null pointer", 0);
        return n;
    case POINTER: case TOOL:
        ADD("right", 0);
        ADD("1", 1);
        if (slot == POINTER) ADD("garbage", (intptr_t)0xdeadbeefcafe);
        return n;
    case BUFFER: case BUFFER_OUT:
        ADD("right", slot == BUFFER ? (intptr_t)buffer : (intptr_t)buffer_out);
        ADD("null pointer", 0);
        ADD("MPI_IN_PLACE", (intptr_t)MPI_IN_PLACE);
        ADD("unaligned", slot == BUFFER ? (intptr_t)buffer + 1 : (intptr_t)buffer_out + 1);
        ADD("MPI_BUFFER_AUTOMATIC", (intptr_t)MPI_BUFFER_AUTOMATIC);
        return n;
    case OUT: case OUT_ARRAY:
        ADD("right", 0, true);
        ADD("null pointer", 0);
        return n;
    case STATUS: case STATUS_INOUT:
        ADD("right", 0, true);
        ADD("MPI_STATUS_IGNORE", 0);
        return n;
    case TOOL_INOUT:
        ADD("right", 0, true);
        ADD("null pointer", 0);
        return n;
    }
    return n;
}

// The values of an argument, the right one first.
static int values_of(const struct function *function, const struct parameter *parameter, struct value *values) {
    int n = all_values_of(function, parameter, values);
    bool has_processes = false, sets_status = strncmp(function->name, "MPI_Status_set", 14) == 0;
    for (int p = 0; p < function->parameter_count; p++)
        has_processes |= function->parameters[p].slot == COMM || function->parameters[p].slot == WIN || function->parameters[p].slot == GROUP;
    for (int v = 0; v < n; v++) {
        const char *name = parameter->name;
        // The null handles have names, and strides may be negative.
        if (v == 1 && strstr(function->name, "_get_name") != NULL) values[v].wrong = false;
        if (strcmp(name, "stride") == 0 || strcmp(name, "argc") == 0) values[v].wrong = false;
        if (strcmp(name, "ndims") == 0) values[v].or = MPI_ERR_DIMS;
        // A status takes all numbers.
        if (sets_status && parameter->slot >= RANK && parameter->slot <= LOGICAL) values[v].wrong = false;
        if (parameter->slot == RANK && !has_processes) values[v].or = MPI_ERR_ARG;
    }
    if (parameter->slot == RANK && (strstr(parameter->name, "leader") || strncmp(function->name, "MPI_Cart", 8) == 0 || strncmp(function->name, "MPI_Graph", 9) == 0 || strncmp(function->name, "MPI_Type_create_darray", 22) == 0))
        values[0].bits = 0;
    if (strcmp(parameter->name, "assert") == 0) values[0].bits = 0;
    // A started epoch waits for the processes of its group.
    if (strcmp(function->name, "MPI_Win_start") == 0 && parameter->slot == GROUP) values[0].bits = (intptr_t)MPI_GROUP_EMPTY;
    if (strncmp(function->name, "MPI_Abi_", 8) == 0 && parameter->slot == BUFFER_OUT) n = 2;
    if (strcmp(parameter->name, "lock_type") == 0) values[0].bits = MPI_LOCK_SHARED;
    if (strncmp(function->name, "MPI_Type_get_contents", 21) == 0 && parameter->slot == DATATYPE) values[0].bits = (intptr_t)derived;
    return n;
}

static bool is_base_array(enum slot slot) { return slot >= DATATYPE_ARRAY && slot <= STRINGS; }

// Whether a call would rightly wait, or use memory that is not there.
static bool is_left_out(const struct function *f, const struct value *chosen) {
    bool wrong = false;
    bool many = false, has_array = false, impossible = false, big_buffer = false, moved = false, has_peer = false, has_data = false, is_type = strncmp(f->name, "MPI_Type_", 9) == 0;
    for (int p = 0; p < f->parameter_count; p++) {
        enum slot slot = f->parameters[p].slot;
        wrong |= chosen[p].wrong;
        many |= chosen[p].huge && (slot == COUNT || slot == COUNT_WIDE);
        has_peer |= slot == RANK;
        has_array |= is_base_array(slot) && chosen[p].is_content && strcmp(chosen[p].name, "right") != 0;
        impossible |= chosen[p].bits == INT64_MAX && (slot == COUNT || slot == COUNT_WIDE);
        big_buffer |= chosen[p].bits >= INT_MAX && (strcmp(f->parameters[p].name, "insize") == 0 || strcmp(f->parameters[p].name, "outsize") == 0);
        moved |= strcmp(f->parameters[p].name, "position") == 0 && chosen[p].bits > 8;
        has_data |= slot == DATATYPE && strcmp(chosen[p].name, "right") != 0 && chosen[p].bits != (intptr_t)no_data;
    }
    // Nor is a buffer of this size.
    if (big_buffer && moved) return true;
    // An array of so many elements is not there; one of 2^63 - 1 elements cannot be.
    if (many && has_array && !impossible) return true;
    // MPI_PROC_NULL gets no data, all others would get many.
    if (many && has_data && !wrong && !is_type && !has_peer) return true;
    for (int p = 0; p < f->parameter_count; p++) {
        enum slot slot = f->parameters[p].slot;
        if (slot == RANK && f->flags & WAITING && chosen[p].bits != MPI_PROC_NULL && !chosen[p].wrong) return true;
        if (f->flags & ALLOCATING && slot == DISPL_WIDE && chosen[p].bits == INT_MAX) return true;
        if (slot == MESSAGE_INOUT && chosen[p].is_content && chosen[p].bits == 0) return false;
    }
    return false;
}

// Fills a variable or an array in a zone of memory.
static intptr_t stored(const struct value *value, enum slot slot, int p, bool is_base) {
    char *zone = zones + (size_t)p * ZONE;
    memset(zone, 0, 4096);
    intptr_t bits = value->bits;
    if (slot >= COMM_INOUT && slot <= MESSAGE_INOUT) {
        if (is_base && slot != MESSAGE_INOUT) bits = fresh(slot);
        memcpy(zone, &bits, sizeof bits);
    } else if (slot == INT_INOUT) {
        int number = (int)bits;
        memcpy(zone, &number, sizeof number);
    } else if (slot == WIDE_INOUT) {
        memcpy(zone, &bits, sizeof bits);
    } else if (slot == STRINGS) {
        char *one = "word", *none = NULL;
        memcpy(zone, &one, sizeof one), memcpy(zone + sizeof one, &none, sizeof none);
    } else if (is_base_array(slot)) {
        if (is_base) bits = slot == DATATYPE_ARRAY ? (intptr_t)MPI_INT : slot == REQUEST_ARRAY ? (intptr_t)MPI_REQUEST_NULL : slot == INFO_ARRAY ? (intptr_t)MPI_INFO_NULL : 0;
        for (int i = 0; i < 64; i++) {
            if (slot == INT_ARRAY || slot == RANGES) ((int *)zone)[i] = (int)bits;
            else ((intptr_t *)zone)[i] = bits;
        }
    }
    return (intptr_t)zone;
}

static void describe(const struct function *f, const struct value *chosen) {
    int at = snprintf(shared->call, sizeof shared->call, "%s(", f->name);
    const char *comma = "";
    for (int p = 0; p < f->parameter_count && at < (int)sizeof shared->call - 64; p++) {
        if (strcmp(chosen[p].name, "right") == 0) continue;
        at += snprintf(shared->call + at, sizeof shared->call - (size_t)at, "%s%s: %s", comma, f->parameters[p].name, chosen[p].name);
        comma = ", ";
    }
    snprintf(shared->call + at, sizeof shared->call - (size_t)at, ")");
}

static void failed(const char *what) {
    printf("FAIL %s: %s\n", shared->call, what);
    fflush(stdout);
    failures++;
}

static long most_resident(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// After a call everything goes on.
static void goes_on(void) {
    shared->after = true;
    int flag = 0, in = 0, out = 7;
    MPI_Request request;
    MPI_Comm_set_name(checks, "checks");
    if (MPI_Iprobe(0, 12345, checks, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag) failed("a probe afterwards fails");
    MPI_Irecv(&in, 1, MPI_INT, 0, 12345, checks, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 12345, checks);
    if (MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS || in != 7) failed("a message afterwards does not arrive");
    shared->after = false;
}

static void make(const struct function *f, const struct value *chosen, const int *index, int alone) {
    intptr_t arguments[MOST_PARAMETERS] = {0}, own_win = 0;
    bool huge = false;
    for (int p = 0; p < f->parameter_count; p++) {
        huge |= chosen[p].huge && f->parameters[p].slot != DISPL_WIDE;
        huge |= index[p] != 0 && is_base_array(f->parameters[p].slot) && chosen[p].is_content;
    }
    bool announces_many = false;
    for (int p = 0; p < f->parameter_count; p++) {
        const char *name = f->parameters[p].name;
        announces_many |= index[p] != 0 && (strcmp(name, "degrees") == 0 || strcmp(name, "indx") == 0);
    }
    for (int p = 0; p < f->parameter_count; p++) {
        enum slot slot = f->parameters[p].slot;
        arguments[p] = chosen[p].is_content ? stored(&chosen[p], slot, p, index[p] == 0) : chosen[p].bits;
        bool counts_here = huge && index[p] == 0;
        // Of many elements none has data, and arrays of many elements are not there.
        if (counts_here && slot == DATATYPE) arguments[p] = (intptr_t)no_data;
        if (counts_here && slot == DATATYPE_ARRAY) arguments[p] = stored(&(struct value){.bits = (intptr_t)no_data}, slot, p, false);
        bool many = false;
        for (int q = 0; q < f->parameter_count; q++) many |= chosen[q].huge && f->parameters[q].slot <= COUNT_WIDE && f->parameters[q].slot >= COUNT;
        if (many && index[p] == 0 && is_base_array(slot)) arguments[p] = 0;
        if (announces_many && (strcmp(f->parameters[p].name, "edges") == 0 || strcmp(f->parameters[p].name, "destinations") == 0)) arguments[p] = 0;
        if (slot == WIN && index[p] == 0) arguments[p] = own_win = fresh(WIN);
    }
    calls++;
    long before = most_resident();
    alarm(HANG_SECONDS);
    intptr_t code = f->call(arguments);
    if (most_resident() - before > GROWTH_KIB) failed("memory grows by more than 64 MiB");
    if (!(f->flags & RETURNS_VALUE) && alone >= 0 && chosen[alone].wrong && !(f->flags & NOT_BUILT)) {
        int class = (int)code;
        bool is_tool = strncmp(f->name, "MPI_T_", 6) == 0;
        if (!is_tool && code != MPI_SUCCESS) MPI_Error_class((int)code, &class);
        const struct value *value = &chosen[alone];
        char what[200];
        snprintf(what, sizeof what, "class %d, wanted %d or %d", class, value->class, value->or);
        if (code == MPI_SUCCESS) failed("it succeeds");
        else if (!is_tool && value->class && class != value->class && class != value->or) failed(what);
    }
    goes_on();
    if (own_win) { MPI_Win w = (MPI_Win)own_win; MPI_Win_free(&w); }
    alarm(0);
}

// All calls from `first` on; each has a number.
static void all_calls(unsigned seed, long pairs, const char *only, long first) {
    long number = 0;
    for (int i = 0; i < function_count; i++) {
        const struct function *f = &functions[i];
        if (strncmp(f->name + (strncmp(f->name, "MPI_", 4) == 0 ? 4 : 0), only, strlen(only)) != 0) continue;
        struct value values[MOST_PARAMETERS][MOST_VALUES], chosen[MOST_PARAMETERS];
        int counts[MOST_PARAMETERS], index[MOST_PARAMETERS] = {0};
        for (int p = 0; p < f->parameter_count; p++) counts[p] = values_of(f, &f->parameters[p], values[p]), chosen[p] = values[p][0];
        unsigned state = seed + (unsigned)i * 2654435761u;
        long all_pairs = 0;
        for (int p = 0; p < f->parameter_count; p++)
            for (int q = p + 1; q < f->parameter_count; q++) all_pairs += (long)(counts[p] - 1) * (counts[q] - 1);
        long stride = pairs < 0 ? 1 : pairs == 0 ? LONG_MAX : all_pairs / pairs + 1, pair = rand_r(&state) % (stride < INT_MAX ? stride : INT_MAX);
        for (int p = 0; p < f->parameter_count; p++) {
            for (int v = 1; v < counts[p]; v++) {
                chosen[p] = values[p][v], index[p] = v;
                if (number++ >= first && !is_left_out(f, chosen)) {
                    shared->number = number - 1;
                    describe(f, chosen);
                    make(f, chosen, index, p);
                }
                for (int q = p + 1; q < f->parameter_count; q++) {
                    for (int w = 1; w < counts[q]; w++) {
                        if (stride == LONG_MAX || pair++ % stride != 0) continue;
                        chosen[q] = values[q][w], index[q] = w;
                        if (number++ >= first && !is_left_out(f, chosen)) {
                            shared->number = number - 1;
                            describe(f, chosen);
                            make(f, chosen, index, -1);
                        }
                    }
                    chosen[q] = values[q][0], index[q] = 0;
                }
            }
            chosen[p] = values[p][0], index[p] = 0;
        }
    }
    shared->number = -1;
}

int main(int argc, char **argv) {
    unsigned seed = (unsigned)strtoul(argv[1], NULL, 10);
    long pairs = strtol(argv[2], NULL, 10), passed = 0, lost = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    zones = mmap(NULL, (size_t)MOST_PARAMETERS * ZONE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)argc;
    for (const char *level = argv[3]; *level; level++) {
        long first = 0;
        while (first >= 0) {
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
                int provided;
                MPI_Init_thread(NULL, NULL, levels[*level - '0'], &provided);
                make_objects();
                all_calls(seed, pairs, argv[4], first);
                printf("level %c: %ld calls\n", *level, calls);
                fflush(stdout);
                _exit(failures > 200 ? 200 : (int)failures);
            }
            int status;
            waitpid(child, &status, 0);
            if (WIFEXITED(status) && shared->number == -1) {
                lost += WEXITSTATUS(status), passed++;
                break;
            }
            bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
            printf("FAIL level %c: %s: %s%s %d\n", *level, shared->call, shared->after ? "afterwards: " : "",
                   hangs ? "hangs, signal" : WIFSIGNALED(status) ? "ends by signal" : "exits with", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            lost++;
            first = shared->number + 1;
        }
    }
    printf("%ld passed, %ld failed\n", passed, lost);
    return lost != 0;
}
