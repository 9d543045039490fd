/* Reads the Matrix Market exchange format; input.h says which of its forms. */
#ifndef GRAPH500_MATRIX_MARKET_H
#define GRAPH500_MATRIX_MARKET_H

#include "edge_reader.h"

bool matrix_market_begins(const char *first_line);

/* Reads the rest of a file whose first line is the current one. */
bool read_matrix_market(struct edge_reader *reader);

#endif
