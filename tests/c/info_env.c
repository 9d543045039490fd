// What MPI_Info_create_env says is the same before and after initialisation, and what MPI_INFO_ENV says: thread_level is not
// among it, because nothing was requested before the start. Under PMIx `maxprocs` and `soft` are known after the start only.
// ranks: 1-2
// levels: none
// heddle: only
#include "check.h"

// All keys of one are in the other, with the same values, and the other has `more` beside them.
static void agree(MPI_Info one, MPI_Info other, int more) {
    int n = -1, m = -2;
    CHECK_OK(MPI_Info_get_nkeys(one, &n));
    CHECK_OK(MPI_Info_get_nkeys(other, &m));
    CHECK_EQ(n + more, m);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY], a[MPI_MAX_INFO_VAL] = "", b[MPI_MAX_INFO_VAL] = "-";
        int flag = 0, room = sizeof a;
        CHECK_OK(MPI_Info_get_nthkey(one, i, key));
        CHECK_OK(MPI_Info_get_string(one, key, &room, a, &flag));
        CHECK(flag);
        room = sizeof b;
        CHECK_OK(MPI_Info_get_string(other, key, &room, b, &flag));
        if (!CHECK(flag && strcmp(a, b) == 0)) fprintf(stderr, "  %s: '%s' and '%s'\n", key, a, b);
        CHECK(strcmp(key, "thread_level") != 0);
    }
}

int main(int argc, char **argv) {
    MPI_Info before, after;
    int provided;
    CHECK_OK(MPI_Info_create_env(argc, argv, &before));
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_Info_create_env(argc, argv, &after));
    agree(before, after, getenv("PMIX_NAMESPACE") ? 2 : 0);
    agree(after, MPI_INFO_ENV, 0);
    CHECK_OK(MPI_Info_free(&before));
    CHECK_OK(MPI_Info_free(&after));
    return check_finish();
}
