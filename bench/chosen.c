/* The choices of the command line, and the words for them. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int value;
} LEVELS[] = {{"single", MPI_THREAD_SINGLE},
              {"funneled", MPI_THREAD_FUNNELED},
              {"serialized", MPI_THREAD_SERIALIZED},
              {"multiple", MPI_THREAD_MULTIPLE}};

const char *level_name(int level) {
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++)
        if (LEVELS[i].value == level) return LEVELS[i].name;
    return "unknown";
}

int level_of(const char *name) {
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++)
        if (strcmp(name, LEVELS[i].name) == 0) return LEVELS[i].value;
    return -1;
}

static const char *const comms_names[] = {"shared", "per-thread", "hinted"};

const char *comms_name(enum comms comms) { return comms_names[comms]; }

bool op_is(const struct bench *b, const char *name) { return strcmp(b->opt.op, name) == 0; }

MPI_Info hints_of(const struct options *opt) {
    MPI_Info info = MPI_INFO_NULL;
    if (opt->hint_count > 0) MPI_Info_create(&info);
    for (int i = 0; i < opt->hint_count; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        const char *equals = strchr(opt->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - opt->hints[i]), opt->hints[i]);
        MPI_Info_set(info, key, equals + 1);
    }
    return info;
}
