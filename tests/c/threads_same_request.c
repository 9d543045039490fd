// Two threads test one request, against the rules: one of them gets the outcome, the other an empty status or
// MPI_ERR_REQUEST, and no other request is affected.
// ranks: 1-2
// levels: multiple
// heddle: only
#include "threads.h"
#include <sched.h>

enum { TESTERS = 4, OTHERS = 2, ROUNDS = 2000 };

static pthread_barrier_t meet;
static MPI_Request contested;
static int received, peer;
static atomic_int outcomes, empties, gone;

static void test_the_same(int t) {
    for (int round = 0; round < ROUNDS; round++) {
        if (t == 0) {
            received = -1;
            atomic_store(&outcomes, 0), atomic_store(&empties, 0), atomic_store(&gone, 0);
            CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &contested));
        }
        pthread_barrier_wait(&meet);
        MPI_Request copy = contested;
        if (t == 0) CHECK_OK(MPI_Send(&round, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
        for (int flag = 0; !flag;) {
            MPI_Status status = {.MPI_TAG = -77};
            int code = MPI_Test(&copy, &flag, &status);
            if (code != MPI_SUCCESS) {
                CHECK_CLASS(code, MPI_ERR_REQUEST);
                atomic_fetch_add(&gone, 1);
                break;
            }
            if (!flag) continue;
            CHECK(copy == MPI_REQUEST_NULL);
            if (status.MPI_TAG == 1) {
                CHECK_EQ(received, round);
                atomic_fetch_add(&outcomes, 1);
            } else {
                CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
                atomic_fetch_add(&empties, 1);
            }
        }
        pthread_barrier_wait(&meet);
        if (t == 0) {
            CHECK_EQ(atomic_load(&outcomes), 1);
            CHECK_EQ(atomic_load(&outcomes) + atomic_load(&empties) + atomic_load(&gone), TESTERS);
        }
        pthread_barrier_wait(&meet);
    }
}

// Requests of threads that keep the rules, which come and go meanwhile.
static void keep_the_rules(int t) {
    for (int round = 0; round < ROUNDS * 4; round++) {
        int in = -1, flag = 0;
        MPI_Request request;
        MPI_Status status;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, peer, 10 + t, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, peer, 10 + t, MPI_COMM_WORLD));
        if (round % 2 != 0) CHECK_OK(MPI_Wait(&request, &status));
        else while (!flag) CHECK_OK(MPI_Test(&request, &flag, &status));
        CHECK_EQ(status.MPI_TAG, 10 + t);
        CHECK_EQ(in, round);
    }
}

static void body(int t, void *shared) {
    (void)shared;
    if (t < TESTERS) test_the_same(t);
    else keep_the_rules(t);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    peer = check_partner();
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    pthread_barrier_init(&meet, NULL, TESTERS);
    threads_run(TESTERS + OTHERS, body, NULL);
    return check_finish();
}
