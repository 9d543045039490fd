// Neighborhood collectives in all forms, on grids (also with one or two processes in a ring, and with borders), graphs and
// distributed graphs with several edges between two processes and edges to oneself.
#include "check.h"

enum { MOST_EDGES = 64, N = 700 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

// The edges of this process, by the library's own answers.
struct edges {
    int in, out, sources[MOST_EDGES];
};

// What the sender `from` puts into its block for edge number `edge`, at index `i`.
static int value(int from, int edge, int i) { return from * 1000000 + edge * 10000 + i; }

// The number that an edge which comes in has at its sender: each process knows all graphs of this test.
typedef int (*edge_at_sender)(const struct edges *edges, int edge);

// In a grid the first edge of a dimension is the second one of the lower neighbour.
static int in_grid(const struct edges *edges, int edge) {
    (void)edges;
    return edge ^ 1;
}

// In the graphs here the k-th edge from a process is its k-th edge to this one, and these follow each other.
static int (*first_edge_to)(int from, int to);
static int in_graph(const struct edges *edges, int edge) {
    int before = 0;
    for (int e = 0; e < edge; e++) before += edges->sources[e] == edges->sources[edge];
    return first_edge_to(edges->sources[edge], check_rank) + before;
}

static void complete(enum form form, MPI_Request *request) {
    if (form == PERSISTENT) CHECK_OK(MPI_Start(request));
    if (form != BLOCKING) CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == PERSISTENT) CHECK_OK(MPI_Request_free(request));
}

static void exchange(MPI_Comm comm, const struct edges *edges, edge_at_sender at_sender, int n) {
    int out = edges->out, in = edges->in, counts[MOST_EDGES], displs[MOST_EDGES], wrong = 0;
    MPI_Aint bytes[MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
    int *send = check_alloc(sizeof(int) * (size_t)(n * out + 1)), *receive = check_alloc(sizeof(int) * (size_t)(n * in + 1));
    for (int e = 0; e < MOST_EDGES; e++) {
        counts[e] = n;
        displs[e] = e * n;
        bytes[e] = (MPI_Aint)sizeof(int) * e * n;
        types[e] = MPI_INT;
    }
    for (enum form form = BLOCKING; form < FORMS; form++) {
        for (int kind = 0; kind < 5; kind++) {
            int all = kind >= 3;
            MPI_Request request = MPI_REQUEST_NULL;
            for (int e = 0; e < out; e++)
                for (int i = 0; i < n; i++) send[e * n + i] = value(check_rank, e, i);
            for (int i = 0; i < n * in; i++) receive[i] = -1;
#define CALL(name, ...)                                                                                                \
    CHECK_OK(form == BLOCKING      ? MPI_Neighbor_##name(__VA_ARGS__)                                                  \
             : form == NONBLOCKING ? MPI_Ineighbor_##name(__VA_ARGS__, &request)                                       \
                                   : MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request))
            switch (kind) {
            case 0: CALL(alltoall, send, n, MPI_INT, receive, n, MPI_INT, comm); break;
            case 1: CALL(alltoallv, send, counts, displs, MPI_INT, receive, counts, displs, MPI_INT, comm); break;
            case 2: CALL(alltoallw, send, counts, bytes, types, receive, counts, bytes, types, comm); break;
            case 3: CALL(allgather, send, n, MPI_INT, receive, n, MPI_INT, comm); break;
            default: CALL(allgatherv, send, n, MPI_INT, receive, counts, displs, MPI_INT, comm);
            }
            complete(form, &request);
            for (int e = 0; e < in; e++) {
                int from = edges->sources[e];
                for (int i = 0; i < n; i++) {
                    int wanted = from == MPI_PROC_NULL ? -1 : value(from, all ? 0 : at_sender(edges, e), i);
                    wrong += receive[e * n + i] != wanted;
                }
            }
            if (!CHECK_EQ(wrong, 0)) fprintf(stderr, "form %d, kind %d, %d ints\n", form, kind, n), wrong = 0;
        }
    }
    free(send);
    free(receive);
}

