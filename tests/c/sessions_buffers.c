// The buffer of a session: buffered sends on communicators of the session use it, unless the communicator has one; others do not.
// levels: none
// ranks: 1-4
#include "sessions.h"

enum { NUMBER = sizeof(int) + MPI_BSEND_OVERHEAD, LARGE = 200000 };

static int rank, size;

// A number from each rank to the next, by a buffered send.
static int pass_on(MPI_Comm comm) {
    int got = -1, code = MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 3, comm);
    if (code != MPI_SUCCESS) return code;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(got, (rank + size - 1) % size);
    return code;
}

// The room of one number and what a send takes beside it.
static void which_buffer(MPI_Session session, MPI_Comm comm) {
    char of_session[NUMBER], of_comm[NUMBER] = {0};
    void *back = NULL;
    int bytes = -1;
    MPI_Count large = -1;
    CHECK_CLASS(pass_on(comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Session_detach_buffer(session, &back, &bytes), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_attach_buffer(session, of_session, NUMBER));
    CHECK_CLASS(MPI_Session_attach_buffer(session, of_comm, NUMBER), MPI_ERR_BUFFER);
    CHECK_OK(pass_on(comm));
    CHECK_OK(MPI_Session_flush_buffer(session));
    // Too large for the session's buffer, but not for the communicator's.
    CHECK_CLASS(MPI_Bsend(of_comm, NUMBER, MPI_BYTE, rank, 4, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    CHECK_OK(MPI_Bsend(of_comm, NUMBER, MPI_BYTE, rank, 4, comm));
    CHECK_OK(MPI_Recv(of_comm, NUMBER, MPI_BYTE, rank, 4, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK_OK(MPI_Session_detach_buffer_c(session, &back, &large));
    CHECK(back == of_session && large == NUMBER);
    CHECK_OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0));
    CHECK_OK(pass_on(comm));
    CHECK_OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

// Communicators made of others, and of groups of communicators, are in the session too; those of another session are not.
static void descendants(MPI_Session session, MPI_Comm comm) {
    MPI_Session other = session_begin();
    MPI_Comm stranger = session_comm(other, "mpi://WORLD", "stranger"), made[5];
    MPI_Group group, reversed;
    int range[1][3] = {{size - 1, 0, -1}};
    CHECK_OK(MPI_Comm_dup(comm, &made[0]));
    CHECK_OK(MPI_Comm_split(made[0], 0, rank, &made[1]));
    CHECK_OK(MPI_Comm_group(made[1], &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "descendant", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made[2]));
    CHECK_OK(MPI_Group_range_incl(group, 1, range, &reversed));
    CHECK_OK(MPI_Comm_create(made[0], reversed, &made[3]));
    CHECK_OK(MPI_Comm_create_from_group(reversed, "reversed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made[4]));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&reversed));
    CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPI_Comm_rank(made[i], &rank));
        CHECK_OK(pass_on(made[i]));
    }
    CHECK_OK(MPI_Comm_rank(stranger, &rank));
    CHECK_CLASS(pass_on(stranger), MPI_ERR_BUFFER);
    for (int i = 0; i < 5; i++) CHECK_OK(MPI_Comm_free(&made[i]));
    CHECK_OK(MPI_Comm_free(&stranger));
    session_end(&other);
}

// A flush that is begun completes when the message was received, and not before.
static void flushes(MPI_Session session, MPI_Comm comm) {
    static char out[LARGE], in[LARGE];
    MPI_Request request;
    int flag = -1;
    CHECK_OK(MPI_Session_iflush_buffer(session, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Bsend(out, LARGE, MPI_BYTE, (rank + 1) % size, 5, comm));
    CHECK_OK(MPI_Session_iflush_buffer(session, &request));
    if (size > 1) {
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Session_flush_buffer(session));
}

// The end of a session that is not the last one waits until the messages from its buffer were received.
static void ends_after_receipt(MPI_Comm news) {
    static char out[LARGE], in[LARGE];
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "ends");
    int flag = -1;
    CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
    if (rank == 0 && size > 1) {
        CHECK_OK(MPI_Bsend(out, LARGE, MPI_BYTE, 1, 6, comm));
        CHECK_OK(MPI_Comm_free(&comm));
        session_end(&session);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 7, news));
        return;
    }
    if (rank == 1) {
        double end = MPI_Wtime() + 0.05;
        while (MPI_Wtime() < end && flag != 1) CHECK_OK(MPI_Iprobe(0, 7, news, &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
        CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, 0, 6, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 7, news, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
}

int main(void) {
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "buffers");
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    check_rank = rank;
    which_buffer(session, comm);
    descendants(session, comm);
    flushes(session, comm);
    ends_after_receipt(comm);
    // The end of a session detaches its buffer.
    CHECK_OK(pass_on(comm));
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    return check_status();
}
