#include "options.h"

#include "exchange.h"
#include "team.h"
#include "validate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE_MAX = 40, EDGEFACTOR_MAX = 1024, ROOTS_MAX = 65536 };

void options_help(FILE *to)
{
    fprintf(to,
            "usage: mpiexec -n RANKS graph500 [options]\n"
            "\n"
            "Breadth-first search after the Graph500 specification, by T threads in each process.\n"
            "\n"
            "  --scale N             generate a Kronecker graph of 2^N vertices (default 14)\n"
            "  --edgefactor N        edges a vertex of the generated graph (default 16)\n"
            "  --input FILE          read an edge list or a Matrix Market file instead\n"
            "  --roots N             searches, each from another root (default 64)\n"
            "  --threads T           threads per process, 1 to %d (default 2)\n"
            "  --seed S              of the graph and of the roots (default 1)\n"
            "  --buffer BYTES        size of a full message, %d to %d (default 4096)\n"
            "  --comms per-thread    a communicator per thread (default)\n"
            "  --comms shared        one communicator, a tag per thread\n"
            "  --json FILE           write all figures to FILE (\"-\" for the standard output)\n"
            "  --no-validate         do not check the search trees\n"
            "  --no-progress         say nothing until the end\n"
            "  --help                this text\n",
            TEAM_THREADS_MAX, EXCHANGE_BUFFER_BYTES_MIN, EXCHANGE_BUFFER_BYTES_MAX);
}

struct parser {
    FILE *errors;
    const char *name; /* the option being read */
    const char *value;
};

static bool wrong(const struct parser *p, const char *message)
{
    if (p->errors != NULL)
        fprintf(p->errors, "graph500: %s: %s (--help lists the options)\n", p->name, message);
    return false;
}

static bool number(const struct parser *p, uint64_t low, uint64_t high, uint64_t *result)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(p->value, &end, 10);
    if (isdigit((unsigned char)p->value[0]) && *end == '\0' && errno == 0 && value >= low &&
        value <= high) {
        *result = value;
        return true;
    }
    char message[128];
    snprintf(message, sizeof message, "\"%.40s\" is not a whole number from %llu to %llu", p->value,
             (unsigned long long)low, (unsigned long long)high);
    return wrong(p, message);
}

static bool small_number(const struct parser *p, int low, int high, int *result)
{
    uint64_t value;
    if (!number(p, (uint64_t)low, (uint64_t)high, &value))
        return false;
    *result = (int)value;
    return true;
}

static bool comms(const struct parser *p, bool *per_thread)
{
    *per_thread = strcmp(p->value, "per-thread") == 0;
    return *per_thread || strcmp(p->value, "shared") == 0 ||
           wrong(p, "choose per-thread or shared");
}

/* Reads an option with a value; *known becomes false if the option does not exist. */
static bool take_value(struct options *o, const struct parser *p, bool *known)
{
    uint64_t bytes;
    *known = true;
    if (strcmp(p->name, "--scale") == 0)
        return small_number(p, 1, SCALE_MAX, &o->scale);
    if (strcmp(p->name, "--edgefactor") == 0)
        return small_number(p, 1, EDGEFACTOR_MAX, &o->edgefactor);
    if (strcmp(p->name, "--roots") == 0)
        return small_number(p, 1, ROOTS_MAX, &o->roots);
    if (strcmp(p->name, "--threads") == 0)
        return small_number(p, 1, TEAM_THREADS_MAX, &o->threads);
    if (strcmp(p->name, "--seed") == 0)
        return number(p, 0, UINT64_MAX, &o->seed);
    if (strcmp(p->name, "--comms") == 0)
        return comms(p, &o->comm_per_thread);
    if (strcmp(p->name, "--buffer") == 0) {
        if (!number(p, EXCHANGE_BUFFER_BYTES_MIN, EXCHANGE_BUFFER_BYTES_MAX, &bytes))
            return false;
        o->buffer_bytes = (size_t)bytes;
        return true;
    }
    if (strcmp(p->name, "--input") == 0) {
        o->input = p->value;
        return true;
    }
    if (strcmp(p->name, "--json") == 0) {
        o->json = p->value;
        return true;
    }
    if (strcmp(p->name, "--corrupt") == 0) { /* for the tests, so not in the help */
        o->corrupt = p->value;
        return corruption_known(p->value) || wrong(p, "choose one of " CORRUPTIONS);
    }
    *known = false;
    return false;
}

static bool take_flag(struct options *o, const char *name)
{
    if (strcmp(name, "--no-validate") == 0)
        o->validate = false;
    else if (strcmp(name, "--no-progress") == 0)
        o->progress = false;
    else if (strcmp(name, "--help") == 0)
        o->help = true;
    else
        return false;
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, FILE *errors)
{
    *options = (struct options){
        .scale = 0,
        .edgefactor = 16,
        .roots = 64,
        .threads = 2,
        .seed = 1,
        .buffer_bytes = 4096,
        .comm_per_thread = true,
        .validate = true,
        .progress = true,
    };
    for (int i = 1; i < argc; i++) {
        if (take_flag(options, argv[i]))
            continue;
        struct parser p = {errors, argv[i], i + 1 < argc ? argv[i + 1] : ""};
        bool known;
        bool good = take_value(options, &p, &known);
        if (!known)
            return wrong(&p, "unknown option");
        if (i + 1 == argc)
            return good ? wrong(&p, "a value is missing") : false;
        if (!good)
            return false;
        i++;
    }
    struct parser whole = {errors, "--input", ""};
    if (options->input != NULL && options->scale != 0)
        return wrong(&whole, "the graph comes from a file or from --scale, not from both");
    if (options->scale == 0)
        options->scale = 14;
    if (options->corrupt != NULL && !options->validate)
        return wrong(&whole, "--corrupt without validation makes no sense");
    return true;
}
