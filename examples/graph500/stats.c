/* Quantiles are interpolated between the two nearest values, like the specification's sample
 * code does (method 7 of R. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The
 * American Statistician 50 (1996), doi:10.2307/2684934).
 *
 * The deviation of the harmonic mean is after N. Norris, "The Standard Errors of the Geometric
 * and Harmonic Means and Their Application to Index Numbers", Annals of Mathematical Statistics
 * 11 (1940), doi:10.1214/aoms/1177731830, as the specification prescribes. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    double part = place - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

struct stats stats_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    struct stats s = {
        .min = values[0],
        .first_quartile = quantile(values, count, 0.25),
        .median = quantile(values, count, 0.5),
        .third_quartile = quantile(values, count, 0.75),
        .max = values[count - 1],
    };
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    s.mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.stddev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    return s;
}

struct stats stats_of_rates(double *values, size_t count)
{
    struct stats s = stats_of(values, count);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += 1 / values[i];
    s.mean = (double)count / sum;
    for (size_t i = 0; i < count; i++) {
        double apart = 1 / values[i] - 1 / s.mean;
        squares += apart * apart;
    }
    s.stddev = count > 1 ? sqrt(squares) / (double)(count - 1) * s.mean * s.mean : 0;
    return s;
}
