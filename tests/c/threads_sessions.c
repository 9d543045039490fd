// Threads that begin and end sessions of their own at once, each with communicators that only its tag tells apart; beside a
// thread that initialises and finalises MPI meanwhile.
// levels: none
// ranks: 1-4
#include "sessions.h"
#include "threads.h"

enum { THREADS = 5, ROUNDS = 30 };

static void of_one_thread(int index, void *shared) {
    (void)shared;
    char tag[32];
    snprintf(tag, sizeof tag, "thread %d", index);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Session session = session_begin();
        MPI_Comm world = session_comm(session, "mpi://WORLD", tag), self = session_comm(session, "mpi://SELF", tag);
        int rank = -1, size = -1, sum = -1, got = -1;
        CHECK_OK(MPI_Comm_rank(world, &rank));
        CHECK_OK(MPI_Comm_size(world, &size));
        int mine = 100 * index + rank;
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, world));
        CHECK_EQ(sum, 100 * index * size + size * (size - 1) / 2);
        CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, i, &got, 1, MPI_INT, 0, i, self, MPI_STATUS_IGNORE));
        CHECK_EQ(got, mine);
        if (i % 5 == 0) session_exchange(world);
        CHECK_OK(MPI_Comm_free(&self));
        CHECK_OK(MPI_Comm_free(&world));
        session_end(&session);
    }
}

static void init_and_finalize(void) {
    int provided = -1;
    CHECK_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    session_exchange(MPI_COMM_WORLD);
    CHECK_OK(MPI_Finalize());
}

static void body(int index, void *shared) {
    if (index == 0 && shared) init_and_finalize();
    else of_one_thread(index, shared);
}

int main(void) {
    threads_run(THREADS, body, NULL);
    threads_run(THREADS, body, "with MPI_Init");
    threads_run(THREADS, body, NULL);
    return check_status();
}
