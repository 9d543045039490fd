// Graph topologies: graphs that all processes know, and distributed graphs, whose edges any process may name.
#include "check.h"

static int wrapped(int rank) { return (rank % check_size + check_size) % check_size; }

// A ring that all processes know: node i leads to i - 1 and i + 1.
static void known_to_all(void) {
    int index[64], edges[128], status = -1, nodes = -1, count = -1, got_index[64], got_edges[128], neighbors[2];
    MPI_Comm graph = MPI_COMM_NULL, dup = MPI_COMM_NULL;
    for (int i = 0; i < check_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = wrapped(i - 1);
        edges[2 * i + 1] = wrapped(i + 1);
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 1, &graph));
    CHECK_OK(MPI_Topo_test(graph, &status));
    CHECK_EQ(status, MPI_GRAPH);
    CHECK_OK(MPI_Comm_dup(graph, &dup));
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Graphdims_get(dup, &nodes, &count));
    CHECK_EQ(nodes, check_size);
    CHECK_EQ(count, 2 * check_size);
    CHECK_OK(MPI_Graph_get(dup, nodes, count, got_index, got_edges));
    CHECK(memcmp(index, got_index, (size_t)nodes * sizeof *index) == 0);
    CHECK(memcmp(edges, got_edges, (size_t)count * sizeof *edges) == 0);
    CHECK_OK(MPI_Graph_neighbors_count(dup, check_rank, &count));
    CHECK_EQ(count, 2);
    CHECK_OK(MPI_Graph_neighbors(dup, check_rank, 2, neighbors));
    CHECK(neighbors[0] == wrapped(check_rank - 1) && neighbors[1] == wrapped(check_rank + 1));
    CHECK_CLASS(MPI_Cartdim_get(dup, &nodes), MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Comm_free(&dup));

    // One node only: the others are not in it.
    int one = 0, rank = -1;
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, 1, &one, NULL, &rank));
    CHECK_EQ(rank, check_rank == 0 ? 0 : MPI_UNDEFINED);
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 1, &one, NULL, 0, &graph));
    CHECK((graph != MPI_COMM_NULL) == (check_rank == 0));
    if (graph != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&graph));
}

// Every process names its own edges: one from the left, one to the right.
static void adjacent(void) {
    int left = wrapped(check_rank - 1), right = wrapped(check_rank + 1), in = -1, out = -1, weighted = -1, status = -1;
    int source = -1, destination = -1, source_weight = -1, destination_weight = -1;
    MPI_Comm graph = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &left, 1, &right, &check_rank, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Topo_test(graph, &status));
    CHECK_EQ(status, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 1, &source, &source_weight, 1, &destination, &destination_weight));
    CHECK_EQ(source, left);
    CHECK_EQ(destination, right);
    CHECK_EQ(source_weight, left);
    CHECK_EQ(destination_weight, check_rank);
    CHECK_OK(MPI_Comm_free(&graph));
}

// Every process names two edges that leave its right neighbour: to itself, and to the one on its left.
static void named_by_others(void) {
    int source = wrapped(check_rank + 1), degree = 2, ends[2] = {check_rank, wrapped(check_rank - 1)};
    int weights[2] = {10 * check_rank, 10 * check_rank + 1}, in = -1, out = -1, weighted = -1;
    int from[2], from_weights[2], to[2], to_weights[2];
    MPI_Comm graph = MPI_COMM_NULL, dup = MPI_COMM_NULL;
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, ends, weights, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Comm_dup(graph, &dup));
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(dup, &in, &out, &weighted));
    CHECK(in == 2 && out == 2 && weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(dup, 2, from, from_weights, 2, to, to_weights));
    // The left neighbour named the edges that leave this process, in its order.
    int left = wrapped(check_rank - 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(to[i], wrapped(left - i));
        CHECK_EQ(to_weights[i], 10 * left + i);
    }
    // This process and its right neighbour named those that arrive here.
    int right = wrapped(check_rank + 1), seen = 0;
    for (int i = 0; i < 2; i++) {
        if (from_weights[i] == 10 * check_rank && from[i] == right) seen |= 1;
        if (from_weights[i] == 10 * right + 1 && from[i] == wrapped(right + 1)) seen |= 2;
    }
    CHECK_EQ(seen, 3);
    CHECK_OK(MPI_Comm_free(&dup));

    // No process names an edge.
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 0 && out == 0 && !weighted);
    CHECK_OK(MPI_Comm_free(&graph));
}

static void wrong_use(void) {
    MPI_Comm graph = MPI_COMM_NULL;
    int too_many[64] = {0}, decreasing[2] = {1, 0}, edge = 0, stranger = check_size, one = 1;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, check_size + 1, too_many, NULL, 0, &graph) != MPI_SUCCESS);
    if (check_size >= 2) CHECK(MPI_Graph_create(MPI_COMM_WORLD, 2, decreasing, &edge, 0, &graph) != MPI_SUCCESS);
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &edge, &one, &stranger, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &edge), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &edge, &one, &stranger), MPI_ERR_TOPOLOGY);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    known_to_all();
    adjacent();
    named_by_others();
    wrong_use();
    return check_finish();
}
