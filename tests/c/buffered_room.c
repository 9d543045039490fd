// The room of buffered sends: a received message gives its room back without a wait, also if the news of its receipt came by
// another communicator; buffers of communicators; flushes in their forms; several threads at the limit.
// ranks: 2
// levels: multiple
// oracle: skip its error codes for a full buffer are wrong when threads get them at once
#include "threads.h"

enum { LARGE = 200000, ROUNDS = 20, THREADS = 4, SMALL = 100 };

static unsigned char data[LARGE];

// Room for one large message: the next one is sent when the peer has said, by another communicator, that it has the last.
static void given_back(MPI_Comm comm, MPI_Comm news, bool own_buffer) {
    int size = LARGE + MPI_BSEND_OVERHEAD, back_size = -1;
    void *room = check_alloc((size_t)size), *back = NULL;
    if (check_rank == 0) {
        if (own_buffer) CHECK_OK(MPI_Comm_attach_buffer(comm, room, size));
        else CHECK_OK(MPI_Buffer_attach(room, size));
        for (int i = 0; i < ROUNDS; i++) {
            pattern_fill(data, LARGE, (unsigned)i);
            CHECK_OK(MPI_Bsend(data, LARGE, MPI_BYTE, 1, i, comm));
            CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, i, news, MPI_STATUS_IGNORE));
        }
        if (own_buffer) CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &back_size));
        else CHECK_OK(MPI_Buffer_detach(&back, &back_size));
        CHECK(back == room && back_size == size);
    } else {
        for (int i = 0; i < ROUNDS; i++) {
            CHECK_OK(MPI_Recv(data, LARGE, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, LARGE, (unsigned)i);
            CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, i, news));
        }
    }
    free(room);
}

// A flush that is begun completes when the peer has received, and not before.
static void flushes(MPI_Comm comm) {
    int size = LARGE + MPI_BSEND_OVERHEAD, flag = -1;
    void *room = check_alloc((size_t)size), *back = NULL;
    MPI_Request request, none;
    if (check_rank == 0) {
        CHECK_OK(MPI_Comm_attach_buffer(comm, room, size));
        CHECK_OK(MPI_Comm_iflush_buffer(comm, &none));
        CHECK_OK(MPI_Wait(&none, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Bsend(data, LARGE, MPI_BYTE, 1, 0, comm));
        CHECK_OK(MPI_Comm_iflush_buffer(comm, &request));
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_flush_buffer(comm));
        CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &size));
        CHECK(back == room);
    } else {
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Recv(data, LARGE, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
    }
    free(room);
}

static MPI_Comm quiet;

// Half of the threads ask for more room than the buffer has, the others for room that is always there.
static void at_the_limit(int index, void *shared) {
    (void)shared;
    unsigned char *mine = check_alloc(LARGE);
    for (int i = 0; i < 500; i++) {
        if (index % 2) {
            CHECK_CLASS(MPI_Bsend(mine, LARGE, MPI_BYTE, 0, index, quiet), MPI_ERR_BUFFER);
        } else {
            CHECK_OK(MPI_Bsend(mine, SMALL, MPI_BYTE, 0, index, quiet));
            CHECK_OK(MPI_Recv(mine, SMALL, MPI_BYTE, 0, index, quiet, MPI_STATUS_IGNORE));
        }
    }
    free(mine);
}

static void limits(void) {
    int size = THREADS * (SMALL + MPI_BSEND_OVERHEAD), back_size = 0;
    void *room = check_alloc((size_t)size), *back = NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &quiet));
    CHECK_OK(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Comm_detach_buffer(quiet, &back, &back_size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_BYTE, 0, 0, quiet), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_attach_buffer(quiet, room, size));
    CHECK_CLASS(MPI_Comm_attach_buffer(quiet, room, size), MPI_ERR_BUFFER);
    threads_run(THREADS, at_the_limit, NULL);
    CHECK_OK(MPI_Comm_detach_buffer(quiet, &back, &back_size));
    CHECK_OK(MPI_Comm_free(&quiet));
    free(room);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Comm a, b;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &b));
    given_back(a, a, false);
    given_back(a, b, false);
    given_back(b, a, true);
    flushes(a);
    limits();
    CHECK_OK(MPI_Comm_free(&a));
    CHECK_OK(MPI_Comm_free(&b));
    return check_finish();
}
