/* A text file read line by line, with complaints that name file and line. */
#ifndef GRAPH500_LINES_H
#define GRAPH500_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lines {
    const char *path;
    FILE *file;
    char *text; /* the current line, without its end */
    size_t capacity;
    uint64_t number; /* of the current line, from 1 */
    uint64_t bytes_read;
    uint64_t bytes_total; /* 0 if unknown */
};

/* All of these return false on failure, after a message on stderr. */
bool lines_open(struct lines *lines, const char *path);

/* *more becomes false at the end of the file. */
bool lines_next(struct lines *lines, bool *more);

/* Says what is wrong with the current line; returns false for the caller to return. */
bool lines_wrong(const struct lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void lines_close(struct lines *lines);

/* Reads a vertex number or a count at *cursor and moves behind it. */
bool lines_number(const struct lines *lines, const char **cursor, const char *what,
                  uint64_t *value);

/* Skips one decimal number, as a weight; false (without message) if there is none. */
bool lines_skip_real(const char **cursor);

/* Skips blanks; true if the line ends there. */
bool lines_at_end(const char **cursor);

#endif
