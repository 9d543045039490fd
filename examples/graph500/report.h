/* The report at the end: a summary to read, and JSON. */
#ifndef GRAPH500_REPORT_H
#define GRAPH500_REPORT_H

#include "bfs.h"
#include "options.h"

#include <stdio.h>

enum { REPORT_TEXT_BYTES = 256 };

struct machine {
    char processor[REPORT_TEXT_BYTES];
    char library[REPORT_TEXT_BYTES]; /* first line of MPI_Get_library_version */
    char model[REPORT_TEXT_BYTES];   /* Heddle's thread-safety model; empty on other libraries */
    long cores;                      /* of rank 0's host */
    int hosts;
    int ranks;
};

/* Sums over all searches, threads and processes. */
struct traffic {
    uint64_t messages;
    uint64_t bytes;
    uint64_t tests;
    uint64_t hits;
    double mpi_mean_s; /* time inside MPI calls during the searches, a thread */
    double mpi_max_s;  /* of the thread with the most */
};

struct report {
    const struct options *options;
    struct machine machine;
    uint64_t vertices;
    uint64_t edges;
    uint64_t label_shift;
    double generation_s;
    double construction_s;
    int searches;
    int validated; /* trees found right */
    const uint64_t *roots;
    const struct bfs_result *results; /* one a search */
    struct traffic traffic;
    double validation_s;
    double wall_s;
};

/* Collective; the result is whole on rank 0. */
struct machine describe_machine(void);

void report_print(const struct report *report, FILE *to);
void report_json(const struct report *report, FILE *to);

#endif
