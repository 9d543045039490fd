// MPI_Init with null arguments, and attributes of COMM_SELF deleted first in MPI_Finalize, last set first.
// levels: none
#include "check.h"

static int deleted[3], deleted_count;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval;
    (void)extra;
    int finalized = -1, size = 0;
    CHECK_OK(MPI_Finalized(&finalized));
    CHECK_EQ(finalized, 0);
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_EQ(size, 1);
    if (deleted_count < 3) deleted[deleted_count] = *(int *)value;
    deleted_count++;
    return MPI_SUCCESS;
}

int main(void) {
    static int values[3] = {10, 11, 12};
    CHECK_OK(MPI_Init(NULL, NULL));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    int provided = -1;
    CHECK_OK(MPI_Query_thread(&provided));
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    for (int i = 0; i < 3; i++) {
        int keyval = MPI_KEYVAL_INVALID;
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &values[i]));
        CHECK_OK(MPI_Comm_free_keyval(&keyval));
    }
    CHECK_OK(MPI_Finalize());
    CHECK_EQ(deleted_count, 3);
    for (int i = 0; i < 3; i++) CHECK_EQ(deleted[i], 12 - i);
    return check_status();
}
