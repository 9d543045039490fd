// Intercommunicators: made, asked, duplicated, split, merged; messages and all collectives between their groups, in all
// forms. The groups are of different sizes and their leaders are not the first processes.
// ranks: 2-8
#include "check.h"

static MPI_Comm local, inter;
// The first group has the even ranks of the world, the second the odd ones, backwards.
static int side, rank, size, remote_size, remote_ranks[64];

static void make(void) {
    side = check_rank % 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, side ? -check_rank : check_rank, &local));
    CHECK_OK(MPI_Comm_rank(local, &rank));
    CHECK_OK(MPI_Comm_size(local, &size));
    remote_size = check_size - size;
    for (int i = 0; i < remote_size; i++) remote_ranks[i] = side ? 2 * i : 2 * (remote_size - 1 - i) + 1;
    // The last process of each group is its leader.
    CHECK_OK(MPI_Intercomm_create(local, size - 1, MPI_COMM_WORLD, remote_ranks[remote_size - 1], 77, &inter));
}

static void asked(MPI_Comm comm) {
    int flag = 0, number = -1, result = -1;
    MPI_Group group, remote, world;
    CHECK_OK(MPI_Comm_test_inter(comm, &flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Comm_size(comm, &number));
    CHECK_EQ(number, size);
    CHECK_OK(MPI_Comm_rank(comm, &number));
    CHECK_EQ(number, rank);
    CHECK_OK(MPI_Comm_remote_size(comm, &number));
    CHECK_EQ(number, remote_size);
    CHECK_OK(MPI_Comm_remote_group(comm, &remote));
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < remote_size; i++) {
        CHECK_OK(MPI_Group_translate_ranks(remote, 1, &i, world, &number));
        CHECK_EQ(number, remote_ranks[i]);
    }
    CHECK_OK(MPI_Group_translate_ranks(group, 1, &rank, world, &number));
    CHECK_EQ(number, check_rank);
    CHECK_OK(MPI_Comm_compare(comm, inter, &result));
    CHECK(comm == inter ? result == MPI_IDENT : result == MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(comm, local, &result));
    CHECK_EQ(result, MPI_UNEQUAL);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&remote));
    CHECK_OK(MPI_Group_free(&world));
}

static void messages(MPI_Comm comm) {
    MPI_Request requests[64];
    MPI_Status status;
    int out = check_rank, in[64], n = 0;
    for (int i = 0; i < remote_size; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, i, 5, comm, &requests[n++]));
    // Also to the remote process whose rank is this one's own.
    for (int i = 0; i < remote_size; i++) CHECK_OK(MPI_Send(&out, 1, MPI_INT, i, 5, comm));
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < remote_size; i++) CHECK_EQ(in[i], remote_ranks[i]);
    if (rank < remote_size) CHECK_OK(MPI_Send(&out, 1, MPI_INT, rank, 6, comm));
    if (rank < remote_size) {
        CHECK_OK(MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        CHECK_EQ(status.MPI_SOURCE, rank);
        CHECK_EQ(in[0], remote_ranks[rank]);
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, rank, 7, in, 1, MPI_INT, rank, 7, comm, &status));
        CHECK_EQ(in[0], remote_ranks[rank]);
    }
    CHECK_CLASS(MPI_Send(&out, 1, MPI_INT, remote_size, 8, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(in, 1, MPI_INT, remote_size, 8, comm, &status), MPI_ERR_RANK);
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static enum form form;
static MPI_Request request;

static int complete(int code) {
    if (code == MPI_SUCCESS && form == PERSISTENT) code = MPI_Start(&request);
    if (code == MPI_SUCCESS && form != BLOCKING) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && form == PERSISTENT) code = MPI_Request_free(&request);
    return code;
}

#define CALL(name, iname, ...)                                                                                         \
    CHECK_OK(complete(form == BLOCKING      ? MPI_##name(__VA_ARGS__)                                                  \
                      : form == NONBLOCKING ? MPI_I##iname(__VA_ARGS__, &request)                                      \
                                            : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)))

// The operand of the lowest rank.
static void lowest(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)type;
    memcpy(inout, in, (size_t)*len * sizeof(int));
}

// The data of rank `from` of group `of`, for rank `to`.
static int value(int of, int from, int to, int i) { return of * 1000000 + from * 10000 + to * 100 + i % 97; }

static int sum_of_remote(int i, int to) {
    int sum = 0;
    for (int r = 0; r < remote_size; r++) sum += value(1 - side, r, to, i);
    return sum;
}

