/* A file that is read, and the list that its edges come to. */
#ifndef GRAPH500_EDGE_READER_H
#define GRAPH500_EDGE_READER_H

#include "edges.h"
#include "lines.h"

struct edge_reader {
    struct lines lines;
    struct edge_list *list;
    uint64_t capacity;
};

void edge_reader_add(struct edge_reader *reader, uint64_t u, uint64_t v);

#endif
