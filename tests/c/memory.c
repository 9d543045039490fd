// MPI_Alloc_mem and MPI_Free_mem, addresses and displacements.
#include "check.h"

static void allocated(void) {
    static const MPI_Aint sizes[] = {1, 64, 4096, 100000, 8 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned char *p = NULL;
        CHECK_OK(MPI_Alloc_mem(sizes[s], MPI_INFO_NULL, &p));
        if (!CHECK(p != NULL)) continue;
        CHECK_EQ((uintptr_t)p % sizeof(void *), 0);
        pattern_fill(p, (size_t)sizes[s], (unsigned)s);
        CHECK_PATTERN(p, (size_t)sizes[s], (unsigned)s);
        CHECK_OK(MPI_Free_mem(p));
    }
    void *none = NULL;
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &none));
    CHECK_OK(MPI_Free_mem(none));
    CHECK_OK(MPI_Free_mem(NULL));
}

static void with_info(void) {
    MPI_Info info = MPI_INFO_NULL;
    void *p = NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "256"));
    CHECK_OK(MPI_Alloc_mem(1000, info, &p));
    CHECK_EQ((uintptr_t)p % 256, 0);
    CHECK_OK(MPI_Free_mem(p));
    CHECK_OK(MPI_Info_free(&info));
}

static void used_for_messages(void) {
    int *a = NULL, *b = NULL, n = 50000, peer = check_partner();
    CHECK_OK(MPI_Alloc_mem(n * (MPI_Aint)sizeof *a, MPI_INFO_NULL, &a));
    CHECK_OK(MPI_Alloc_mem(n * (MPI_Aint)sizeof *b, MPI_INFO_NULL, &b));
    for (int i = 0; i < n; i++) a[i] = i * 3 + check_rank;
    CHECK_OK(MPI_Sendrecv(a, n, MPI_INT, peer, 1, b, n, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += b[i] != i * 3 + peer;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Free_mem(a));
    CHECK_OK(MPI_Free_mem(b));
}

static void addresses(void) {
    struct {
        char c;
        double d[4];
    } s;
    MPI_Aint base = 0, first = 0, last = 0;
    CHECK_OK(MPI_Get_address(&s, &base));
    CHECK_OK(MPI_Get_address(&s.d[0], &first));
    CHECK_OK(MPI_Get_address(&s.d[3], &last));
    CHECK_EQ(MPI_Aint_diff(last, first), 3 * sizeof(double));
    CHECK_EQ(MPI_Aint_diff(first, last), -3 * (long long)sizeof(double));
    CHECK_EQ(MPI_Aint_add(first, 3 * sizeof(double)), last);
    CHECK_EQ(MPI_Aint_diff(first, base), (char *)&s.d[0] - (char *)&s);
    CHECK_EQ(base, (MPI_Aint)&s);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    allocated();
    with_info();
    used_for_messages();
    addresses();
    return check_finish();
}
