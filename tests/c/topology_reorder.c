// Ranks are reordered so that neighbours run in one package, if the program allows it. The machine is one of two packages,
// which hwloc is told about; even ranks of the world are bound to one, odd ranks to the other.
// ranks: 1 4-8
// heddle: only
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

enum { MOST = 8 };

static int package;
// False on a machine with one core, where all run in one package.
static bool apart;

// The package of each rank of a communicator; also checks that it has each of the first processes of the world once.
static int packages(MPI_Comm comm, int of[MOST]) {
    int size = -1, worlds[MOST], seen = 0;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Allgather(&package, 1, MPI_INT, of, 1, MPI_INT, comm));
    CHECK_OK(MPI_Allgather(&check_rank, 1, MPI_INT, worlds, 1, MPI_INT, comm));
    for (int rank = 0; rank < size; rank++) seen |= 1 << worlds[rank];
    CHECK_EQ(seen, (1 << size) - 1);
    return size;
}

// The number of a rank's neighbours to the right that run in another package, over all dimensions of a grid and all ranks.
static int cut_of_grid(MPI_Comm grid, int ndims) {
    int of[MOST], size = packages(grid, of), cut = 0, dims[2], periods[2], coords[2], next;
    CHECK_OK(MPI_Cart_get(grid, ndims, dims, periods, coords));
    for (int rank = 0; rank < size; rank++) {
        for (int dimension = 0; dimension < ndims; dimension++) {
            CHECK_OK(MPI_Cart_coords(grid, rank, ndims, coords));
            coords[dimension]++;
            if (coords[dimension] == dims[dimension] && !periods[dimension]) continue;
            CHECK_OK(MPI_Cart_rank(grid, coords, &next));
            cut += of[rank] != of[next];
        }
    }
    return cut;
}

static void grid(int ndims, const int *dims, int periodic, int cut_at_best) {
    int nodes = 1, rank = -1, periods[2] = {periodic, periodic};
    for (int i = 0; i < ndims; i++) nodes *= dims[i];
    MPI_Comm kept = MPI_COMM_NULL, reordered = MPI_COMM_NULL;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &kept));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &reordered));
    CHECK_EQ(kept != MPI_COMM_NULL, check_rank < nodes);
    CHECK_EQ(reordered != MPI_COMM_NULL, check_rank < nodes);
    if (check_rank >= nodes) return;
    CHECK_OK(MPI_Comm_rank(kept, &rank));
    CHECK_EQ(rank, check_rank);
    CHECK_OK(MPI_Comm_rank(reordered, &rank));
    int before = cut_of_grid(kept, ndims), now = cut_of_grid(reordered, ndims);
    if (apart) {
        CHECK(now <= before);
        CHECK_EQ(now, cut_at_best);
    } else {
        CHECK_EQ(rank, check_rank);
    }
    CHECK_OK(MPI_Comm_free(&kept));
    CHECK_OK(MPI_Comm_free(&reordered));
}

// Nodes 0 and 1, 2 and 3 and so on are pairs, whose ends lie in different packages unless they are reordered. The other end
// of a node's pair, or -1 for the last node of an odd number.
static int other_end(int node) {
    if (node == check_size - 1 && check_size % 2) return -1;
    return node ^ 1;
}

// The number of ends of pairs whose other end runs in another package.
static int cut_of_pairs(MPI_Comm comm) {
    int of[MOST], size = packages(comm, of), cut = 0;
    for (int node = 0; node < size; node++) cut += other_end(node) >= 0 && of[node] != of[other_end(node)];
    return cut;
}

// The same at best. With 6 processes 3 run in each package.
static int ends_cut(void) { return check_size == 6 ? 2 : 0; }

static void check_pairs(MPI_Comm graph) {
    if (apart) CHECK_EQ(cut_of_pairs(graph), ends_cut());
    CHECK_OK(MPI_Comm_free(&graph));
}

