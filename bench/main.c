/* mtbench: benchmarks of MPI from many threads. See README.md in this folder. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct subject *find(const char *name) {
    for (const struct subject *const *s = subjects; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    usage("unknown subject");
}

/* The form asked for, which must be one of the subject's. Subjects of one form are reported as they always were. */
static const char *form(const struct subject *s, const char *asked) {
    static const char *const only[] = {"isend", NULL};
    const char *const *ops = s->ops ? s->ops : only;
    if (!asked) return ops[0];
    for (const char *const *op = ops; *op; op++)
        if (strcmp(*op, asked) == 0) return *op;
    usage("the subject has no such --op");
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

static void end(const struct bench *b) {
    if (b->rank == 0)
        for (int onlooker = 0; onlooker < b->opt.onlookers; onlooker++)
            MPI_Send(NULL, 0, MPI_BYTE, b->ranks + onlooker, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}

static _Noreturn void refuse(const struct bench *b, const char *why) {
    if (b->rank == 0) fprintf(stderr, "mtbench %s: %s\n", b->subject->name, why);
    end(b);
    exit(2);
}

static void check(const struct bench *b) {
    char why[160];
    const struct subject *s = b->subject;
    if (s->ranks > 0 && b->ranks != s->ranks) {
        snprintf(why, sizeof why, "needs %d process(es), was started with %d", s->ranks, b->ranks);
        refuse(b, why);
    }
    if (s->ranks == RANKS_EVEN && b->ranks % 2 != 0) refuse(b, "needs an even number of processes");
    if (s->ranks == RANKS_THREADS_AND_ONE && b->ranks != b->opt.threads + 1) {
        snprintf(why, sizeof why, "with %d threads it needs %d processes, was started with %d", b->opt.threads,
                 b->opt.threads + 1, b->ranks);
        refuse(b, why);
    }
    if (s->ranks == RANKS_SENDERS && b->ranks != b->opt.threads + 1 && (b->opt.threads > 1 || b->ranks % 2 != 0)) {
        snprintf(why, sizeof why, "with %d threads it needs %d processes, was started with %d", b->opt.threads,
                 b->opt.threads + 1, b->ranks);
        refuse(b, why);
    }
    if (s->own_comms && b->opt.comms != COMMS_PER_THREAD) refuse(b, "needs --comms per-thread");
    if (s->any_tag && b->opt.comms == COMMS_HINTED) refuse(b, "receives MPI_ANY_TAG: not with --comms hinted");
    if (b->opt.threads < s->least_threads) {
        snprintf(why, sizeof why, "needs %d threads", s->least_threads);
        refuse(b, why);
    }
    if (s->threads_beside && b->provided < MPI_THREAD_MULTIPLE) refuse(b, "needs --level multiple");
    if (b->opt.threads > 1 && b->provided < MPI_THREAD_MULTIPLE) {
        snprintf(why, sizeof why, "%d threads need MPI_THREAD_MULTIPLE, the library gives \"%s\"", b->opt.threads,
                 level_name(b->provided));
        refuse(b, why);
    }
}

/* A duplicate of the world of which the library is told something. */
static MPI_Comm informed(const char *const (*hints)[2], int count) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < count; i++) MPI_Info_set(info, hints[i][0], hints[i][1]);
    MPI_Comm_dup_with_info(participants, info, &comm);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    return comm;
}

/* `thread_id` is what Intel MPI's thread split wants to know of a communicator per thread, by MPI_Comm_set_info; others
 * ignore it. */
static void make_communicators(struct bench *b) {
    static const char *const promises[][2] = {
        {"mpi_assert_no_any_tag", "true"}, {"mpi_assert_no_any_source", "true"}, {"mpi_assert_exact_length", "true"}};
    b->comms = calloc((size_t)b->opt.threads, sizeof *b->comms);
    if (!b->comms) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < b->opt.threads; t++) {
        char number[16];
        snprintf(number, sizeof number, "%d", t);
        const char *const thread[][2] = {{"thread_id", number}};
        if (b->opt.comms == COMMS_PER_THREAD) b->comms[t] = informed(thread, 1);
        else if (b->opt.comms == COMMS_SHARED) b->comms[t] = participants;
        else b->comms[t] = t == 0 ? informed(promises, 3) : b->comms[0];
    }
}

static void free_communicators(struct bench *b) {
    int made = b->opt.comms == COMMS_PER_THREAD ? b->opt.threads : b->opt.comms == COMMS_HINTED;
    for (int t = 0; t < made; t++) MPI_Comm_free(&b->comms[t]);
    free(b->comms);
}

/* Returns false for an onlooker, after the others have ended. */
static bool takes_part(const struct bench *b) {
    int rank, ranks;
    if (b->opt.onlookers == 0) return true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (b->opt.onlookers >= ranks) {
        if (rank == 0) fprintf(stderr, "mtbench: all %d process(es) would be onlookers\n", ranks);
        MPI_Finalize();
        exit(2);
    }
    bool looks_on = rank >= ranks - b->opt.onlookers;
    MPI_Comm_split(MPI_COMM_WORLD, looks_on, 0, &participants);
    if (looks_on) MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return !looks_on;
}

int main(int argc, char **argv) {
    static struct bench b;
    if (argc > 1 && strcmp(argv[1], "probe") == 0) return probe_alone();
    options_parse(&b.opt, argc, argv);
    b.subject = find(b.opt.subject);
    b.opt.op = form(b.subject, b.opt.op);
    if (b.opt.window == 0) b.opt.window = b.subject->default_window;

    beside_start(&b.opt);
    MPI_Init_thread(&argc, &argv, b.opt.level, &b.provided);
    int64_t initialised_ns = now_ns();
    if (!takes_part(&b)) {
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(participants, &b.rank);
    MPI_Comm_size(participants, &b.ranks);
    library_version(&b);
    check(&b);

    if (b.subject->whole) {
        b.open_ns = initialised_ns;
        b.subject->whole(&b);
        end(&b);
        return 0;
    }

    allowed_cpus();
    if (b.opt.pin) pin_to(allowed_cpu(b.rank));
    make_communicators(&b);

    for (int s = 0; s < b.opt.size_count; s++) {
        b.size = b.opt.sizes[s];
        measure(&b);
    }

    free_communicators(&b);
    end(&b);
    return 0;
}
