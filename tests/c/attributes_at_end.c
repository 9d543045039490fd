// The attributes of MPI_COMM_SELF are deleted as the first thing in MPI_Finalize, the last set first; MPI still works then.
// output: ^(3 2 1 \n)+$
#include "check.h"

enum { KEYS = 3 };

static int tell(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval;
    static char text[64];
    int length = (int)strlen(text), finalized = 1, in = -1;
    snprintf(text + length, sizeof text - (size_t)length, "%d ", *(int *)value);
    CHECK(comm == MPI_COMM_SELF);
    CHECK_OK(MPI_Finalized(&finalized));
    CHECK_EQ(finalized, 0);
    CHECK_OK(MPI_Sendrecv(value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(in, *(int *)value);
    if (value == extra) puts(text);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    static int values[KEYS] = {1, 2, 3};
    check_start(argc, argv);
    for (int i = 0; i < KEYS; i++) {
        int key = MPI_KEYVAL_INVALID;
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tell, &key, &values[0]));
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &values[i]));
        CHECK_OK(MPI_Comm_free_keyval(&key));
    }
    return check_finish();
}
