// Memory does not grow with the number of past operations and objects.
#include "check.h"
#include "resident.h"

static int peer;

static void ignore_op(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

static void ignore_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

static void messages(void) {
    static char out[30000], in[30000];
    static const int sizes[] = {0, 8, 200, 30000};
    for (int i = 0; i < 100; i++) {
        MPI_Request requests[3];
        int n = sizes[i % 4], done = 0;
        CHECK_OK(MPI_Irecv(in, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]));
        CHECK_OK(MPI_Irecv(in, n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[2]));
        CHECK_OK(MPI_Cancel(&requests[2]));
        CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Send_init(out, n, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Request_free(&requests[0]));
        // Unexpected, then freed before it is complete.
        CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Request_free(&requests[0]));
        CHECK_OK(MPI_Recv(in, n, MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Isend(out, n, MPI_BYTE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[0]));
        while (!done) CHECK_OK(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
    }
}

static void objects(void) {
    MPI_Comm dup, split;
    MPI_Group group, other;
    MPI_Datatype type, copy;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler;
    int keyval, in = 0;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_set_attr(dup, keyval, &keyval));
    CHECK_OK(MPI_Comm_set_name(dup, "short-lived"));
    CHECK_OK(MPI_Comm_split(dup, 0, check_rank, &split));
    CHECK_OK(MPI_Allreduce(&check_rank, &in, 1, MPI_INT, MPI_SUM, split));
    CHECK_OK(MPI_Comm_group(split, &group));
    CHECK_OK(MPI_Group_excl(group, 1, (int[]){0}, &other));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Group_free(&group));
    if (other != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&other));
    CHECK_OK(MPI_Type_vector(100, 2, 5, MPI_INT, &type));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_commit(&copy));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Op_create(ignore_op, 1, &op));
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "key", "value"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_create_errhandler(ignore_error, &handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    enum { WARM = 40, ROUNDS = 400, ALLOWED_KIB = 4096 };
    peer = check_partner();
    long before = 0;
    for (int round = 0; round < WARM + ROUNDS; round++) {
        if (round == WARM) before = resident_kib();
        messages();
        for (int i = 0; i < 5; i++) objects();
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    long grown = resident_kib() - before;
    if (!CHECK(grown < ALLOWED_KIB)) fprintf(stderr, "  grown by %ld KiB in %d rounds\n", grown, ROUNDS);
    return check_finish();
}
