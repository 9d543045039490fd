/* The specification's "Sampling 64 Search Keys". */
#ifndef GRAPH500_ROOTS_H
#define GRAPH500_ROOTS_H

#include "graph.h"

/* Writes up to `wanted` different vertices, each with an edge to another vertex, drawn by `seed`;
 * returns how many there were. Collective; the same on all processes, and for a given graph on
 * any number of them. */
int choose_roots(const struct graph *graph, uint64_t seed, int wanted, uint64_t *roots);

#endif
