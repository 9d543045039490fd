#include "input.h"

#include "edge_reader.h"
#include "fatal.h"
#include "matrix_market.h"
#include "progress.h"

#include <mpi.h>
#include <stdlib.h>

static const uint64_t LABEL_MAX = (UINT64_C(1) << 48) - 1; /* the specification's 48 bits */

static int compare_labels(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t label_index(const uint64_t *labels, uint64_t count, uint64_t label)
{
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (labels[middle] <= label)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Replaces every label by its place among the labels that occur. */
static void number_labels(struct edge_list *list)
{
    uint64_t *labels = allocate("the vertex labels", list->count * 2, sizeof *labels);
    for (uint64_t i = 0; i < list->count; i++) {
        labels[2 * i] = list->items[i].u;
        labels[2 * i + 1] = list->items[i].v;
    }
    qsort(labels, list->count * 2, sizeof *labels, compare_labels);
    uint64_t distinct = 1;
    for (uint64_t i = 1; i < list->count * 2; i++) {
        if (labels[i] != labels[distinct - 1])
            labels[distinct++] = labels[i];
    }
    for (uint64_t i = 0; i < list->count; i++) {
        list->items[i].u = label_index(labels, distinct, list->items[i].u);
        list->items[i].v = label_index(labels, distinct, list->items[i].v);
    }
    free(labels);
    list->vertices = distinct;
    list->label_shift = 0;
}

static void number_vertices(struct edge_list *list)
{
    uint64_t smallest = UINT64_MAX, largest = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        uint64_t u = list->items[i].u, v = list->items[i].v;
        uint64_t low = u < v ? u : v, high = u < v ? v : u;
        smallest = low < smallest ? low : smallest;
        largest = high > largest ? high : largest;
    }
    list->label_shift = smallest > 0 ? 1 : 0;
    list->vertices = largest + 1 - list->label_shift;
    if (list->vertices / 8 > list->count + 128) {
        number_labels(list);
        return;
    }
    for (uint64_t i = 0; i < list->count; i++) {
        list->items[i].u -= list->label_shift;
        list->items[i].v -= list->label_shift;
    }
}

static bool read_edge_line(struct edge_reader *reader)
{
    const struct lines *lines = &reader->lines;
    const char *cursor = lines->text;
    if (lines_at_end(&cursor) || *cursor == '#' || *cursor == '%')
        return true;
    uint64_t u, v;
    if (!lines_number(lines, &cursor, "the first vertex", &u) ||
        !lines_number(lines, &cursor, "the second vertex", &v))
        return false;
    if (u > LABEL_MAX || v > LABEL_MAX)
        return lines_wrong(lines, "vertex %llu is out of range: numbers go up to 2^48 - 1",
                           (unsigned long long)(u > v ? u : v));
    if (!lines_at_end(&cursor) && (!lines_skip_real(&cursor) || !lines_at_end(&cursor)))
        return lines_wrong(lines, "after two vertices and a number nothing is expected, but here "
                                  "is \"%.20s\"",
                           cursor);
    edge_reader_add(reader, u, v);
    return true;
}

/* The first line is the current one if `more`. */
static bool read_edge_lines(struct edge_reader *reader, bool more)
{
    while (more) {
        if (!read_edge_line(reader) || !lines_next(&reader->lines, &more))
            return false;
    }
    return true;
}

static bool has_real_edge(const struct edge_list *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        if (list->items[i].u != list->items[i].v)
            return true;
    }
    return false;
}

static bool read_file(const char *path, struct edge_list *list)
{
    struct edge_reader reader = {.list = list};
    bool more = false;
    bool good = lines_open(&reader.lines, path) && lines_next(&reader.lines, &more);
    if (good) {
        if (more && matrix_market_begins(reader.lines.text)) {
            good = read_matrix_market(&reader);
        } else {
            good = read_edge_lines(&reader, more);
            if (good && list->count > 0)
                number_vertices(list);
        }
    }
    lines_close(&reader.lines);
    if (good && !has_real_edge(list)) {
        fprintf(stderr, "graph500: %s has no edge between two different vertices: nothing to "
                        "search\n",
                path);
        good = false;
    }
    return good;
}

bool read_graph(const char *path, int rank, struct edge_list *list)
{
    *list = (struct edge_list){0};
    uint64_t facts[4] = {0};
    if (rank == 0) {
        progress_show(-1, "reading the graph");
        facts[0] = read_file(path, list);
        facts[1] = list->count;
        facts[2] = list->vertices;
        facts[3] = list->label_shift;
    }
    MPI_Bcast(facts, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    list->total = facts[1];
    list->vertices = facts[2];
    list->label_shift = facts[3];
    if (facts[0] == 0) {
        free(list->items);
        list->items = NULL;
    }
    return facts[0] != 0;
}
