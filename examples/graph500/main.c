/* Breadth-first search after the Graph500 specification (https://graph500.org), for MPI with
 * threads: all threads of all processes compute and communicate at once.
 *
 *     options -> edge list (generator.c or input.c)
 *             -> graph, kernel 1 (distribute.c, graph.c)
 *             -> for each root (roots.c): search, kernel 2 (bfs.c), and validation (validate.c)
 *             -> report */
#include "bfs.h"
#include "fatal.h"
#include "generator.h"
#include "graph.h"
#include "input.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "roots.h"
#include "ticks.h"
#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG_TREE = 1, EXIT_WRONG_INPUT = 2 };

struct run {
    struct options options;
    int rank;
    int ranks;
    double start_s;
    struct tick_origin tick_origin;
    FILE *json;
    struct team team;
    struct exchange *exchanges;
};

static const char *level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
        return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
        return "MPI_THREAD_SERIALIZED";
    default:
        return "MPI_THREAD_MULTIPLE";
    }
}

/* On rank 0; false after a message. */
static bool open_json(struct run *run)
{
    const char *path = run->options.json;
    if (path == NULL)
        return true;
    run->json = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (run->json == NULL)
        fprintf(stderr, "graph500: --json: cannot write %s: %s\n", path, strerror(errno));
    return run->json != NULL;
}

/* Everything that can be wrong before work starts; the same answer on all processes. */
static bool check_setting(struct run *run, int argc, char **argv, int provided)
{
    int good = options_parse(&run->options, argc, argv, run->rank == 0 ? stderr : NULL);
    if (good && run->options.threads > 1 && provided < MPI_THREAD_MULTIPLE) {
        if (run->rank == 0)
            fprintf(stderr,
                    "graph500: this MPI library gives %s only, and %d threads need "
                    "MPI_THREAD_MULTIPLE; use --threads 1\n",
                    level_name(provided), run->options.threads);
        good = 0;
    }
    if (good && run->rank == 0 && !run->options.help)
        good = open_json(run);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good != 0;
}

static void open_exchanges(struct run *run)
{
    const struct options *o = &run->options;
    /* Not freed: MPI_Finalize does that. */
    MPI_Comm shared = MPI_COMM_NULL;
    if (!o->comm_per_thread)
        MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    run->exchanges = allocate_aligned("exchanges", (size_t)o->threads, sizeof *run->exchanges);
    for (int t = 0; t < o->threads; t++) {
        MPI_Comm comm = shared;
        if (o->comm_per_thread)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        exchange_open(&run->exchanges[t], comm, o->comm_per_thread ? 0 : t, o->buffer_bytes);
    }
}

static void close_exchange(void *argument, int thread)
{
    struct run *run = argument;
    exchange_close(&run->exchanges[thread]);
}

static struct traffic sum_traffic(const struct run *run, const struct bfs *bfs)
{
    double rate = tick_rate(run->tick_origin);
    uint64_t mine[4] = {0}, all[4] = {0};
    double sum_s = 0, max_s = 0;
    for (int t = 0; t < run->team.threads; t++) {
        const struct exchange_counters *c = &bfs->totals[t];
        mine[0] += c->messages;
        mine[1] += c->bytes;
        mine[2] += c->tests;
        mine[3] += c->hits;
        double seconds = (double)c->mpi_ticks / rate;
        sum_s += seconds;
        max_s = seconds > max_s ? seconds : max_s;
    }
    struct traffic traffic = {0};
    MPI_Reduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum_s, &traffic.mpi_mean_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&max_s, &traffic.mpi_max_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    traffic.messages = all[0];
    traffic.bytes = all[1];
    traffic.tests = all[2];
    traffic.hits = all[3];
    traffic.mpi_mean_s /= (double)run->ranks * run->team.threads;
    return traffic;
}

static void search_all(struct run *run, const struct graph *graph, struct report *report)
{
    const struct options *o = &run->options;
    size_t wanted = (size_t)o->roots;
    uint64_t *roots = allocate("the roots", wanted, sizeof *roots);
    struct bfs_result *results = allocate("the results", wanted, sizeof *results);
    report->searches = choose_roots(graph, o->seed, o->roots, roots);
    report->roots = roots;
    report->results = results;

    struct bfs bfs = bfs_open(graph, &run->team, run->exchanges);
    double searched_s = 0, edges = 0;
    for (int i = 0; i < report->searches; i++) {
        progress_show((double)i / report->searches, "searching: %d of %d, %.3g edges/s so far", i,
                      report->searches, searched_s > 0 ? edges / searched_s : 0.0);
        results[i] = bfs_run(&bfs, roots[i]);
        searched_s += results[i].seconds;
        edges += (double)results[i].edges;
        if (!o->validate)
            continue;
        double start_s = MPI_Wtime();
        if (o->corrupt != NULL && !corrupt_tree(&bfs, roots[i], o->corrupt) && run->rank == 0)
            fprintf(stderr, "graph500: this graph has no vertex for --corrupt %s\n", o->corrupt);
        report->validated += validate_tree(&bfs, roots[i]);
        report->validation_s += MPI_Wtime() - start_s;
    }
    report->traffic = sum_traffic(run, &bfs);
    bfs_close(&bfs);
}

static void tell(const struct run *run, struct report *report)
{
    report->machine = describe_machine();
    report->wall_s = MPI_Wtime() - run->start_s;
    if (run->rank != 0)
        return;
    progress_end();
    if (run->json != stdout)
        report_print(report, stdout);
    if (run->json == NULL)
        return;
    report_json(report, run->json);
    if (fflush(run->json) != 0 || ferror(run->json))
        fprintf(stderr, "graph500: --json: writing %s failed\n", run->options.json);
    if (run->json != stdout)
        fclose(run->json);
}

static bool load_edges(struct run *run, struct edge_list *edges)
{
    const struct options *o = &run->options;
    if (o->input != NULL)
        return read_graph(o->input, run->rank, edges);
    *edges = generate_kronecker(&run->team, o->scale, o->edgefactor, o->seed, run->rank,
                                run->ranks);
    return true;
}

static int work(struct run *run)
{
    progress_enable(run->options.progress && run->rank == 0);
    team_open(&run->team, run->options.threads);
    struct report report = {.options = &run->options};
    struct edge_list edges;
    bool good = load_edges(run, &edges);
    if (good) {
        report.generation_s = MPI_Wtime() - run->start_s;
        report.vertices = edges.vertices;
        report.edges = edges.total;
        report.label_shift = edges.label_shift;

        open_exchanges(run);
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = MPI_Wtime();
        struct graph graph =
            graph_build(&edges, &run->team, run->exchanges, run->rank, run->ranks);
        MPI_Barrier(MPI_COMM_WORLD);
        report.construction_s = MPI_Wtime() - start_s;
        free(edges.items);

        search_all(run, &graph, &report);
        tell(run, &report);
        free((void *)report.roots);
        free((void *)report.results);
        graph_free(&graph);
        team_run(&run->team, close_exchange, run);
        free(run->exchanges);
    }
    progress_end();
    team_close(&run->team);
    if (!good)
        return EXIT_WRONG_INPUT;
    bool wrong = run->options.validate && report.validated < report.searches;
    return wrong ? EXIT_WRONG_TREE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    struct run run = {.start_s = MPI_Wtime(), .tick_origin = tick_start()};
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);

    int status = EXIT_SUCCESS;
    if (!check_setting(&run, argc, argv, provided))
        status = EXIT_WRONG_INPUT;
    else if (!run.options.help)
        status = work(&run);
    else if (run.rank == 0)
        options_help(stdout);
    MPI_Finalize();
    return status;
}
