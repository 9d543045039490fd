#include "fatal.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void fatal(const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "graph500: rank %d: %s\n", rank, message);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static _Noreturn void out_of_memory(const char *what, size_t count, size_t bytes_each)
{
    fatal("no memory for %s (%zu x %zu bytes); use a smaller graph or more processes",
          what, count, bytes_each);
}

void *allocate(const char *what, size_t count, size_t bytes_each)
{
    void *memory = calloc(count > 0 ? count : 1, bytes_each);
    if (memory == NULL)
        out_of_memory(what, count, bytes_each);
    return memory;
}

void *allocate_aligned(const char *what, size_t count, size_t bytes_each)
{
    size_t items = count > 0 ? count : 1;
    void *memory = items <= SIZE_MAX / bytes_each ? aligned_alloc(64, items * bytes_each) : NULL;
    if (memory == NULL)
        out_of_memory(what, count, bytes_each);
    return memset(memory, 0, items * bytes_each);
}

void *grow(const char *what, void *old, size_t count, size_t bytes_each)
{
    if (count > SIZE_MAX / bytes_each)
        out_of_memory(what, count, bytes_each);
    void *memory = realloc(old, count * bytes_each);
    if (memory == NULL)
        out_of_memory(what, count, bytes_each);
    return memory;
}
