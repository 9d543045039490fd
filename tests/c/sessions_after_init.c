// Sessions beside MPI_Init at each thread level, which is the level of the sessions then; communicators of a session and
// MPI_COMM_WORLD keep their messages and error handlers apart, and a session outlives MPI_Finalize.
// heddle: only
#include "sessions.h"

static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};

static MPI_Comm last = MPI_COMM_NULL;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)code;
    last = *comm;
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Session session = session_begin();
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = -1, level = -1;
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get(info, "thread_level", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Query_thread(&level));
    for (int i = 0; i < 4; i++) CHECK_EQ(strcmp(value, names[i]) == 0, level == check_levels[i].level);

    MPI_Comm comm = session_comm(session, "mpi://WORLD", "beside");
    int result = -1, out = check_rank, in[2] = {-1, -1}, to = (check_rank + 1) % check_size;
    int from = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Request requests[4];
    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[1]));
    int plus = out + 1000;
    CHECK_OK(MPI_Isend(&plus, 1, MPI_INT, to, 1, comm, &requests[2]));
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[3]));
    CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(in[0], from);
    CHECK_EQ(in[1], from + 1000);

    // An error without an object runs the handler of MPI_COMM_SELF, also between calls of sessions.
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Datatype predefined = MPI_INT;
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NONE", &group), MPI_ERR_ARG);
    CHECK(last == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
    CHECK(last == MPI_COMM_SELF);
    CHECK_OK(MPI_Errhandler_free(&handler));

    CHECK_OK(MPI_Finalize());
    session_exchange(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    // And again, after the end of the last use.
    session = session_begin();
    comm = session_comm(session, "mpi://WORLD", "again");
    session_exchange(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    return check_status();
}
