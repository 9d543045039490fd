// Sessions and communicators made of their process sets.
#ifndef HEDDLE_TEST_SESSIONS_H
#define HEDDLE_TEST_SESSIONS_H

#include "check.h"

// A new session whose errors return.
CHECK_UNUSED static MPI_Session session_begin(void) {
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    return session;
}

CHECK_UNUSED static void session_end(MPI_Session *session) {
    CHECK_OK(MPI_Session_finalize(session));
    CHECK(*session == MPI_SESSION_NULL);
}

CHECK_UNUSED static MPI_Group session_group(MPI_Session session, const char *pset) {
    MPI_Group group = MPI_GROUP_NULL;
    CHECK_OK(MPI_Group_from_session_pset(session, pset, &group));
    return group;
}

// A communicator of a process set.
CHECK_UNUSED static MPI_Comm session_comm(MPI_Session session, const char *pset, const char *tag) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = session_group(session, pset);
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

// All processes know who is there, and exchange messages of several sizes.
CHECK_UNUSED static void session_exchange(MPI_Comm comm) {
    enum { LARGE = 100000 };
    int rank = -1, size = -1, sum = -1, got = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    int mine = rank + 1;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size * (size + 1) / 2);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(got, from + 1);
    unsigned char *out = check_alloc(LARGE), *in = check_alloc(LARGE);
    MPI_Request requests[2];
    pattern_fill(out, LARGE, (unsigned)rank);
    CHECK_OK(MPI_Irecv(in, LARGE, MPI_BYTE, from, 2, comm, &requests[0]));
    CHECK_OK(MPI_Isend(out, LARGE, MPI_BYTE, to, 2, comm, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(in, LARGE, (unsigned)from);
    free(out), free(in);
}

#endif
