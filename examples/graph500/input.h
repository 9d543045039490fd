/* Graphs from disk, as an alternative to the generator. Two formats, told apart by the first
 * line of the file:
 *
 *   edge list      a line "u v" an edge, separated by blanks or tabs; a third number (a weight or
 *                  a time) is allowed and ignored; lines that start with # or % are comments.
 *                  If no vertex is numbered 0, numbers are taken to start at 1.
 *   Matrix Market  "%%MatrixMarket matrix coordinate FIELD SYMMETRY" with FIELD pattern, real,
 *                  integer or complex, and SYMMETRY general, symmetric, skew-symmetric or
 *                  hermitian; a square matrix. Every entry is an undirected edge; values are ignored.
 *
 * Numbers that leave big gaps (labels, not indices) are replaced by their order. */
#ifndef GRAPH500_INPUT_H
#define GRAPH500_INPUT_H

#include "edges.h"

#include <stdbool.h>

/* Rank 0 reads, all edges are in its share. Collective: false on all processes if the file is
 * wrong, after a message from rank 0 that says where. */
bool read_graph(const char *path, int rank, struct edge_list *list);

#endif