static void known_to_all(void) {
    int index[MOST], edges[MOST], count = 0, rank = -1, mapped = -77;
    const int here = check_size - 1;
    for (int node = 0; node < check_size; node++) {
        if (other_end(node) >= 0) edges[count++] = other_end(node);
        index[node] = count;
    }
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &graph));
    CHECK_OK(MPI_Comm_rank(graph, &rank));
    CHECK_EQ(rank, check_rank);
    if (apart) CHECK_EQ(cut_of_pairs(graph), check_size / 2 * 2);
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 1, &graph));
    check_pairs(graph);
    // The maps are local calls: one process may make them alone.
    if (check_rank != here) return;
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, check_size, index, edges, &mapped));
    CHECK_EQ(mapped, here);
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &check_size, &(int){1}, &mapped));
    CHECK_EQ(mapped, here);
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &here, &(int){1}, &mapped));
    CHECK_EQ(mapped, MPI_UNDEFINED);
}

// The neighbours of a node: the other end of its pair with a large weight, and the nodes before and behind with a small
// one. The weight tells an edge from all others.
static int weight(int from, int to) { return (to == other_end(from) ? 10000 : 1) + from + to; }

static int ends_of(int node, int ends[3]) {
    int count = 0;
    if (other_end(node) >= 0) ends[count++] = other_end(node);
    ends[count++] = (node + check_size - 1) % check_size;
    ends[count++] = (node + 1) % check_size;
    return count;
}

// A process has the neighbours of the node that is its rank, in any order or in the order in which they were named.
static void check_neighbours(MPI_Comm graph, bool in_order) {
    int rank = -1, in = -1, out = -1, weighted = -1, ends[3], sources[3], destinations[3], in_weights[3], out_weights[3];
    CHECK_OK(MPI_Comm_rank(graph, &rank));
    int count = ends_of(rank, ends);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == count && out == count && weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, count, sources, in_weights, count, destinations, out_weights));
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < count; k++) known |= sources[i] == ends[k];
        CHECK(known);
        CHECK_EQ(in_weights[i], weight(sources[i], rank));
        CHECK_EQ(out_weights[i], weight(rank, destinations[i]));
        if (in_order) CHECK(sources[i] == ends[i] && destinations[i] == ends[i]);
    }
    // And messages go there.
    int heard[3] = {-1, -1, -1};
    CHECK_OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, heard, 1, MPI_INT, graph));
    for (int i = 0; i < count; i++) CHECK_EQ(heard[i], sources[i]);
}

static void distributed(void) {
    int ends[3], weights[3], count = ends_of(check_rank, ends), rank = -1;
    for (int i = 0; i < count; i++) weights[i] = weight(check_rank, ends[i]);
    for (int reorder = 0; reorder < 2; reorder++) {
        MPI_Comm graph = MPI_COMM_NULL;
        CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, ends, weights, count, ends, weights, MPI_INFO_NULL, reorder, &graph));
        check_neighbours(graph, true);
        CHECK_OK(MPI_Comm_rank(graph, &rank));
        if (reorder) check_pairs(graph);
        else {
            CHECK_EQ(rank, check_rank);
            CHECK_OK(MPI_Comm_free(&graph));
        }
    }
    // The last process names the edges of all.
    int nodes[MOST], degrees[MOST], all_ends[3 * MOST], all_weights[3 * MOST], named = check_rank == check_size - 1 ? check_size : 0, edge = 0;
    for (int node = 0; node < named; node++) {
        nodes[node] = node;
        degrees[node] = ends_of(node, all_ends + edge);
        for (int last = edge + degrees[node]; edge < last; edge++) all_weights[edge] = weight(node, all_ends[edge]);
    }
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, named, nodes, degrees, all_ends, all_weights, MPI_INFO_NULL, 1, &graph));
    check_neighbours(graph, false);
    check_pairs(graph);
}

int main(int argc, char **argv) {
    setenv("HWLOC_SYNTHETIC", "package:2 pu:2(indexes=0,2,1,3)", 1);
    check_start(argc, argv);
    package = check_rank % 2;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(package, &cores);
    int bound = sched_setaffinity(0, sizeof cores, &cores) == 0, all_bound;
    CHECK_OK(MPI_Allreduce(&bound, &all_bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    apart = all_bound && check_size > 1;
    if (check_size > 1) {
        int half = check_size / 2;
        grid(1, &check_size, 1, 2);
        if (check_size % 2 == 0) grid(2, (int[]){2, half}, 0, check_size == 6 ? 3 : 2);
        if (check_size > 4) grid(1, (int[]){check_size - 1}, 1, 2);
        known_to_all();
        distributed();
    } else {
        grid(1, &check_size, 0, 0);
    }
    return check_finish();
}
