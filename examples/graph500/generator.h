/* The specification's Kronecker graph (section "Generating the Edge List"). */
#ifndef GRAPH500_GENERATOR_H
#define GRAPH500_GENERATOR_H

#include "edges.h"
#include "team.h"

/* 2^scale vertices and edgefactor * 2^scale edges; every process makes its share.
 * The same seed gives the same graph on any number of processes and threads. */
struct edge_list generate_kronecker(struct team *team, int scale, int edgefactor, uint64_t seed,
                                    int rank, int ranks);

#endif
