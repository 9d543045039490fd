// Derived datatypes: size, extent, true extent of each constructor and of constructors on constructors.
#include "check.h"

static void measures(MPI_Datatype type, int size, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent, int line) {
    int s = -1;
    MPI_Aint l = -99, e = -99, tl = -99, te = -99;
    CHECK_OK(MPI_Type_size(type, &s));
    CHECK_OK(MPI_Type_get_extent(type, &l, &e));
    CHECK_OK(MPI_Type_get_true_extent(type, &tl, &te));
    if (s != size || l != lb || e != extent || tl != true_lb || te != true_extent) {
        fprintf(stderr, "type_construct.c:%d: size %d lb %ld extent %ld true %ld %ld\n", line, s, (long)l, (long)e, (long)tl, (long)te);
        CHECK(!"the measures of the type on this line");
    }
}

#define MEASURES(...) measures(__VA_ARGS__, __LINE__)

static void drop(MPI_Datatype *type) {
    CHECK_OK(MPI_Type_free(type));
    CHECK(*type == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Datatype t, u, v;

    CHECK_OK(MPI_Type_contiguous(5, MPI_INT, &t));
    MEASURES(t, 20, 0, 20, 0, 20);
    drop(&t);
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &t));
    MEASURES(t, 0, 0, 0, 0, 0);
    CHECK_OK(MPI_Type_commit(&t));
    CHECK_OK(MPI_Sendrecv(NULL, 4, t, 0, 0, NULL, 4, t, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    drop(&t);

    CHECK_OK(MPI_Type_vector(3, 2, 5, MPI_INT, &t));
    MEASURES(t, 24, 0, 48, 0, 48);
    drop(&t);
    CHECK_OK(MPI_Type_vector(3, 2, -5, MPI_INT, &t));
    MEASURES(t, 24, -40, 48, -40, 48);
    drop(&t);
    CHECK_OK(MPI_Type_vector(1, 4, 100, MPI_INT, &t));
    MEASURES(t, 16, 0, 16, 0, 16);
    drop(&t);
    CHECK_OK(MPI_Type_create_hvector(3, 1, 10, MPI_SHORT, &t));
    MEASURES(t, 6, 0, 22, 0, 22);
    drop(&t);

    CHECK_OK(MPI_Type_indexed(3, (int[]){2, 0, 1}, (int[]){4, 9, 1}, MPI_INT, &t));
    MEASURES(t, 12, 4, 20, 4, 20);
    drop(&t);
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){-8, 8}, MPI_INT, &t));
    MEASURES(t, 12, -8, 24, -8, 24);
    drop(&t);
    CHECK_OK(MPI_Type_create_indexed_block(3, 2, (int[]){0, 5, 10}, MPI_SHORT, &t));
    MEASURES(t, 12, 0, 24, 0, 24);
    drop(&t);
    CHECK_OK(MPI_Type_create_hindexed_block(2, 3, (MPI_Aint[]){16, 2}, MPI_CHAR, &t));
    MEASURES(t, 6, 2, 17, 2, 17);
    drop(&t);

    // A struct is padded to the alignment of its members.
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &t));
    MEASURES(t, 9, 0, 16, 0, 9);
    CHECK_OK(MPI_Type_contiguous(2, t, &u));
    MEASURES(u, 18, 0, 32, 0, 25);
    drop(&u);
    drop(&t);
    CHECK_OK(MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){4, 0}, (MPI_Datatype[]){MPI_SHORT, MPI_INT}, &t));
    MEASURES(t, 8, 0, 8, 0, 8);
    drop(&t);

    // An old type ends with its padding, also at a stride that is no multiple of the alignment.
    CHECK_OK(MPI_Type_create_hvector(3, 4, 49, MPI_LONG, &t));
    MEASURES(t, 96, 0, 136, 0, 130);
    CHECK_OK(MPI_Type_create_hvector(2, 3, 4 * 136 + 1, t, &u));
    MEASURES(u, 576, 0, 960, 0, 947);
    drop(&u);
    drop(&t);

    CHECK_OK(MPI_Type_create_resized(MPI_INT, -4, 16, &t));
    MEASURES(t, 4, -4, 16, 0, 4);
    CHECK_OK(MPI_Type_contiguous(3, t, &u));
    MEASURES(u, 12, -4, 48, 0, 36);
    CHECK_OK(MPI_Type_vector(2, 2, 3, t, &v));
    MEASURES(v, 16, -4, 80, 0, 68);
    drop(&t);
    drop(&v);
    // A type built from a freed type lives on.
    CHECK_OK(MPI_Type_dup(u, &v));
    drop(&u);
    MEASURES(v, 12, -4, 48, 0, 36);
    // Resized again, to less than it spans.
    CHECK_OK(MPI_Type_create_resized(v, 0, 4, &t));
    MEASURES(t, 12, 0, 4, 0, 36);
    drop(&v);
    drop(&t);

    // Names.
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &t));
    CHECK_OK(MPI_Type_get_name(t, name, &len));
    CHECK_EQ(len, 0);
    CHECK_OK(MPI_Type_set_name(t, "pair of threads"));
    CHECK_OK(MPI_Type_get_name(t, name, &len));
    CHECK(strcmp(name, "pair of threads") == 0 && len == 15);
    CHECK_OK(MPI_Type_commit(&t));
    CHECK_OK(MPI_Type_commit(&t));
    drop(&t);
    return check_finish();
}
