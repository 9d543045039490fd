/* The command line. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void usage(const char *complaint) {
    if (complaint) fprintf(stderr, "mtbench: %s\n\n", complaint);
    fprintf(stderr, "usage: mpiexec -n N mtbench SUBJECT [options]\n\nsubjects:\n");
    for (const struct subject *const *s = subjects; *s; s++) {
        fprintf(stderr, "  %-10s %s\n", (*s)->name, (*s)->summary);
        if (!(*s)->ops) continue;
        fprintf(stderr, "  %-10s   --op", "");
        for (const char *const *op = (*s)->ops; *op; op++) fprintf(stderr, "%s%s", op == (*s)->ops ? " " : "|", *op);
        fprintf(stderr, "\n");
    }
    fprintf(stderr,
            "  %-10s %s\n\noptions:\n"
            "  --sizes A,B,..      message sizes in bytes, suffix K or M (8)\n"
            "  --threads T         threads in each process (1)\n"
            "  --comms shared|per-thread|hinted   one communicator and tags per thread, a communicator per thread,\n"
            "                      or one, with tags per thread and the promise that no receive is a wildcard (shared)\n"
            "  --level single|funneled|serialized|multiple   thread level to ask for (single for one thread)\n"
            "  --window W          messages in flight before they are waited for\n"
            "  --op NAME           which form of the subject, as listed above (the first)\n"
            "  --hint KEY=VALUE    an info hint of the subject's window; may be repeated\n"
            "  --reps R            repetitions (3)\n"
            "  --seconds S         length of a repetition (0.4)\n"
            "  --warm S            warm-up before each repetition (0.1)\n"
            "  --pvars A,B,..      performance variables of the library: what each grows for a unit of work\n"
            "  --misses            cache misses for a unit of rank 0's work, where the processor counts them\n"
            "  --target sleeps|waits   outside of MPI or in MPI_Recv: the target of one-sided operations (sleeps)\n"
            "  --onlookers N       the last N ranks take no part: they wait in MPI_Recv (0)\n"
            "  --beside-processes N   processes that compute beside each process (0)\n"
            "  --beside-threads N  threads that compute in each process (0)\n"
            "  --pin               every rank on a core of its own\n"
            "  --no-probe          the machine's own speed is not measured: it is simulated\n"
            "  --launched NS       CLOCK_MONOTONIC when mpiexec was started (start-up)\n",
            "probe", "cache-line round trip between two cores, without MPI");
    exit(2);
}

static enum comms parse_comms(const char *value) {
    for (enum comms comms = COMMS_SHARED; comms <= COMMS_HINTED; comms++)
        if (strcmp(value, comms_name(comms)) == 0) return comms;
    usage("--comms is shared, per-thread or hinted");
}

static size_t parse_size(const char *text, const char **end) {
    char *after;
    unsigned long long n = strtoull(text, &after, 10);
    if (after == text) usage("--sizes wants numbers");
    if (*after == 'K' || *after == 'k') n <<= 10, after++;
    else if (*after == 'M' || *after == 'm') n <<= 20, after++;
    *end = after;
    return (size_t)n;
}

static void parse_sizes(struct options *opt, const char *text) {
    opt->size_count = 0;
    for (;;) {
        if (opt->size_count == MAX_SIZES) usage("too many --sizes");
        opt->sizes[opt->size_count++] = parse_size(text, &text);
        if (*text == '\0') return;
        if (*text++ != ',') usage("--sizes wants numbers separated by commas");
    }
}

static void parse_pvars(struct options *opt, char *text) {
    for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
        if (opt->pvar_count == MAX_PVARS) usage("too many --pvars");
        opt->pvars[opt->pvar_count++] = name;
    }
}

static void parse_hint(struct options *opt, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals - text > MPI_MAX_INFO_KEY) usage("--hint wants KEY=VALUE");
    if (opt->hint_count == MAX_HINTS) usage("too many --hint");
    opt->hints[opt->hint_count++] = text;
}

static int parse_int(const char *name, const char *text, int low, int high) {
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < low || n > high) {
        char complaint[160];
        snprintf(complaint, sizeof complaint, "%s wants a number from %d to %d, not \"%s\"", name, low, high, text);
        usage(complaint);
    }
    return (int)n;
}

static double parse_seconds(const char *name, const char *text) {
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end != '\0' || !(s >= 0.0001 && s <= 60)) {
        char complaint[160];
        snprintf(complaint, sizeof complaint, "%s wants seconds from 0.0001 to 60, not \"%s\"", name, text);
        usage(complaint);
    }
    return s;
}

void options_parse(struct options *opt, int argc, char **argv) {
    *opt = (struct options){.sizes = {8}, .size_count = 1, .threads = 1, .reps = 3, .seconds = 0.4, .warm = 0.1,
                            .level = -1};
    if (argc < 2) usage("no subject given");
    opt->subject = argv[1];
    for (int i = 2; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--pin") == 0) {
            opt->pin = true;
            continue;
        }
        if (strcmp(name, "--no-probe") == 0) {
            opt->no_probe = true;
            continue;
        }
        if (strcmp(name, "--misses") == 0) {
            opt->misses = true;
            continue;
        }
        if (strcmp(name, "--help") == 0 || i + 1 == argc) usage(NULL);
        const char *value = argv[++i];
        if (strcmp(name, "--sizes") == 0) {
            parse_sizes(opt, value);
        } else if (strcmp(name, "--threads") == 0) {
            opt->threads = parse_int(name, value, 1, MAX_THREADS);
        } else if (strcmp(name, "--window") == 0) {
            opt->window = parse_int(name, value, 1, 1 << 16);
        } else if (strcmp(name, "--target") == 0) {
            opt->target_waits = strcmp(value, "waits") == 0;
            if (!opt->target_waits && strcmp(value, "sleeps") != 0) usage("--target is sleeps or waits");
        } else if (strcmp(name, "--onlookers") == 0) {
            opt->onlookers = parse_int(name, value, 0, 1 << 16);
        } else if (strcmp(name, "--beside-processes") == 0) {
            opt->beside_processes = parse_int(name, value, 0, MAX_THREADS);
        } else if (strcmp(name, "--beside-threads") == 0) {
            opt->beside_threads = parse_int(name, value, 0, MAX_THREADS);
        } else if (strcmp(name, "--reps") == 0) {
            opt->reps = parse_int(name, value, 1, MAX_REPS);
        } else if (strcmp(name, "--seconds") == 0) {
            opt->seconds = parse_seconds(name, value);
        } else if (strcmp(name, "--warm") == 0) {
            opt->warm = parse_seconds(name, value);
        } else if (strcmp(name, "--launched") == 0) {
            opt->launched_ns = (int64_t)strtoll(value, NULL, 10);
        } else if (strcmp(name, "--pvars") == 0) {
            parse_pvars(opt, argv[i]);
        } else if (strcmp(name, "--hint") == 0) {
            parse_hint(opt, value);
        } else if (strcmp(name, "--op") == 0) {
            opt->op = value;
        } else if (strcmp(name, "--comms") == 0) {
            opt->comms = parse_comms(value);
        } else if (strcmp(name, "--level") == 0) {
            opt->level = level_of(value);
            if (opt->level == -1) usage("--level is single, funneled, serialized or multiple");
        } else {
            usage("unknown option");
        }
    }
    if (opt->level == -1) opt->level = opt->threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}
