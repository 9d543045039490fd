// MPI_Type_get_envelope and MPI_Type_get_contents return the arguments that a type was made from.
#include "check.h"

static void envelope(MPI_Datatype type, int ints, int addresses, int types, int combiner) {
    int i = -1, a = -1, t = -1, c = -1;
    CHECK_OK(MPI_Type_get_envelope(type, &i, &a, &t, &c));
    CHECK_EQ(i, ints);
    CHECK_EQ(a, addresses);
    CHECK_EQ(t, types);
    CHECK_EQ(c, combiner);
}

static int ints[16];
static MPI_Aint addresses[16];
static MPI_Datatype types[16];

static void contents(MPI_Datatype type, int n_ints, int n_addresses, int n_types) {
    memset(ints, 0x33, sizeof ints);
    CHECK_OK(MPI_Type_get_contents(type, n_ints, n_addresses, n_types, ints, addresses, types));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Datatype t, u;

    CHECK_OK(MPI_Type_contiguous(7, MPI_INT, &t));
    envelope(t, 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
    contents(t, 1, 0, 1);
    CHECK(ints[0] == 7 && types[0] == MPI_INT);

    CHECK_OK(MPI_Type_vector(2, 3, -4, t, &u));
    envelope(u, 3, 0, 1, MPI_COMBINER_VECTOR);
    contents(u, 3, 0, 1);
    CHECK(ints[0] == 2 && ints[1] == 3 && ints[2] == -4);
    // The inner type comes as a handle of our own to free, equal to the one it stands for.
    int size = 0;
    CHECK_OK(MPI_Type_size(types[0], &size));
    CHECK_EQ(size, 28);
    envelope(types[0], 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
    CHECK_OK(MPI_Type_free(&types[0]));
    CHECK_OK(MPI_Type_free(&u));
    CHECK_OK(MPI_Type_size(t, &size));
    CHECK_EQ(size, 28);

    CHECK_OK(MPI_Type_dup(t, &u));
    envelope(u, 0, 0, 1, MPI_COMBINER_DUP);
    contents(u, 0, 0, 1);
    CHECK_OK(MPI_Type_free(&types[0]));
    CHECK_OK(MPI_Type_free(&u));
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_hvector(2, 3, 44, MPI_CHAR, &t));
    envelope(t, 2, 1, 1, MPI_COMBINER_HVECTOR);
    contents(t, 2, 1, 1);
    CHECK(ints[0] == 2 && ints[1] == 3 && addresses[0] == 44 && types[0] == MPI_CHAR);
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_indexed(2, (int[]){1, 2}, (int[]){3, 4}, MPI_LONG, &t));
    envelope(t, 5, 0, 1, MPI_COMBINER_INDEXED);
    contents(t, 5, 0, 1);
    CHECK(ints[0] == 2 && ints[1] == 1 && ints[2] == 2 && ints[3] == 3 && ints[4] == 4 && types[0] == MPI_LONG);
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){30, 40}, MPI_LONG, &t));
    envelope(t, 3, 2, 1, MPI_COMBINER_HINDEXED);
    contents(t, 3, 2, 1);
    CHECK(ints[0] == 2 && ints[1] == 1 && ints[2] == 2 && addresses[0] == 30 && addresses[1] == 40);
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_indexed_block(2, 6, (int[]){10, 0}, MPI_INT, &t));
    envelope(t, 4, 0, 1, MPI_COMBINER_INDEXED_BLOCK);
    contents(t, 4, 0, 1);
    CHECK(ints[0] == 2 && ints[1] == 6 && ints[2] == 10 && ints[3] == 0);
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){8, 16}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &t));
    envelope(t, 3, 2, 2, MPI_COMBINER_STRUCT);
    contents(t, 3, 2, 2);
    CHECK(ints[0] == 2 && ints[1] == 1 && ints[2] == 2 && addresses[0] == 8 && addresses[1] == 16);
    CHECK(types[0] == MPI_DOUBLE && types[1] == MPI_INT);
    CHECK_OK(MPI_Type_free(&t));

    CHECK_OK(MPI_Type_create_resized(MPI_INT, -8, 32, &t));
    envelope(t, 0, 2, 1, MPI_COMBINER_RESIZED);
    contents(t, 0, 2, 1);
    CHECK(addresses[0] == -8 && addresses[1] == 32 && types[0] == MPI_INT);
    CHECK_OK(MPI_Type_free(&t));

    // A named type has no contents.
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 1, 1, 1, ints, addresses, types), MPI_ERR_TYPE);
    return check_finish();
}
