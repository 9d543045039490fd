// Unnamed predefined datatypes of Fortran's kinds of numbers: how they were made, messages and reductions.
// heddle: only
#include "check.h"

static void is(MPI_Datatype type, int combiner, int p, int r, int bytes) {
    int ints = -1, addresses = -1, types = -1, how = -1, size = -1, arguments[2] = {-1, -1};
    CHECK_OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &how));
    CHECK_EQ(how, combiner);
    CHECK_EQ(ints, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2);
    CHECK(addresses == 0 && types == 0);
    CHECK_OK(MPI_Type_get_contents(type, 2, 0, 0, arguments, NULL, NULL));
    CHECK_EQ(arguments[ints - 1], r);
    if (ints == 2) CHECK_EQ(arguments[0], p);
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_EQ(size, bytes);
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    static const struct {
        int p, r, bytes;
    } reals[] = {{6, 37, 4}, {MPI_UNDEFINED, 30, 4}, {3, MPI_UNDEFINED, 4}, {7, 37, 8}, {6, 38, 8}, {15, 307, 8}, {16, 0, 16}, {33, 4931, 16}};
    static const int integers[][2] = {{1, 1}, {2, 1}, {4, 2}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}};
    MPI_Datatype type, again, other;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        int p = reals[i].p, r = reals[i].r;
        CHECK_OK(MPI_Type_create_f90_real(p, r, &type));
        is(type, MPI_COMBINER_F90_REAL, p, r, reals[i].bytes);
        CHECK_OK(MPI_Type_create_f90_real(p, r, &again));
        CHECK(type == again);
        CHECK_OK(MPI_Type_create_f90_complex(p, r, &other));
        is(other, MPI_COMBINER_F90_COMPLEX, p, r, 2 * reals[i].bytes);
        CHECK(type != other);
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        CHECK_OK(MPI_Type_create_f90_integer(integers[i][0], &type));
        is(type, MPI_COMBINER_F90_INTEGER, 0, integers[i][0], integers[i][1]);
    }
    CHECK_CLASS(MPI_Type_create_f90_real(34, 0, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_complex(0, 5000, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);

    // They match the predefined type with the same data, in messages and in reductions.
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    double out[2] = {check_rank, check_rank + 0.5}, in[2] = {-1, -1}, sum = 0, one = 1;
    int greatest = -1;
    CHECK_OK(MPI_Type_create_f90_real(15, 307, &type));
    CHECK_OK(MPI_Sendrecv(out, 2, type, right, 1, in, 2, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == left && in[1] == left + 0.5);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == check_size);
    CHECK_OK(MPI_Type_create_f90_integer(9, &again));
    CHECK_OK(MPI_Allreduce(&check_rank, &greatest, 1, again, MPI_MAX, MPI_COMM_WORLD));
    CHECK_EQ(greatest, check_size - 1);

    // A datatype that is made of one hands out the same handle, which nobody frees.
    int count = 0;
    CHECK_OK(MPI_Type_contiguous(2, type, &other));
    CHECK_OK(MPI_Type_get_contents(other, 1, 0, 1, &count, NULL, &again));
    CHECK(count == 2 && again == type);
    CHECK_OK(MPI_Type_free(&other));
    CHECK_OK(MPI_Type_dup(type, &other));
    CHECK_OK(MPI_Type_free(&other));
    return check_finish();
}
