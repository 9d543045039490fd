// What the table of functions that special_values.py writes, and the program that makes the calls, both know.
#ifndef SPECIAL_VALUES_H
#define SPECIAL_VALUES_H

#include <mpi.h>
#include <stdint.h>

// The sets of values that an argument takes. _INOUT: a pointer to a variable with the value.
enum slot {
    COMM, GROUP, DATATYPE, REQUEST, OP, INFO, ERRHANDLER, WIN, FILE_, SESSION, MESSAGE,
    COMM_INOUT, GROUP_INOUT, DATATYPE_INOUT, REQUEST_INOUT, OP_INOUT, INFO_INOUT, ERRHANDLER_INOUT, WIN_INOUT, FILE_INOUT,
    SESSION_INOUT, MESSAGE_INOUT,
    DATATYPE_ARRAY, REQUEST_ARRAY, INFO_ARRAY, INT_ARRAY, WIDE_ARRAY, RANGES, STRINGS,
    RANK, ROOT, TAG, COUNT, COUNT_WIDE, DISPL, DISPL_WIDE, INT, LOGICAL, INT_INOUT, WIDE_INOUT,
    TEXT, FUNCTION, POINTER, BUFFER, BUFFER_OUT, OUT, OUT_ARRAY, STATUS, STATUS_INOUT, TOOL, TOOL_INOUT,
};

struct parameter {
    const char *name;
    enum slot slot;
};

enum flags {
    BASE_PLAIN = 0, BASE_CART = 1, BASE_GRAPH = 2, BASE_DIST_GRAPH = 3, BASE_MASK = 3,
    WAITING = 4, ALLOCATING = 8, NOT_BUILT = 16, RETURNS_VALUE = 32,
};

struct function {
    const char *name;
    intptr_t (*call)(const intptr_t *arguments);
    const struct parameter *parameters;
    int parameter_count;
    int flags;
};

extern const struct function functions[];
extern const int function_count;

#endif