static void collectives(MPI_Comm comm, int n, MPI_Op op) {
    int larger = size > remote_size ? size : remote_size, wrong = 0;
    int *out = check_alloc(sizeof(int) * (size_t)(n * larger * 2)), *in = check_alloc(sizeof(int) * (size_t)(n * larger * 2));
    int counts[64], displs[64];
    for (int r = 0; r < 64; r++) counts[r] = n, displs[r] = r * n;
    // Both groups have a root once.
    for (int rooted = 0; rooted < 2; rooted++) {
        int here = side == rooted, last = (here ? size : remote_size) - 1;
        int root = here ? (rank == last ? MPI_ROOT : MPI_PROC_NULL) : last;
        for (int i = 0; i < n; i++) in[i] = root == MPI_ROOT ? value(side, rank, 0, i) : -1;
        CALL(Bcast, bcast, root == MPI_PROC_NULL ? NULL : in, n, MPI_INT, root, comm);
        if (!here)
            for (int i = 0; i < n; i++) wrong += in[i] != value(1 - side, last, 0, i);
        for (int each = 0; each < 2; each++) {
            for (int i = 0; i < n; i++) out[i] = value(side, rank, 0, i);
            if (each) {
                CALL(Gatherv, gatherv, out, n, MPI_INT, in, counts, displs, MPI_INT, root, comm);
            } else {
                CALL(Gather, gather, out, n, MPI_INT, in, n, MPI_INT, root, comm);
            }
            if (root == MPI_ROOT)
                for (int i = 0; i < n * remote_size; i++) wrong += in[i] != value(1 - side, i / n, 0, i % n);
            for (int i = 0; i < n * larger; i++) out[i] = value(side, rank, i / n, i % n);
            if (each) {
                CALL(Scatterv, scatterv, out, counts, displs, MPI_INT, in, n, MPI_INT, root, comm);
            } else {
                CALL(Scatter, scatter, out, n, MPI_INT, in, n, MPI_INT, root, comm);
            }
            if (!here)
                for (int i = 0; i < n; i++) wrong += in[i] != value(1 - side, last, rank, i);
        }
        for (int i = 0; i < n; i++) out[i] = value(side, rank, 0, i);
        // Beside the root all arguments are ignored, also an operator that its datatype does not have.
        MPI_Datatype combined = root == MPI_PROC_NULL ? MPI_BYTE : MPI_INT;
        CALL(Reduce, reduce, out, in, n, combined, MPI_SUM, root, comm);
        if (root == MPI_ROOT)
            for (int i = 0; i < n; i++) wrong += in[i] != sum_of_remote(i, 0);
        CHECK_EQ(wrong, 0);
    }
    for (int each = 0; each < 2; each++) {
        for (int i = 0; i < n; i++) out[i] = value(side, rank, 0, i);
        if (each) {
            CALL(Allgatherv, allgatherv, out, n, MPI_INT, in, counts, displs, MPI_INT, comm);
        } else {
            CALL(Allgather, allgather, out, n, MPI_INT, in, n, MPI_INT, comm);
        }
        for (int i = 0; i < n * remote_size; i++) wrong += in[i] != value(1 - side, i / n, 0, i % n);
        for (int i = 0; i < n * remote_size; i++) out[i] = value(side, rank, i / n, i % n);
        if (each) {
            CALL(Alltoallv, alltoallv, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm);
        } else {
            CALL(Alltoall, alltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
        }
        for (int i = 0; i < n * remote_size; i++) wrong += in[i] != value(1 - side, i / n, rank, i % n);
    }
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < n; i++) out[i] = value(side, rank, 0, i);
    CALL(Allreduce, allreduce, out, in, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++) wrong += in[i] != sum_of_remote(i, 0);
    CALL(Allreduce, allreduce, out, in, n, MPI_INT, op, comm);
    for (int i = 0; i < n; i++) wrong += in[i] != value(1 - side, 0, 0, i);
    CHECK_EQ(wrong, 0);
    // Both groups contribute vectors of one length, which each divides among its processes.
    int total = n * size * remote_size, mine = n * remote_size;
    out = realloc(out, sizeof(int) * (size_t)(total + 1));
    for (int i = 0; i < total; i++) out[i] = rank * 10 + i % 1000 + side;
    for (int r = 0; r < size; r++) counts[r] = mine;
    in = realloc(in, sizeof(int) * (size_t)(mine + 1));
    for (int block = 0; block < 2; block++) {
        if (block) {
            CALL(Reduce_scatter_block, reduce_scatter_block, out, in, mine, MPI_INT, MPI_SUM, comm);
        } else {
            CALL(Reduce_scatter, reduce_scatter, out, in, counts, MPI_INT, MPI_SUM, comm);
        }
        for (int i = 0; i < mine; i++)
            wrong += in[i] != 10 * remote_size * (remote_size - 1) / 2 + remote_size * ((rank * mine + i) % 1000 + 1 - side);
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(complete(form == BLOCKING      ? MPI_Barrier(comm)
                      : form == NONBLOCKING ? MPI_Ibarrier(comm, &request)
                                            : MPI_Barrier_init(comm, MPI_INFO_NULL, &request)));
    free(out);
    free(in);
}

static void derived(void) {
    MPI_Comm other, merged;
    int flag = -1, number = -1, low = -1;
    CHECK_OK(MPI_Comm_dup(inter, &other));
    asked(other);
    messages(other);
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_idup(inter, &other, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    asked(other);
    messages(other);
    form = BLOCKING;
    CHECK_OK(MPI_Barrier(other));
    CHECK_OK(MPI_Comm_free(&other));
    // The second group is high, then both say the same: the first process of the world comes first.
    for (int same = 0; same < 2; same++) {
        CHECK_OK(MPI_Intercomm_merge(inter, same ? 0 : !side, &merged));
        CHECK_OK(MPI_Comm_test_inter(merged, &flag));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Comm_rank(merged, &number));
        CHECK_EQ(number, (same ? side == 0 : side == 1) ? rank : remote_size + rank);
        CHECK_OK(MPI_Allreduce(&check_rank, &low, 1, MPI_INT, MPI_MIN, merged));
        CHECK_EQ(low, 0);
        CHECK_OK(MPI_Comm_free(&merged));
    }
    // Pairs of the same rank; those left over have nobody on the other side.
    CHECK_OK(MPI_Comm_split(inter, rank, 0, &other));
    if (rank < remote_size) {
        CHECK_OK(MPI_Comm_remote_size(other, &number));
        CHECK_EQ(number, 1);
        CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, 0, 0, &number, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE));
        CHECK_EQ(number, remote_ranks[rank]);
        CHECK_OK(MPI_Comm_free(&other));
    } else {
        CHECK(other == MPI_COMM_NULL);
    }
    // The first process of each group.
    MPI_Group group, first;
    CHECK_OK(MPI_Comm_group(inter, &group));
    CHECK_OK(MPI_Group_incl(group, 1, (int[]){0}, &first));
    CHECK_OK(MPI_Comm_create(inter, first, &other));
    CHECK(other == MPI_COMM_NULL ? rank != 0 : rank == 0);
    if (rank == 0) {
        CHECK_OK(MPI_Comm_remote_size(other, &number));
        CHECK_EQ(number, 1);
        CHECK_OK(MPI_Barrier(other));
        CHECK_OK(MPI_Comm_free(&other));
    }
    CHECK_OK(MPI_Comm_create(inter, side ? MPI_GROUP_EMPTY : first, &other));
    CHECK(other == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&first));
}

