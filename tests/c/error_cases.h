// Calls with wrong arguments, of the functions that make nonblocking, persistent and neighbourhood collectives, intercommunicators, sessions,
// partitioned messages, and the rest of the environment: each with the class of its error, and a word of its message.
//
// error_classes.c makes them all under MPI_ERRORS_RETURN and checks the classes; error_messages.c makes each in a process of its own, which dies of
// it, and checks the message.
#ifndef HEDDLE_TEST_ERROR_CASES_H
#define HEDDLE_TEST_ERROR_CASES_H

#include "check.h"

// The case that is to be made alone, or -1 for all.
static int case_wanted = -1;
static int cases_seen;
// What the message of a case has to say.
static struct {
    const char *function, *word;
    int class;
} case_at[4096];

// A call that fails.
#define WRONG(call, arguments, want, says) \
    do { \
        int this_case = cases_seen++; \
        case_at[this_case].function = #call, case_at[this_case].class = want, case_at[this_case].word = says; \
        if (case_wanted < 0) { \
            check_code(call arguments, want, __FILE__, __LINE__, #call #arguments); \
        } else if (case_wanted == this_case) { \
            call arguments; \
            exit(99); \
        } \
    } while (0)

// The same wrong arguments of a collective function in its three forms.
#define THREE(Name, name, class, word, ...) \
    do { \
        WRONG(MPI_##Name, (__VA_ARGS__), class, word); \
        WRONG(MPI_I##name, (__VA_ARGS__, &request), class, word); \
        WRONG(MPI_##Name##_init, (__VA_ARGS__, MPI_INFO_NULL, &request), class, word); \
    } while (0)

// What right arguments followed by wrong ones do: no place for the request, and no info object.
#define NO_REQUEST(Name, name, ...) \
    do { \
        WRONG(MPI_I##name, (__VA_ARGS__, NULL), MPI_ERR_ARG, "null pointer"); \
        WRONG(MPI_##Name##_init, (__VA_ARGS__, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "null pointer"); \
        WRONG(MPI_##Name##_init, (__VA_ARGS__, bad_info, &request), MPI_ERR_INFO, "info"); \
    } while (0)

static int from[64], to[64];
static int minus[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static MPI_Aint byte_places[8] = {0, 4, 8, 12, 16, 20, 24, 28};
static int apart[8] = {0, 4, 8, 12, 16, 20, 24, 28};
static MPI_Datatype ints[8], none[8], open_types[8];
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Datatype uncommitted;
static MPI_Info bad_info;
static MPI_Comm freed_comm;

// Every way in which a communicator is none.
#define NO_COMM(Name, name, ...) \
    do { \
        MPI_Comm comm = MPI_COMM_NULL; \
        THREE(Name, name, MPI_ERR_COMM, "communicator", __VA_ARGS__); \
        comm = freed_comm; \
        THREE(Name, name, MPI_ERR_COMM, "communicator", __VA_ARGS__); \
        comm = (MPI_Comm)MPI_INT; \
        THREE(Name, name, MPI_ERR_COMM, "communicator", __VA_ARGS__); \
    } while (0)

static void rooted(MPI_Comm comm, int size) {
    NO_COMM(Barrier, barrier, comm);
    NO_REQUEST(Barrier, barrier, comm);

    NO_COMM(Bcast, bcast, from, 1, MPI_INT, 0, comm);
    NO_REQUEST(Bcast, bcast, from, 1, MPI_INT, 0, comm);
    THREE(Bcast, bcast, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, 0, comm);
    THREE(Bcast, bcast, MPI_ERR_TYPE, "datatype", from, 1, MPI_DATATYPE_NULL, 0, comm);
    THREE(Bcast, bcast, MPI_ERR_TYPE, "commit", from, 1, uncommitted, 0, comm);
    THREE(Bcast, bcast, MPI_ERR_BUFFER, "null", NULL, 1, MPI_INT, 0, comm);
    THREE(Bcast, bcast, MPI_ERR_ROOT, "root", from, 1, MPI_INT, size, comm);
    THREE(Bcast, bcast, MPI_ERR_ROOT, "root", from, 1, MPI_INT, -1, comm);

    NO_COMM(Gather, gather, from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
    NO_REQUEST(Gather, gather, from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
    THREE(Gather, gather, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, to, -1, MPI_INT, 0, comm);
    THREE(Gather, gather, MPI_ERR_TYPE, "datatype", from, 1, MPI_DATATYPE_NULL, to, 1, MPI_INT, 0, comm);
    THREE(Gather, gather, MPI_ERR_TYPE, "commit", from, 1, uncommitted, to, 1, uncommitted, 0, comm);
    THREE(Gather, gather, MPI_ERR_BUFFER, "null", NULL, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
    THREE(Gather, gather, MPI_ERR_ROOT, "root", from, 1, MPI_INT, to, 1, MPI_INT, size, comm);

    NO_COMM(Gatherv, gatherv, from, 1, MPI_INT, to, ones, places, MPI_INT, 0, comm);
    NO_REQUEST(Gatherv, gatherv, from, 1, MPI_INT, to, ones, places, MPI_INT, 0, comm);
    THREE(Gatherv, gatherv, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, to, minus, places, MPI_INT, 0, comm);
    THREE(Gatherv, gatherv, MPI_ERR_TYPE, "datatype", from, 1, MPI_DATATYPE_NULL, to, ones, places, MPI_INT, 0, comm);
    THREE(Gatherv, gatherv, MPI_ERR_BUFFER, "null", NULL, 1, MPI_INT, to, ones, places, MPI_INT, 0, comm);
    THREE(Gatherv, gatherv, MPI_ERR_ROOT, "root", from, 1, MPI_INT, to, ones, places, MPI_INT, size, comm);

    NO_COMM(Scatter, scatter, from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
    NO_REQUEST(Scatter, scatter, from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
    THREE(Scatter, scatter, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, to, -1, MPI_INT, 0, comm);
    THREE(Scatter, scatter, MPI_ERR_TYPE, "datatype", from, 1, MPI_INT, to, 1, MPI_DATATYPE_NULL, 0, comm);
    THREE(Scatter, scatter, MPI_ERR_TYPE, "commit", from, 1, uncommitted, to, 1, uncommitted, 0, comm);
    THREE(Scatter, scatter, MPI_ERR_BUFFER, "null", from, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm);
    THREE(Scatter, scatter, MPI_ERR_ROOT, "root", from, 1, MPI_INT, to, 1, MPI_INT, size, comm);

    NO_COMM(Scatterv, scatterv, from, ones, places, MPI_INT, to, 1, MPI_INT, 0, comm);
    NO_REQUEST(Scatterv, scatterv, from, ones, places, MPI_INT, to, 1, MPI_INT, 0, comm);
    THREE(Scatterv, scatterv, MPI_ERR_COUNT, "-1", from, minus, places, MPI_INT, to, -1, MPI_INT, 0, comm);
    THREE(Scatterv, scatterv, MPI_ERR_TYPE, "datatype", from, ones, places, MPI_INT, to, 1, MPI_DATATYPE_NULL, 0, comm);
    THREE(Scatterv, scatterv, MPI_ERR_BUFFER, "null", from, ones, places, MPI_INT, NULL, 1, MPI_INT, 0, comm);
    THREE(Scatterv, scatterv, MPI_ERR_ROOT, "root", from, ones, places, MPI_INT, to, 1, MPI_INT, size, comm);

    NO_COMM(Reduce, reduce, from, to, 1, MPI_INT, MPI_SUM, 0, comm);
    NO_REQUEST(Reduce, reduce, from, to, 1, MPI_INT, MPI_SUM, 0, comm);
    THREE(Reduce, reduce, MPI_ERR_COUNT, "-1", from, to, -1, MPI_INT, MPI_SUM, 0, comm);
    THREE(Reduce, reduce, MPI_ERR_TYPE, "datatype", from, to, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm);
    THREE(Reduce, reduce, MPI_ERR_OP, "operator", from, to, 1, MPI_INT, MPI_OP_NULL, 0, comm);
    THREE(Reduce, reduce, MPI_ERR_OP, "MPI_BAND", from, to, 1, MPI_FLOAT, MPI_BAND, 0, comm);
    THREE(Reduce, reduce, MPI_ERR_ROOT, "root", from, to, 1, MPI_INT, MPI_SUM, size, comm);
    THREE(Reduce, reduce, MPI_ERR_BUFFER, "null", NULL, to, 1, MPI_INT, MPI_SUM, 0, comm);
}

#define TO_ALL(Name, name) \
    do { \
        NO_COMM(Name, name, from, 1, MPI_INT, to, 1, MPI_INT, comm); \
        NO_REQUEST(Name, name, from, 1, MPI_INT, to, 1, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, to, 1, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, 1, MPI_INT, to, -1, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, 1, MPI_DATATYPE_NULL, to, 1, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, 1, MPI_INT, to, 1, MPI_DATATYPE_NULL, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "commit", from, 1, uncommitted, to, 1, uncommitted, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", NULL, 1, MPI_INT, to, 1, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", from, 1, MPI_INT, NULL, 1, MPI_INT, comm); \
    } while (0)

#define TO_ALL_V(Name, name) \
    do { \
        NO_COMM(Name, name, from, 1, MPI_INT, to, ones, places, MPI_INT, comm); \
        NO_REQUEST(Name, name, from, 1, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, -1, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, 1, MPI_INT, to, minus, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, 1, MPI_INT, to, NULL, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, 1, MPI_INT, to, ones, NULL, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, 1, MPI_DATATYPE_NULL, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, 1, MPI_INT, to, ones, places, MPI_DATATYPE_NULL, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", NULL, 1, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", from, 1, MPI_INT, NULL, ones, places, MPI_INT, comm); \
    } while (0)

#define ALL_TO_ALL_V(Name, name) \
    do { \
        NO_COMM(Name, name, from, ones, places, MPI_INT, to, ones, places, MPI_INT, comm); \
        NO_REQUEST(Name, name, from, ones, places, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, minus, places, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, ones, places, MPI_INT, to, minus, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, NULL, places, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, ones, places, MPI_INT, to, ones, NULL, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, ones, places, MPI_DATATYPE_NULL, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "commit", from, ones, places, MPI_INT, to, ones, places, uncommitted, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", NULL, ones, places, MPI_INT, to, ones, places, MPI_INT, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", from, ones, places, MPI_INT, NULL, ones, places, MPI_INT, comm); \
    } while (0)

// `displacements` are in bytes: of type int, or MPI_Aint among neighbours.
#define ALL_TO_ALL_W(Name, name, displacements) \
    do { \
        NO_COMM(Name, name, from, ones, displacements, ints, to, ones, displacements, ints, comm); \
        NO_REQUEST(Name, name, from, ones, displacements, ints, to, ones, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, minus, displacements, ints, to, ones, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, ones, displacements, ints, to, minus, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, ones, displacements, NULL, to, ones, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_ARG, "null pointer", from, ones, displacements, ints, to, NULL, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, ones, displacements, none, to, ones, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "commit", from, ones, displacements, ints, to, ones, displacements, open_types, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", NULL, ones, displacements, ints, to, ones, displacements, ints, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", from, ones, displacements, ints, NULL, ones, displacements, ints, comm); \
    } while (0)

#define REDUCED(Name, name) \
    do { \
        NO_COMM(Name, name, from, to, 1, MPI_INT, MPI_SUM, comm); \
        NO_REQUEST(Name, name, from, to, 1, MPI_INT, MPI_SUM, comm); \
        THREE(Name, name, MPI_ERR_COUNT, "-1", from, to, -1, MPI_INT, MPI_SUM, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "datatype", from, to, 1, MPI_DATATYPE_NULL, MPI_SUM, comm); \
        THREE(Name, name, MPI_ERR_TYPE, "commit", from, to, 1, uncommitted, MPI_SUM, comm); \
        THREE(Name, name, MPI_ERR_OP, "operator", from, to, 1, MPI_INT, MPI_OP_NULL, comm); \
        THREE(Name, name, MPI_ERR_OP, "MPI_BAND", from, to, 1, MPI_FLOAT, MPI_BAND, comm); \
        THREE(Name, name, MPI_ERR_OP, "MPI_REPLACE", from, to, 1, MPI_INT, MPI_REPLACE, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", NULL, to, 1, MPI_INT, MPI_SUM, comm); \
        THREE(Name, name, MPI_ERR_BUFFER, "null", from, NULL, 1, MPI_INT, MPI_SUM, comm); \
        WRONG(MPI_##Name, (from, from, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER, "same"); \
    } while (0)

static void unrooted(MPI_Comm comm) {
    TO_ALL(Allgather, allgather);
    TO_ALL(Alltoall, alltoall);
    TO_ALL_V(Allgatherv, allgatherv);
    ALL_TO_ALL_V(Alltoallv, alltoallv);
    ALL_TO_ALL_W(Alltoallw, alltoallw, apart);
    REDUCED(Allreduce, allreduce);
    REDUCED(Scan, scan);
    REDUCED(Exscan, exscan);
    REDUCED(Reduce_scatter_block, reduce_scatter_block);

    NO_COMM(Reduce_scatter, reduce_scatter, from, to, ones, MPI_INT, MPI_SUM, comm);
    NO_REQUEST(Reduce_scatter, reduce_scatter, from, to, ones, MPI_INT, MPI_SUM, comm);
    THREE(Reduce_scatter, reduce_scatter, MPI_ERR_COUNT, "-1", from, to, minus, MPI_INT, MPI_SUM, comm);
    THREE(Reduce_scatter, reduce_scatter, MPI_ERR_ARG, "null pointer", from, to, NULL, MPI_INT, MPI_SUM, comm);
    THREE(Reduce_scatter, reduce_scatter, MPI_ERR_TYPE, "datatype", from, to, ones, MPI_DATATYPE_NULL, MPI_SUM, comm);
    THREE(Reduce_scatter, reduce_scatter, MPI_ERR_OP, "operator", from, to, ones, MPI_INT, MPI_OP_NULL, comm);
    THREE(Reduce_scatter, reduce_scatter, MPI_ERR_BUFFER, "null", NULL, to, ones, MPI_INT, MPI_SUM, comm);
}

// `ring`: a communicator with a topology, in which every rank has neighbours.
static void neighbours(MPI_Comm ring) {
    MPI_Comm comm = MPI_COMM_WORLD;
    THREE(Neighbor_allgather, neighbor_allgather, MPI_ERR_TOPOLOGY, "topology", from, 1, MPI_INT, to, 1, MPI_INT, comm);
    THREE(Neighbor_alltoall, neighbor_alltoall, MPI_ERR_TOPOLOGY, "topology", from, 1, MPI_INT, to, 1, MPI_INT, comm);
    THREE(Neighbor_allgatherv, neighbor_allgatherv, MPI_ERR_TOPOLOGY, "topology", from, 1, MPI_INT, to, ones, places, MPI_INT, comm);
    THREE(Neighbor_alltoallv, neighbor_alltoallv, MPI_ERR_TOPOLOGY, "topology", from, ones, places, MPI_INT, to, ones, places, MPI_INT, comm);
    THREE(Neighbor_alltoallw, neighbor_alltoallw, MPI_ERR_TOPOLOGY, "topology", from, ones, byte_places, ints, to, ones, byte_places, ints, comm);
    comm = ring;
    TO_ALL(Neighbor_allgather, neighbor_allgather);
    TO_ALL(Neighbor_alltoall, neighbor_alltoall);
    TO_ALL_V(Neighbor_allgatherv, neighbor_allgatherv);
    ALL_TO_ALL_V(Neighbor_alltoallv, neighbor_alltoallv);
    ALL_TO_ALL_W(Neighbor_alltoallw, neighbor_alltoallw, byte_places);
}

// The forms with large counts.
#define THREE_LARGE(Name, name, class, word, ...) \
    do { \
        WRONG(MPI_##Name##_c, (__VA_ARGS__), class, word); \
        WRONG(MPI_I##name##_c, (__VA_ARGS__, &request), class, word); \
        WRONG(MPI_##Name##_init_c, (__VA_ARGS__, MPI_INFO_NULL, &request), class, word); \
    } while (0)

static void large_counts(MPI_Comm comm, MPI_Comm ring) {
    static MPI_Count less[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    // More bytes than there are addresses.
    MPI_Count bad[] = {-1, (MPI_Count)1 << 62};
    for (int i = 0; i < 2; i++) {
        MPI_Count count = bad[i];
        THREE_LARGE(Bcast, bcast, MPI_ERR_COUNT, "count", from, count, MPI_INT, 0, comm);
        THREE_LARGE(Gather, gather, MPI_ERR_COUNT, "count", from, count, MPI_INT, to, count, MPI_INT, 0, comm);
        THREE_LARGE(Scatter, scatter, MPI_ERR_COUNT, "count", from, count, MPI_INT, to, count, MPI_INT, 0, comm);
        THREE_LARGE(Reduce, reduce, MPI_ERR_COUNT, "count", from, to, count, MPI_INT, MPI_SUM, 0, comm);
        THREE_LARGE(Allreduce, allreduce, MPI_ERR_COUNT, "count", from, to, count, MPI_INT, MPI_SUM, comm);
        THREE_LARGE(Scan, scan, MPI_ERR_COUNT, "count", from, to, count, MPI_INT, MPI_SUM, comm);
        THREE_LARGE(Exscan, exscan, MPI_ERR_COUNT, "count", from, to, count, MPI_INT, MPI_SUM, comm);
        THREE_LARGE(Reduce_scatter_block, reduce_scatter_block, MPI_ERR_COUNT, "count", from, to, count, MPI_INT, MPI_SUM, comm);
        THREE_LARGE(Allgather, allgather, MPI_ERR_COUNT, "count", from, 1, MPI_INT, to, count, MPI_INT, comm);
        THREE_LARGE(Alltoall, alltoall, MPI_ERR_COUNT, "count", from, count, MPI_INT, to, count, MPI_INT, comm);
        THREE_LARGE(Neighbor_allgather, neighbor_allgather, MPI_ERR_COUNT, "count", from, count, MPI_INT, to, count, MPI_INT, ring);
        THREE_LARGE(Neighbor_alltoall, neighbor_alltoall, MPI_ERR_COUNT, "count", from, count, MPI_INT, to, count, MPI_INT, ring);
        WRONG(MPI_Psend_init, (from, 2, count, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request), MPI_ERR_COUNT, "");
        WRONG(MPI_Precv_init, (from, 2, count, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request), MPI_ERR_COUNT, "");
    }
    THREE_LARGE(Reduce_scatter, reduce_scatter, MPI_ERR_COUNT, "count", from, to, less, MPI_INT, MPI_SUM, comm);
    THREE_LARGE(Allgatherv, allgatherv, MPI_ERR_COUNT, "count", from, 1, MPI_INT, to, less, byte_places, MPI_INT, comm);
    THREE_LARGE(Alltoallv, alltoallv, MPI_ERR_COUNT, "count", from, less, byte_places, MPI_INT, to, one, byte_places, MPI_INT, comm);
    THREE_LARGE(Alltoallw, alltoallw, MPI_ERR_COUNT, "count", from, less, byte_places, ints, to, one, byte_places, ints, comm);
    THREE_LARGE(Neighbor_allgatherv, neighbor_allgatherv, MPI_ERR_COUNT, "count", from, 1, MPI_INT, to, less, byte_places, MPI_INT, ring);
    THREE_LARGE(Neighbor_alltoallv, neighbor_alltoallv, MPI_ERR_COUNT, "count", from, less, byte_places, MPI_INT, to, one, byte_places, MPI_INT, ring);
    THREE_LARGE(Neighbor_alltoallw, neighbor_alltoallw, MPI_ERR_COUNT, "count", from, less, byte_places, ints, to, one, byte_places, ints, ring);
}

static void intercommunicators(int size, MPI_Errhandler handler) {
    MPI_Comm other = MPI_COMM_NULL, world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Group group, mine, empty = MPI_GROUP_EMPTY;
    int value = 0;
    CHECK_OK(MPI_Comm_group(self, &mine));
    for (int i = 0; i < 3; i++) {
        MPI_Comm bad = i == 0 ? MPI_COMM_NULL : i == 1 ? freed_comm : (MPI_Comm)MPI_INT;
        WRONG(MPI_Intercomm_create, (bad, 0, world, 0, 1, &other), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Intercomm_create, (self, 0, bad, 0, 1, &other), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Intercomm_merge, (bad, 0, &other), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_remote_size, (bad, &value), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_remote_group, (bad, &group), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_test_inter, (bad, &value), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_idup, (bad, &other, &request), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_idup_with_info, (bad, MPI_INFO_NULL, &other, &request), MPI_ERR_COMM, "communicator");
    }
    WRONG(MPI_Intercomm_create, (self, 1, world, 0, 1, &other), MPI_ERR_RANK, "rank");
    WRONG(MPI_Intercomm_create, (self, -1, world, 0, 1, &other), MPI_ERR_RANK, "rank");
    WRONG(MPI_Intercomm_create, (self, 0, world, size, 1, &other), MPI_ERR_RANK, "rank");
    WRONG(MPI_Intercomm_create, (self, 0, world, 0, -1, &other), MPI_ERR_TAG, "tag");
    WRONG(MPI_Intercomm_create, (self, 0, world, 0, 1, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Intercomm_merge, (world, 0, &other), MPI_ERR_COMM, "intercommunicator");
    WRONG(MPI_Comm_remote_size, (world, &value), MPI_ERR_COMM, "intercommunicator");
    WRONG(MPI_Comm_remote_group, (world, &group), MPI_ERR_COMM, "intercommunicator");
    WRONG(MPI_Comm_test_inter, (world, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Comm_idup, (world, NULL, &request), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Comm_idup, (world, &other, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Comm_idup_with_info, (world, bad_info, &other, &request), MPI_ERR_INFO, "info");
    WRONG(MPI_Comm_get_parent, (NULL), MPI_ERR_ARG, "null pointer");

    WRONG(MPI_Comm_create_from_group, (MPI_GROUP_NULL, "t", MPI_INFO_NULL, handler, &other), MPI_ERR_GROUP, "group");
    WRONG(MPI_Comm_create_from_group, (mine, NULL, MPI_INFO_NULL, handler, &other), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Comm_create_from_group, (mine, "t", bad_info, handler, &other), MPI_ERR_INFO, "info");
    WRONG(MPI_Comm_create_from_group, (mine, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &other), MPI_ERR_ERRHANDLER, "error handler");
    WRONG(MPI_Comm_create_from_group, (mine, "t", MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Intercomm_create_from_groups, (MPI_GROUP_NULL, 0, mine, 0, "t", MPI_INFO_NULL, handler, &other), MPI_ERR_GROUP, "group");
    WRONG(MPI_Intercomm_create_from_groups, (mine, 0, MPI_GROUP_NULL, 0, "t", MPI_INFO_NULL, handler, &other), MPI_ERR_GROUP, "group");
    WRONG(MPI_Intercomm_create_from_groups, (mine, 1, empty, 0, "t", MPI_INFO_NULL, handler, &other), MPI_ERR_RANK, "rank");
    WRONG(MPI_Intercomm_create_from_groups, (mine, 0, empty, 0, "t", MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Group_free(&mine));
}

static void partitions(int size) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request send, receive, plain, nothing = MPI_REQUEST_NULL, bad = (MPI_Request)(uintptr_t)0x123456;
    int flag = 0, list[] = {0, 9};
    for (int i = 0; i < 3; i++) {
        MPI_Comm bad_comm = i == 0 ? MPI_COMM_NULL : i == 1 ? freed_comm : (MPI_Comm)MPI_INT;
        WRONG(MPI_Psend_init, (from, 1, 1, MPI_INT, 0, 0, bad_comm, MPI_INFO_NULL, &request), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Precv_init, (to, 1, 1, MPI_INT, 0, 0, bad_comm, MPI_INFO_NULL, &request), MPI_ERR_COMM, "communicator");
    }
#define BOTH(class, word, buffer, ...) \
    do { \
        WRONG(MPI_Psend_init, (buffer, __VA_ARGS__), class, word); \
        WRONG(MPI_Precv_init, (buffer, __VA_ARGS__), class, word); \
    } while (0)
    BOTH(MPI_ERR_ARG, "-1", from, -1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_COUNT, "-1", from, 1, -1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_TYPE, "datatype", from, 1, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_TYPE, "commit", from, 1, 1, uncommitted, 0, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_BUFFER, "null", NULL, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_RANK, "rank", from, 1, 1, MPI_INT, size, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_RANK, "", from, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_TAG, "tag", from, 1, 1, MPI_INT, 0, -5, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_TAG, "", from, 1, 1, MPI_INT, 0, MPI_ANY_TAG, world, MPI_INFO_NULL, &request);
    BOTH(MPI_ERR_INFO, "info", from, 1, 1, MPI_INT, 0, 0, world, bad_info, &request);
    BOTH(MPI_ERR_ARG, "null pointer", from, 1, 1, MPI_INT, 0, 0, world, MPI_INFO_NULL, NULL);
#undef BOTH
    CHECK_OK(MPI_Psend_init(from, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(to, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Send_init(from, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &plain));
    for (int i = 0; i < 4; i++) {
        MPI_Request wrong = i == 0 ? nothing : i == 1 ? plain : i == 2 ? bad : receive;
        WRONG(MPI_Pready, (0, wrong), MPI_ERR_REQUEST, "request");
        WRONG(MPI_Pready_range, (0, 1, wrong), MPI_ERR_REQUEST, "request");
        WRONG(MPI_Pready_list, (1, list, wrong), MPI_ERR_REQUEST, "request");
        if (i > 0) WRONG(MPI_Parrived, (i == 3 ? send : wrong, 0, &flag), MPI_ERR_REQUEST, "request");
    }
    // It is not started.
    WRONG(MPI_Pready, (0, send), MPI_ERR_REQUEST, "start");
    MPI_Request both[] = {send, receive};
    CHECK_OK(MPI_Startall(2, both));
    WRONG(MPI_Pready, (2, send), MPI_ERR_ARG, "partition");
    WRONG(MPI_Pready, (-1, send), MPI_ERR_ARG, "partition");
    WRONG(MPI_Pready_range, (1, 0, send), MPI_ERR_ARG, "partition");
    WRONG(MPI_Pready_range, (0, 2, send), MPI_ERR_ARG, "partition");
    WRONG(MPI_Pready_list, (-1, list, send), MPI_ERR_COUNT, "-1");
    WRONG(MPI_Pready_list, (1, NULL, send), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Pready_list, (2, list, send), MPI_ERR_ARG, "partition");
    WRONG(MPI_Parrived, (receive, 2, &flag), MPI_ERR_ARG, "partition");
    WRONG(MPI_Parrived, (receive, 0, NULL), MPI_ERR_ARG, "null pointer");
    // None is ready after all that.
    CHECK_OK(MPI_Pready_range(0, 1, send));
    WRONG(MPI_Pready, (1, send), MPI_ERR_ARG, "partition");
    CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&both[0]));
    CHECK_OK(MPI_Request_free(&both[1]));
    CHECK_OK(MPI_Request_free(&plain));
}

static void sessions(MPI_Errhandler handler) {
    MPI_Session session, no_session = MPI_SESSION_NULL;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler found;
    int number = 0, length = 10;
    char name[MPI_MAX_PSET_NAME_LEN];
    void *address;
    MPI_Count large;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    WRONG(MPI_Session_init, (bad_info, handler, &no_session), MPI_ERR_INFO, "info");
    WRONG(MPI_Session_init, (MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &no_session), MPI_ERR_ERRHANDLER, "error handler");
    WRONG(MPI_Session_init, (MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_finalize, (NULL), MPI_ERR_ARG, "null pointer");
    for (int i = 0; i < 2; i++) {
        MPI_Session bad = i == 0 ? MPI_SESSION_NULL : (MPI_Session)(uintptr_t)0x7654321, variable = bad;
        WRONG(MPI_Session_finalize, (&variable), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_get_num_psets, (bad, MPI_INFO_NULL, &number), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_get_nth_pset, (bad, MPI_INFO_NULL, 0, &length, name), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_get_info, (bad, &info), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_get_pset_info, (bad, "mpi://SELF", &info), MPI_ERR_SESSION, "session");
        WRONG(MPI_Group_from_session_pset, (bad, "mpi://SELF", &group), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_get_errhandler, (bad, &found), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_set_errhandler, (bad, handler), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_call_errhandler, (bad, MPI_ERR_OTHER), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_attach_buffer, (bad, from, 4), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_attach_buffer_c, (bad, from, 4), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_detach_buffer, (bad, &address, &number), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_detach_buffer_c, (bad, &address, &large), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_flush_buffer, (bad), MPI_ERR_SESSION, "session");
        WRONG(MPI_Session_iflush_buffer, (bad, &request), MPI_ERR_SESSION, "session");
    }
    WRONG(MPI_Session_get_num_psets, (session, bad_info, &number), MPI_ERR_INFO, "info");
    WRONG(MPI_Session_get_num_psets, (session, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_get_nth_pset, (session, bad_info, 0, &length, name), MPI_ERR_INFO, "info");
    WRONG(MPI_Session_get_nth_pset, (session, MPI_INFO_NULL, 99, &length, name), MPI_ERR_ARG, "99");
    WRONG(MPI_Session_get_nth_pset, (session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG, "-1");
    WRONG(MPI_Session_get_info, (session, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_get_pset_info, (session, "nothing", &info), MPI_ERR_ARG, "nothing");
    WRONG(MPI_Session_get_pset_info, (session, NULL, &info), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_get_pset_info, (session, "mpi://SELF", NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Group_from_session_pset, (session, "nothing", &group), MPI_ERR_ARG, "nothing");
    WRONG(MPI_Group_from_session_pset, (session, "mpi://SELF", NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_set_errhandler, (session, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER, "error handler");
    WRONG(MPI_Session_get_errhandler, (session, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_attach_buffer, (session, from, -1), MPI_ERR_ARG, "-1");
    WRONG(MPI_Session_attach_buffer_c, (session, from, -1), MPI_ERR_ARG, "-1");
    WRONG(MPI_Session_detach_buffer, (session, &address, &number), MPI_ERR_BUFFER, "buffer");
    WRONG(MPI_Session_iflush_buffer, (session, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Session_attach_buffer(session, from, sizeof from));
    WRONG(MPI_Session_attach_buffer, (session, to, sizeof to), MPI_ERR_BUFFER, "buffer");
    WRONG(MPI_Session_detach_buffer, (session, NULL, &number), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Session_detach_buffer, (session, &address, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Session_detach_buffer(session, &address, &number));
    CHECK(address == from && number == sizeof from);
    CHECK_OK(MPI_Session_finalize(&session));
}

static void comm_buffers(void) {
    void *address;
    int number = 0;
    for (int i = 0; i < 2; i++) {
        MPI_Comm bad = i == 0 ? MPI_COMM_NULL : freed_comm;
        WRONG(MPI_Comm_attach_buffer, (bad, from, 4), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_detach_buffer, (bad, &address, &number), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_flush_buffer, (bad), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Comm_iflush_buffer, (bad, &request), MPI_ERR_COMM, "communicator");
    }
    WRONG(MPI_Comm_attach_buffer, (MPI_COMM_SELF, from, -1), MPI_ERR_ARG, "-1");
    WRONG(MPI_Comm_detach_buffer, (MPI_COMM_SELF, &address, &number), MPI_ERR_BUFFER, "buffer");
    WRONG(MPI_Comm_iflush_buffer, (MPI_COMM_SELF, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Buffer_iflush, (NULL), MPI_ERR_ARG, "null pointer");
    // A buffer that cannot be given back stays attached.
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_SELF, from, sizeof from));
    WRONG(MPI_Comm_attach_buffer, (MPI_COMM_SELF, to, sizeof to), MPI_ERR_BUFFER, "buffer");
    WRONG(MPI_Comm_detach_buffer, (MPI_COMM_SELF, NULL, &number), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Comm_detach_buffer, (MPI_COMM_SELF, &address, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_SELF, &address, &number));
    CHECK(address == from && number == sizeof from);
    CHECK_OK(MPI_Buffer_attach(from, sizeof from));
    WRONG(MPI_Buffer_detach, (&address, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Buffer_detach(&address, &number));
    CHECK(address == from && number == sizeof from);
}

static void environment(void) {
    int class = 0, code = 0;
    char *argv[] = {"program", NULL};
    MPI_Info info;
    WRONG(MPI_Info_create_env, (1, argv, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Get_hw_resource_info, (NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Remove_error_class, (MPI_ERR_OTHER), MPI_ERR_ARG, "class");
    WRONG(MPI_Remove_error_class, (-1), MPI_ERR_ARG, "class");
    WRONG(MPI_Remove_error_class, (1 << 29), MPI_ERR_ARG, "class");
    WRONG(MPI_Remove_error_code, (MPI_ERR_OTHER), MPI_ERR_ARG, "code");
    WRONG(MPI_Remove_error_code, (1 << 29), MPI_ERR_ARG, "code");
    WRONG(MPI_Remove_error_string, (MPI_ERR_OTHER), MPI_ERR_ARG, "code");
    WRONG(MPI_Remove_error_string, (1 << 29), MPI_ERR_ARG, "code");
    WRONG(MPI_Add_error_class, (NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Add_error_code, (1 << 29, &code), MPI_ERR_ARG, "class");
    WRONG(MPI_Add_error_string, (MPI_ERR_OTHER, "text"), MPI_ERR_ARG, "code");
    CHECK_OK(MPI_Add_error_class(&class));
    WRONG(MPI_Add_error_code, (class, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Add_error_string, (class, NULL), MPI_ERR_ARG, "null pointer");
    CHECK_OK(MPI_Add_error_code(class, &code));
    // A class whose codes exist, a class that is no code, and one that has no string.
    WRONG(MPI_Remove_error_class, (class), MPI_ERR_ARG, "class");
    WRONG(MPI_Remove_error_class, (code), MPI_ERR_ARG, "class");
    WRONG(MPI_Remove_error_code, (class), MPI_ERR_ARG, "code");
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_class(class));
    WRONG(MPI_Remove_error_class, (class), MPI_ERR_ARG, "class");
    CHECK_OK(MPI_Info_create_env(0, NULL, &info));
    CHECK_OK(MPI_Info_free(&info));
}

// Words that are no handles become handles that are none, and so does what no object has.
static void fortran(void) {
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Fint word = i == 0 ? -17 : 0x7ffffff0;
        WRONG(MPI_Comm_size, (MPI_Comm_f2c(word), &(int){0}), MPI_ERR_COMM, "communicator");
        WRONG(MPI_Type_size, (MPI_Type_f2c(word), &(int){0}), MPI_ERR_TYPE, "datatype");
        WRONG(MPI_Group_size, (MPI_Group_f2c(word), &(int){0}), MPI_ERR_GROUP, "group");
        WRONG(MPI_Info_get_nkeys, (MPI_Info_f2c(word), &(int){0}), MPI_ERR_INFO, "info");
        WRONG(MPI_Op_commutative, (MPI_Op_f2c(word), &(int){0}), MPI_ERR_OP, "operator");
        WRONG(MPI_Session_flush_buffer, (MPI_Session_f2c(word)), MPI_ERR_SESSION, "session");
        WRONG(MPI_Win_get_group, (MPI_Win_f2c(word), &(MPI_Group){0}), MPI_ERR_WIN, "window");
        WRONG(MPI_Comm_set_errhandler, (MPI_COMM_SELF, MPI_Errhandler_f2c(word)), MPI_ERR_ERRHANDLER, "error handler");
        WRONG(MPI_Request_get_status, (MPI_Request_f2c(word), &(int){0}, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "request");
    }
    // The library knows these values, so the program cannot set them.
    int yes = 1, no = 0, is_set;
    WRONG(MPI_Abi_get_fortran_booleans, (3, &yes, &no, &is_set), MPI_ERR_ARG, "logical_size is 3");
    WRONG(MPI_Abi_set_fortran_booleans, (-1, &yes, &no), MPI_ERR_ARG, "logical_size is -1");
    WRONG(MPI_Abi_get_fortran_booleans, (4, NULL, &no, &is_set), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Abi_get_fortran_booleans, (4, &yes, &no, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Abi_set_fortran_booleans, (4, &yes, NULL), MPI_ERR_ARG, "null pointer");
    WRONG(MPI_Abi_set_fortran_booleans, (4, &yes, &no), MPI_ERR_ABI, "ask MPI_Abi_get_fortran_booleans");
    WRONG(MPI_Abi_set_fortran_info, (MPI_INFO_ENV), MPI_ERR_ABI, "ask MPI_Abi_get_fortran_info");
    WRONG(MPI_Abi_set_fortran_info, (MPI_INFO_NULL), MPI_ERR_INFO, "info");
    WRONG(MPI_Abi_set_fortran_info, (bad_info), MPI_ERR_INFO, "info");
    // These are inline functions, which only return the class.
    MPI_Fint words[MPI_F_STATUS_SIZE] = {0};
    MPI_Status status;
    memset(&status, 0, sizeof status);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_f2c(NULL, &status), MPI_ERR_ARG);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_f2c(words, NULL), MPI_ERR_ARG);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_c2f(NULL, words), MPI_ERR_ARG);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_c2f(&status, NULL), MPI_ERR_ARG);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_f082c(NULL, &status), MPI_ERR_ARG);
    if (case_wanted < 0) CHECK_CLASS(MPI_Status_c2f08(&status, NULL), MPI_ERR_ARG);
}

// All cases. `handler` is what sessions do about errors.
static void all_cases(MPI_Errhandler handler) {
    MPI_Comm ring, comm = MPI_COMM_WORLD;
    MPI_Info freed;
    int size;
    for (int i = 0; i < 8; i++) ints[i] = MPI_INT, none[i] = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    for (int i = 0; i < 8; i++) open_types[i] = uncommitted;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &freed_comm));
    MPI_Comm variable = freed_comm;
    CHECK_OK(MPI_Comm_free(&variable));
    CHECK_OK(MPI_Info_create(&freed));
    bad_info = freed;
    CHECK_OK(MPI_Info_free(&freed));
    CHECK_OK(MPI_Cart_create(comm, 1, &size, ones, 0, &ring));
    if (case_wanted < 0) CHECK_OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    rooted(comm, size);
    unrooted(comm);
    neighbours(ring);
    large_counts(comm, ring);
    intercommunicators(size, handler);
    partitions(size);
    sessions(handler);
    comm_buffers();
    environment();
    fortran();
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Type_free(&uncommitted));
}

#endif
