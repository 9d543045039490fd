#include "edge_reader.h"

#include "fatal.h"
#include "progress.h"

void edge_reader_add(struct edge_reader *reader, uint64_t u, uint64_t v)
{
    struct edge_list *list = reader->list;
    if (list->count == reader->capacity) {
        reader->capacity = reader->capacity < 1024 ? 1024 : reader->capacity * 2;
        list->items = grow("the edge list", list->items, reader->capacity, sizeof *list->items);
    }
    list->items[list->count++] = (struct edge){u, v};
    if (list->count % 65536 == 0) {
        const struct lines *lines = &reader->lines;
        double done = lines->bytes_total > 0
                          ? (double)lines->bytes_read / (double)lines->bytes_total
                          : -1;
        progress_show(done, "reading the graph");
    }
}