// The same communicators, from groups alone.
static void from_groups(void) {
    MPI_Group mine, theirs;
    MPI_Comm comm, again[3];
    int result = -1;
    CHECK_OK(MPI_Comm_group(inter, &mine));
    CHECK_OK(MPI_Comm_remote_group(inter, &theirs));
    CHECK_OK(MPI_Intercomm_create_from_groups(mine, size - 1, theirs, remote_size - 1, "org.example.pair", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &comm));
    asked(comm);
    messages(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    // Several of one group.
    const char *names[] = {"org.example.a", "org.example.b", "org.example.c"};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Comm_create_from_group(mine, names[i], MPI_INFO_NULL, MPI_ERRORS_RETURN, &again[i]));
        CHECK_OK(MPI_Comm_compare(again[i], local, &result));
        CHECK_EQ(result, MPI_CONGRUENT);
        CHECK_CLASS(MPI_Bcast(&result, 1, MPI_INT, size, again[i]), MPI_ERR_ROOT);
        CHECK_OK(MPI_Barrier(again[i]));
    }
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Comm_free(&again[i]));
    CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "org.example.none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(mine, size, theirs, 0, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_RANK);
    CHECK_OK(MPI_Group_free(&mine));
    CHECK_OK(MPI_Group_free(&theirs));
}

static void refused(void) {
    MPI_Comm other = MPI_COMM_NULL;
    int value = 0, result = 0;
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Cart_create(inter, 1, (int[]){1}, (int[]){0}, 0, &other), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, remote_size, inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &result), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &other), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(local, size, MPI_COMM_WORLD, 0, 1, &other), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &other), MPI_ERR_TAG);
    CHECK(other == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    make();
    CHECK_OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    asked(inter);
    messages(inter);
    MPI_Op op;
    CHECK_OK(MPI_Op_create(lowest, 0, &op));
    for (form = BLOCKING; form < FORMS; form++) {
        collectives(inter, 3, op);
        collectives(inter, 3000, op);
    }
    CHECK_OK(MPI_Op_free(&op));
    derived();
    from_groups();
    refused();
    CHECK_OK(MPI_Comm_disconnect(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return check_finish();
}
