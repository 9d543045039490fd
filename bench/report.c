/* One line of JSON a result, on standard output of rank 0. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which `part` of the values lie, between two of them by interpolation; NAN of none. */
double quantile(const double *values, int count, double part) {
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted) return NAN;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    double place = part * (count - 1);
    int below = (int)place, above = below + 1 < count ? below + 1 : below;
    double value = sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    free(sorted);
    return value;
}

double median(const double *values, int count) { return quantile(values, count, 0.5); }

double largest(const double *values, int count) { return quantile(values, count, 1); }

static void put_number(const char *key, double value) {
    if (isfinite(value)) printf("\"%s\":%.6g", key, value);
    else printf("\"%s\":null", key);
}

static void put_text(const char *key, const char *text) {
    printf("\"%s\":\"", key);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20) printf(" ");
        else putchar(c);
    }
    printf("\"");
}

static void put_head(const struct bench *b, const char *name) {
    printf("{");
    put_text("bench", name);
    printf(",");
    put_text("version", b->library);
    printf(",\"level\":\"%s\",\"provided\":\"%s\",\"ranks\":%d,\"pinned\":%s", level_name(b->opt.level),
           level_name(b->provided), b->ranks, b->opt.pin ? "true" : "false");
}

void add_figure(struct bench *b, const char *name, double value) {
    if (b->more_count == MAX_MORE) {
        fprintf(stderr, "mtbench: no room for the figure %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    b->more[b->more_count].name = name;
    b->more[b->more_count++].value = value;
}

void report_measurement(const struct bench *b) {
    if (b->rank != 0) return;
    int reps = b->opt.reps;
    put_head(b, b->subject->name);
    const char *beside = b->opt.beside_processes ? "processes" : b->opt.beside_threads ? "threads" : "nothing";
    printf(",\"size\":%zu,\"threads\":%d,\"comms\":\"%s\",\"beside\":\"%s\",\"window\":%d,\"op\":\"%s\",\"seconds\":%g,",
           b->size, b->opt.threads, comms_name(b->opt.comms), beside, b->opt.window, b->opt.op, b->opt.seconds);
    put_number("value", median(b->values, reps));
    printf(",");
    put_number("calm", median(b->calm, reps));
    printf(",\"unit\":\"%s\",\"reps\":[", b->subject->unit);
    for (int r = 0; r < reps; r++)
        if (isfinite(b->values[r])) printf("%s%.6g", r ? "," : "", b->values[r]);
        else printf("%snull", r ? "," : "");
    printf("],\"share\":{");
    put_number("min", median(b->share_min, reps));
    printf(",\"mean\":1,");
    put_number("max", median(b->share_max, reps));
    printf("},\"more\":{");
    put_number("jain", median(b->jain, reps));
    printf(",");
    put_number("longest_us", largest(b->longest_us, reps));
    for (int i = 0; i < b->more_count; i++) {
        printf(",");
        put_number(b->more[i].name, b->more[i].value);
    }
    printf("},\"wrong_bytes\":%lld,\"probe_ns\":[", (long long)b->wrong_bytes);
    if (isfinite(b->probe_before_ns) && isfinite(b->probe_after_ns))
        printf("%.1f,%.1f", b->probe_before_ns, b->probe_after_ns);
    printf("]}\n");
    fflush(stdout);
}

void report_single(const struct bench *b, const char *name, const char *what, double value, const char *unit) {
    if (b->rank != 0) return;
    put_head(b, name);
    printf(",\"size\":0,\"threads\":1,\"comms\":\"shared\",\"window\":0,\"op\":\"%s\",", what);
    put_number("value", value);
    printf(",\"unit\":\"%s\",\"reps\":[", unit);
    if (isfinite(value)) printf("%.6g", value);
    printf("],\"wrong_bytes\":0,\"probe_ns\":[]}\n");
    fflush(stdout);
}
