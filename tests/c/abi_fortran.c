// The library has truth values of Fortran in every size, at any time and address. The program cannot set them.
// levels: none
// ranks: 1-2
#include "check.h"
#include "threads.h"

static const int sizes[] = {1, 2, 4, 8, 16};
static const int no_sizes[] = {0, -1, -4, 3, 5, 12, 32, INT32_MAX, INT32_MIN};

// No byte around a value is written.
static void has_values(int size) {
    unsigned char is_true[3 * 16], is_false[3 * 16], wanted[3 * 16];
    int is_set = -1;
    // An odd address.
    int at = 17;
    memset(is_true, 0xa5, sizeof is_true);
    memset(is_false, 0xa5, sizeof is_false);
    CHECK_OK(MPI_Abi_get_fortran_booleans(size, is_true + at, is_false + at, &is_set));
    CHECK_EQ(is_set, 1);
    memset(wanted, 0xa5, sizeof wanted);
    memset(wanted + at, 0, (size_t)size);
    CHECK(memcmp(is_false, wanted, sizeof wanted) == 0);
    wanted[at] = 1;
    CHECK(memcmp(is_true, wanted, sizeof wanted) == 0);
}

// MPICH needs a running library for this, and knows one size only.
static void has_all_values(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!oracle || sizes[i] == 4) has_values(sizes[i]);
    }
}

static void in_a_thread(int thread, void *unused) {
    (void)thread, (void)unused;
    for (int i = 0; i < 100; i++) has_all_values();
}

static void errors(void) {
    unsigned char is_true[16] = {7}, is_false[16] = {7};
    int one = 1, zero = 0, is_set = -1;
    for (size_t i = 0; !oracle && i < sizeof no_sizes / sizeof *no_sizes; i++) {
        CHECK_CLASS(MPI_Abi_get_fortran_booleans(no_sizes[i], is_true, is_false, &is_set), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Abi_set_fortran_booleans(no_sizes[i], is_true, is_false), MPI_ERR_ARG);
    }
    CHECK(is_true[0] == 7 && is_false[0] == 7 && is_set == -1);
    if (!oracle) {
        CHECK_CLASS(MPI_Abi_get_fortran_booleans(4, NULL, is_false, &is_set), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Abi_get_fortran_booleans(4, is_true, NULL, &is_set), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Abi_get_fortran_booleans(4, is_true, is_false, NULL), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, NULL, &zero), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &one, NULL), MPI_ERR_ARG);
    }
    // The values that are known cannot be set either.
    for (int i = 0; i < 2; i++) {
        CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &one, &zero), MPI_ERR_ABI);
        CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &zero, &one), MPI_ERR_ABI);
        CHECK_CLASS(PMPI_Abi_set_fortran_booleans(4, &one, &zero), MPI_ERR_ABI);
    }
}

// The sizes that the info object names are those that have values.
static void info(void) {
    MPI_Info info = MPI_INFO_NULL;
    char key[64], value[8];
    CHECK_OK(MPI_Abi_get_fortran_info(&info));
    for (int size = 1; size <= 32; size++) {
        unsigned char is_true[32], is_false[32];
        int is_set = 0, flag = 0, length = sizeof value;
        snprintf(key, sizeof key, "mpi_logical%d_supported", size);
        CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
        bool is_supported = flag && strcmp(value, "true") == 0;
        if (!oracle) {
            int code = MPI_Abi_get_fortran_booleans(size, is_true, is_false, &is_set);
            CHECK_CLASS(code, is_supported ? MPI_SUCCESS : MPI_ERR_ARG);
        }
    }
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    CHECK_CLASS(PMPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    if (!oracle) {
        CHECK_CLASS(MPI_Abi_set_fortran_info(MPI_INFO_ENV), MPI_ERR_ABI);
        CHECK_CLASS(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO);
        CHECK_CLASS(MPI_Abi_set_fortran_info((MPI_Info)0xdeadbeef), MPI_ERR_INFO);
    }
    // Nothing has changed.
    int length = sizeof value, flag = 0;
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Abi_get_fortran_info(&info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_logical_size", &length, value, &flag));
    CHECK(flag && strcmp(value, "4") == 0);
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    if (!oracle) has_all_values();
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    has_all_values();
    errors();
    info();
    has_all_values();
    threads_run(4, in_a_thread, NULL);
    CHECK_OK(MPI_Finalize());
    if (!oracle) has_all_values();
    return check_status();
}
