/* Fatal errors: one message, then the whole job ends.
 *
 * Wrong input and wrong options are not handled here. They are found before any
 * work starts, told once by rank 0, and every rank returns from main(). */
#ifndef GRAPH500_FATAL_H
#define GRAPH500_FATAL_H

#include <stddef.h>

/* Prints "graph500: rank R: MESSAGE" on stderr and calls MPI_Abort. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* calloc() that ends the job, with the purpose of the memory, if there is not enough.
 * A count of zero still gives a pointer that can be freed. */
void *allocate(const char *what, size_t count, size_t bytes_each);

/* The same on a cache line boundary, for what threads write side by side; `bytes_each` is a
 * multiple of a cache line (64). */
void *allocate_aligned(const char *what, size_t count, size_t bytes_each);

/* realloc() with the same promise. */
void *grow(const char *what, void *old, size_t count, size_t bytes_each);

#endif
