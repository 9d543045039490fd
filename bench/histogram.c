/* Times in classes whose width grows with them, so that quantiles of millions of them cost a few kilobytes. */
#include "harness.h"

#include <math.h>

/* Below CLASSES_AN_OCTAVE a class a nanosecond; from there each octave has that many. */
static int class_of(int64_t ns) {
    if (ns < CLASSES_AN_OCTAVE) return ns < 0 ? 0 : (int)ns;
    int octave = 0;
    while (ns >> (octave + 1) >= CLASSES_AN_OCTAVE) octave++;
    int class = CLASSES_AN_OCTAVE * octave + (int)(ns >> octave);
    return class < TIME_CLASSES ? class : TIME_CLASSES - 1;
}

static double upper_end(int class) {
    if (class < CLASSES_AN_OCTAVE) return class;
    int octave = class / CLASSES_AN_OCTAVE - 1;
    return ldexp(class - CLASSES_AN_OCTAVE * octave + 1, octave);
}

void histogram_add(struct histogram *h, int64_t ns) {
    h->counts[class_of(ns)]++;
    if (ns > h->longest_ns) h->longest_ns = ns;
}

void histogram_merge(struct histogram *into, const struct histogram *from) {
    for (int c = 0; c < TIME_CLASSES; c++) into->counts[c] += from->counts[c];
    if (from->longest_ns > into->longest_ns) into->longest_ns = from->longest_ns;
}

double histogram_quantile(const struct histogram *h, double part) {
    uint64_t total = 0, below = 0;
    for (int c = 0; c < TIME_CLASSES; c++) total += h->counts[c];
    for (int c = 0; c < TIME_CLASSES; c++) {
        below += h->counts[c];
        if (h->counts[c] > 0 && (double)below >= part * (double)total)
            return fmin(upper_end(c), (double)h->longest_ns);
    }
    return NAN;
}
