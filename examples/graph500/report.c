#include "report.h"

#include "fatal.h"
#include "stats.h"

#include <stdlib.h>

struct figures {
    struct stats time;
    struct stats edges;
    struct stats teps;
    double search_s; /* all searches together */
};

static struct figures figures_of(const struct report *r)
{
    struct figures f = {.search_s = 0};
    size_t count = (size_t)r->searches;
    double *values = allocate("the statistics", count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = r->results[i].seconds;
        f.search_s += values[i];
    }
    f.time = stats_of(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)r->results[i].edges;
    f.edges = stats_of(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)r->results[i].edges / r->results[i].seconds;
    f.teps = stats_of_rates(values, count);
    free(values);
    return f;
}

static const char *comms_text(const struct options *options)
{
    return options->comm_per_thread ? "per-thread" : "shared";
}

static void print_scaled(FILE *to, double value)
{
    static const char *const units[] = {"", " thousand", " million", " billion"};
    int unit = 0;
    while (value >= 1000 && unit < 3) {
        value /= 1000;
        unit++;
    }
    fprintf(to, "%.*f%s", value < 10 ? 2 : 1, value, units[unit]);
}

static void print_source(const struct report *r, FILE *to)
{
    if (r->options->input != NULL)
        fprintf(to, "file %s", r->options->input);
    else
        fprintf(to, "Kronecker, scale %d, edge factor %d, seed %llu", r->options->scale,
                r->options->edgefactor, (unsigned long long)r->options->seed);
}

void report_print(const struct report *r, FILE *to)
{
    const struct machine *m = &r->machine;
    struct figures f = figures_of(r);
    fprintf(to, "Graph500 breadth-first search\n");
    fprintf(to, "  machine      %s, %ld cores", m->processor, m->cores);
    if (m->hosts > 1)
        fprintf(to, " (%d hosts)", m->hosts);
    fprintf(to, "; %d ranks x %d threads\n", m->ranks, r->options->threads);
    fprintf(to, "  MPI          %s\n", m->library);
    if (m->model[0] != '\0')
        fprintf(to, "  model        %s\n", m->model);
    fprintf(to, "  graph        %llu vertices, %llu edges (", (unsigned long long)r->vertices,
            (unsigned long long)r->edges);
    print_source(r, to);
    fprintf(to, ")\n");
    if (r->options->validate)
        fprintf(to, "  validated    %d/%d searches%s\n", r->validated, r->searches,
                r->validated == r->searches ? "" : "  ** WRONG **");
    else
        fprintf(to, "  validated    no (%d searches)\n", r->searches);
    fprintf(to, "  TEPS         harmonic mean ");
    print_scaled(to, f.teps.mean);
    fprintf(to, ", median ");
    print_scaled(to, f.teps.median);
    fprintf(to, " edges/s\n");
    fprintf(to, "  messages     %llu sent, ", (unsigned long long)r->traffic.messages);
    print_scaled(to, (double)r->traffic.bytes);
    fprintf(to, " bytes (%s communicator%s, buffers of %zu bytes)\n", comms_text(r->options),
            r->options->comm_per_thread ? "s" : "", r->options->buffer_bytes);
    fprintf(to, "  in MPI       %.3f s per thread (%.0f %% of the searches' time), at most %.3f s\n",
            r->traffic.mpi_mean_s, 100 * r->traffic.mpi_mean_s / f.search_s,
            r->traffic.mpi_max_s);
    fprintf(to, "  time         %.2f s: generation %.2f, construction %.2f, searches %.2f",
            r->wall_s, r->generation_s, r->construction_s, f.search_s);
    if (r->options->validate)
        fprintf(to, ", validation %.2f", r->validation_s);
    fprintf(to, "\n");
}

static void json_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void json_text(FILE *to, const char *key, const char *text)
{
    fprintf(to, "  \"%s\": ", key);
    json_string(to, text);
    fputs(",\n", to);
}

static void json_number(FILE *to, const char *key, double value)
{
    fprintf(to, "  \"%s\": %.9g,\n", key, value);
}

static void json_count(FILE *to, const char *key, uint64_t value)
{
    fprintf(to, "  \"%s\": %llu,\n", key, (unsigned long long)value);
}

/* The specification's key names: min_time, firstquartile_time, ... */
static void json_stats(FILE *to, const struct stats *s, const char *what, const char *prefix)
{
    fprintf(to, "  \"min_%s\": %.9g,\n  \"firstquartile_%s\": %.9g,\n", what, s->min, what,
            s->first_quartile);
    fprintf(to, "  \"median_%s\": %.9g,\n  \"thirdquartile_%s\": %.9g,\n", what, s->median, what,
            s->third_quartile);
    fprintf(to, "  \"max_%s\": %.9g,\n  \"%smean_%s\": %.9g,\n  \"%sstddev_%s\": %.9g,\n", what,
            s->max, prefix, what, s->mean, prefix, what, s->stddev);
}

void report_json(const struct report *r, FILE *to)
{
    struct figures f = figures_of(r);
    const struct options *o = r->options;
    fputs("{\n", to);
    json_text(to, "processor", r->machine.processor);
    json_count(to, "cores", (uint64_t)r->machine.cores);
    json_count(to, "hosts", (uint64_t)r->machine.hosts);
    json_count(to, "ranks", (uint64_t)r->machine.ranks);
    json_count(to, "threads", (uint64_t)o->threads);
    json_text(to, "library", r->machine.library);
    if (r->machine.model[0] != '\0')
        json_text(to, "model", r->machine.model);
    json_text(to, "comms", comms_text(o));
    json_count(to, "buffer_bytes", o->buffer_bytes);
    if (o->input != NULL) {
        json_text(to, "input", o->input);
        json_count(to, "label_shift", r->label_shift);
    } else {
        json_count(to, "SCALE", (uint64_t)o->scale);
        json_count(to, "edgefactor", (uint64_t)o->edgefactor);
    }
    json_count(to, "seed", o->seed);
    json_count(to, "vertices", r->vertices);
    json_count(to, "edges", r->edges);
    json_count(to, "NBFS", (uint64_t)r->searches);
    if (o->validate)
        json_count(to, "validated", (uint64_t)r->validated);
    json_number(to, "generation_time", r->generation_s);
    json_number(to, "construction_time", r->construction_s);
    json_stats(to, &f.time, "time", "");
    json_stats(to, &f.edges, "nedge", "");
    json_stats(to, &f.teps, "TEPS", "harmonic_");
    json_count(to, "messages", r->traffic.messages);
    json_count(to, "message_bytes", r->traffic.bytes);
    json_count(to, "mpi_tests", r->traffic.tests);
    json_count(to, "mpi_tests_successful", r->traffic.hits);
    json_number(to, "mpi_time_mean", r->traffic.mpi_mean_s);
    json_number(to, "mpi_time_max", r->traffic.mpi_max_s);
    json_number(to, "mpi_time_share", r->traffic.mpi_mean_s / f.search_s);
    json_number(to, "search_time", f.search_s);
    json_number(to, "validation_time", r->validation_s);
    json_number(to, "wall_time", r->wall_s);
    fputs("  \"searches\": [", to);
    for (int i = 0; i < r->searches; i++)
        fprintf(to,
                "%s\n    {\"root\": %llu, \"seconds\": %.9g, \"levels\": %u, \"reached\": %llu, "
                "\"edges\": %llu}",
                i > 0 ? "," : "", (unsigned long long)r->roots[i], r->results[i].seconds,
                r->results[i].levels, (unsigned long long)r->results[i].reached,
                (unsigned long long)r->results[i].edges);
    fputs("\n  ]\n}\n", to);
}
