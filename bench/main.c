/* mtbench: benchmarks of MPI from many threads. See README.md in this folder. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct subject *const subjects[] = {&subject_latency,  &subject_rate,    &subject_bandwidth, &subject_pairs,
                                          &subject_self,     &subject_clients, &subject_procnull,
                                          &subject_startup,  &subject_idle,    NULL};

static const struct subject *find(const char *name) {
    for (const struct subject *const *s = subjects; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    usage("unknown subject");
}

static void library_version(struct bench *b) {
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    /* The first line, runs of blanks as one. */
    size_t kept = 0;
    for (const char *c = version; *c && *c != '\n' && kept + 1 < sizeof b->library; c++) {
        bool blank = *c == ' ' || *c == '\t';
        if (blank && kept > 0 && b->library[kept - 1] == ' ') continue;
        b->library[kept++] = blank ? ' ' : *c;
    }
    b->library[kept] = '\0';
}

static _Noreturn void refuse(const struct bench *b, const char *why) {
    if (b->rank == 0) fprintf(stderr, "mtbench %s: %s\n", b->subject->name, why);
    MPI_Finalize();
    exit(2);
}

static void check(const struct bench *b) {
    char why[160];
    const struct subject *s = b->subject;
    if (s->ranks > 0 && b->ranks != s->ranks) {
        snprintf(why, sizeof why, "needs %d process(es), was started with %d", s->ranks, b->ranks);
        refuse(b, why);
    }
    if (s->ranks == -2 && b->ranks % 2 != 0) refuse(b, "needs an even number of processes");
    if (b->opt.threads > 1 && b->provided < MPI_THREAD_MULTIPLE) {
        snprintf(why, sizeof why, "%d threads need MPI_THREAD_MULTIPLE, the library gives \"%s\"", b->opt.threads,
                 level_name(b->provided));
        refuse(b, why);
    }
}

int main(int argc, char **argv) {
    static struct bench b;
    if (argc > 1 && strcmp(argv[1], "probe") == 0) return probe_alone();
    options_parse(&b.opt, argc, argv);
    b.subject = find(b.opt.subject);
    if (b.opt.window == 0) b.opt.window = b.subject->default_window;

    MPI_Init_thread(&argc, &argv, b.opt.level, &b.provided);
    int64_t initialised_ns = now_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    library_version(&b);
    check(&b);

    if (b.subject->whole) {
        b.open_ns = initialised_ns;
        b.subject->whole(&b);
        MPI_Finalize();
        return 0;
    }

    allowed_cpus();
    if (b.opt.pin) pin_to(allowed_cpu(b.rank));
    b.comms = calloc((size_t)b.opt.threads, sizeof *b.comms);
    if (!b.comms) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < b.opt.threads; t++)
        if (b.opt.comm_a_thread) MPI_Comm_dup(MPI_COMM_WORLD, &b.comms[t]);
        else b.comms[t] = MPI_COMM_WORLD;

    for (int s = 0; s < b.opt.size_count; s++) {
        b.size = b.opt.sizes[s];
        measure(&b);
    }

    if (b.opt.comm_a_thread)
        for (int t = 0; t < b.opt.threads; t++) MPI_Comm_free(&b.comms[t]);
    free(b.comms);
    MPI_Finalize();
    return 0;
}