static void in_sizes(MPI_Comm comm, const struct edges *edges, edge_at_sender at_sender) {
    exchange(comm, edges, at_sender, 1);
    exchange(comm, edges, at_sender, N);
    exchange(comm, edges, at_sender, 0);
}

static void grid(int dimensions, const int *dims, const int *periods) {
    MPI_Comm comm;
    struct edges edges = {2 * dimensions, 2 * dimensions, {0}};
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm));
    if (comm == MPI_COMM_NULL) return;
    for (int d = 0; d < dimensions; d++) CHECK_OK(MPI_Cart_shift(comm, d, 1, &edges.sources[2 * d], &edges.sources[2 * d + 1]));
    in_sizes(comm, &edges, in_grid);
    CHECK_OK(MPI_Comm_free(&comm));
}

// Two edges from each process to the next, one to itself in between, and one to the process before.
static void multigraph(void) {
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    int destinations[] = {next, check_rank, next, before}, sources[] = {before, next, check_rank, before};
    int *send = check_alloc(4 * sizeof(int)), receive[4], expected[4];
    MPI_Comm comm;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, sources, MPI_UNWEIGHTED, 4, destinations, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &comm));
    for (int e = 0; e < 4; e++) send[e] = value(check_rank, e, 0);
    // The k-th edge from a process is that process's k-th edge to this one.
    for (int e = 0; e < 4; e++) {
        int from = sources[e], earlier = 0, after = (from + 1) % check_size;
        int theirs[] = {after, from, after, (from + check_size - 1) % check_size};
        for (int k = 0; k < e; k++) earlier += sources[k] == from;
        for (int k = 0; k < 4; k++) {
            if (theirs[k] == check_rank && earlier-- == 0) {
                expected[e] = value(from, k, 0);
                break;
            }
        }
    }
    for (enum form form = BLOCKING; form < FORMS; form++) {
        MPI_Request request = MPI_REQUEST_NULL;
        memset(receive, -1, sizeof receive);
        CALL(alltoall, send, 1, MPI_INT, receive, 1, MPI_INT, comm);
        complete(form, &request);
        for (int e = 0; e < 4; e++) CHECK_EQ(receive[e], expected[e]);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    free(send);
}

// Everybody's neighbours are all others.
static int complete_first(int from, int to) { return to < from ? to : to - 1; }

static void complete_graph(void) {
    int *index = check_alloc(sizeof(int) * (size_t)check_size), *ends = check_alloc(sizeof(int) * (size_t)(check_size * check_size));
    int at = 0;
    struct edges edges = {check_size - 1, check_size - 1, {0}};
    for (int r = 0; r < check_size; r++) {
        for (int other = 0; other < check_size; other++)
            if (other != r) ends[at++] = other;
        index[r] = at;
    }
    MPI_Comm comm;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, ends, 0, &comm));
    CHECK_OK(MPI_Graph_neighbors(comm, check_rank, MOST_EDGES, edges.sources));
    first_edge_to = complete_first;
    in_sizes(comm, &edges, in_graph);
    CHECK_OK(MPI_Comm_free(&comm));
    free(index);
    free(ends);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    int sent = 1, received = 0;
    MPI_Request request;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Neighbor_allgather(&sent, 1, MPI_INT, &received, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Ineighbor_alltoall(&sent, 1, MPI_INT, &received, 1, MPI_INT, MPI_COMM_WORLD, &request), MPI_ERR_TOPOLOGY);
    grid(1, (int[]){check_size}, (int[]){1});
    grid(1, (int[]){check_size}, (int[]){0});
    grid(3, (int[]){1, check_size, 1}, (int[]){1, 1, 1});
    grid(2, (int[]){check_size, 1}, (int[]){0, 1});
    if (check_size % 2 == 0) {
        grid(2, (int[]){2, check_size / 2}, (int[]){1, 1});
        grid(2, (int[]){check_size / 2, 2}, (int[]){0, 1});
    }
    multigraph();
    complete_graph();
    return check_finish();
}
