/* The figures the specification asks for (section "Computing and Outputting Performance
 * Information"). */
#ifndef GRAPH500_STATS_H
#define GRAPH500_STATS_H

#include <stddef.h>

struct stats {
    double min;
    double first_quartile;
    double median;
    double third_quartile;
    double max;
    double mean;
    double stddev; /* 0 for fewer than two values */
};

/* Arithmetic mean and sample standard deviation; sorts `values`. `count` is at least 1. */
struct stats stats_of(double *values, size_t count);

/* For rates: replaces mean and stddev by the harmonic ones. All values are above 0. */
struct stats stats_of_rates(double *values, size_t count);

#endif
