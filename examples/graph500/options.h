/* The command line. */
#ifndef GRAPH500_OPTIONS_H
#define GRAPH500_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct options {
    int scale;
    int edgefactor;
    const char *input; /* NULL: generate */
    int roots;
    int threads;
    uint64_t seed;
    size_t buffer_bytes;
    bool comm_per_thread;
    bool validate;
    bool progress;
    const char *json;    /* NULL: none, "-": stdout */
    const char *corrupt; /* NULL: nothing (validate.h) */
    bool help;
};

/* False if something is wrong, after a message on `errors` if that is not NULL. */
bool options_parse(struct options *options, int argc, char **argv, FILE *errors);

void options_help(FILE *to);

#endif
