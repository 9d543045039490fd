// Errors of functions of sessions: their classes, and the error handler that is called.
// levels: none
// ranks: 1-2
// abi: standard a handle that was freed may name the next object in its place
#include "sessions.h"

static struct {
    int calls, class;
    MPI_Session session;
} seen;

static void note(MPI_Session *session, int *code, ...) {
    seen.calls++;
    seen.session = *session;
    MPI_Error_class(*code, &seen.class);
}

static int comm_calls, comm_class;
static MPI_Comm comm_seen;

static void note_comm(MPI_Comm *comm, int *code, ...) {
    comm_calls++;
    comm_seen = *comm;
    MPI_Error_class(*code, &comm_class);
}

static void mute(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

static void arguments(void) {
    MPI_Session session = session_begin();
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group group = MPI_GROUP_EMPTY;
    char name[64] = "#";
    int length = sizeof name, count = -1, negative = -1;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NONE", &group), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    CHECK_CLASS(MPI_Group_from_session_pset(session, NULL, &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://WORLD", NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "", &info), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &negative, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, name), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG);
    CHECK(name[0] == '#' && length == sizeof name);
    CHECK_CLASS(MPI_Session_get_num_psets(session, (MPI_Info)MPI_COMM_WORLD, &count), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_info(session, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_set_errhandler(session, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Session_get_errhandler(session, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_attach_buffer(session, name, -1), MPI_ERR_ARG);

    // Without MPI_Init there is no MPI_COMM_WORLD; a session goes on after the error.
    MPI_Comm comm = session_comm(session, "mpi://SELF", "errors");
    int world = -1;
    MPI_Errhandler quiet = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_Comm_create_errhandler(mute, &quiet));
    CHECK_CLASS(MPI_Send(&world, 1, MPI_INT, 1, 0, comm), MPI_ERR_RANK);
    CHECK_OK(MPI_Errhandler_free(&quiet));
    CHECK_OK(MPI_Comm_free(&comm));

    MPI_Session second = MPI_SESSION_NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY"));
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &second), MPI_ERR_INFO_VALUE);
    CHECK(second == MPI_SESSION_NULL);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_CLASS(MPI_Session_init((MPI_Info)MPI_COMM_WORLD, MPI_ERRORS_RETURN, &second), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
    session_end(&session);
}

static void handlers(void) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL, of_comm = MPI_ERRHANDLER_NULL;
    MPI_Session session = MPI_SESSION_NULL, other = session_begin();
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Session_create_errhandler(note, &handler)); // before there is a session
    // The handler that is given is called for errors of MPI_Session_init itself, without a session.
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", ""));
    seen.session = other;
    CHECK_CLASS(MPI_Session_init(info, handler, &session), MPI_ERR_INFO_VALUE);
    CHECK(seen.calls == 1 && seen.class == MPI_ERR_INFO_VALUE && seen.session == MPI_SESSION_NULL);
    CHECK_OK(MPI_Info_free(&info));

    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK_OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == handler);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&handler));
    MPI_Group group;
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NONE", &group), MPI_ERR_ARG);
    CHECK(seen.calls == 2 && seen.class == MPI_ERR_ARG && seen.session == session);
    CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(seen.calls == 3 && seen.class == MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Group_from_session_pset(other, "mpi://NONE", &group), MPI_ERR_ARG);
    CHECK_EQ(seen.calls, 3);
    // An error of a group calls the handler of the session that the group comes from, also if it was made of another group.
    MPI_Group whole = session_group(session, "mpi://WORLD"), first = MPI_GROUP_NULL, none = MPI_GROUP_NULL;
    int zero = 0, outside = 1 << 20;
    CHECK_OK(MPI_Group_incl(whole, 1, &zero, &first));
    CHECK_CLASS(MPI_Group_incl(whole, 1, &outside, &none), MPI_ERR_RANK);
    CHECK(seen.calls == 4 && seen.class == MPI_ERR_RANK && seen.session == session);
    CHECK_CLASS(MPI_Group_translate_ranks(first, 1, &outside, whole, &zero), MPI_ERR_RANK);
    CHECK(seen.calls == 5 && seen.class == MPI_ERR_RANK && seen.session == session);
    CHECK_OK(MPI_Group_free(&whole));
    CHECK_OK(MPI_Group_free(&first));
    const int before = seen.calls;
    CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NONE", &group), MPI_ERR_ARG);
    CHECK_EQ(seen.calls, before);

    // A handler of communicators does not fit; the one given to a new communicator is called for its creation, and stays.
    CHECK_OK(MPI_Comm_create_errhandler(note_comm, &of_comm));
    CHECK_CLASS(MPI_Session_set_errhandler(session, of_comm), MPI_ERR_ERRHANDLER);
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, of_comm, &comm), MPI_ERR_GROUP);
    CHECK(comm_calls == 1 && comm_class == MPI_ERR_GROUP && comm_seen == MPI_COMM_NULL);
    group = session_group(session, "mpi://SELF");
    CHECK_OK(MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, of_comm, &comm));
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 9, 0, comm), MPI_ERR_RANK);
    CHECK(comm_calls == 2 && comm_class == MPI_ERR_RANK && comm_seen == comm);
    CHECK_OK(MPI_Comm_free(&comm));

    // A group of a session that has ended makes no communicator.
    session_end(&session);
    CHECK_CLASS(MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, of_comm, &comm), MPI_ERR_SESSION);
    CHECK_EQ(comm_calls, 3);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Errhandler_free(&of_comm));
    session_end(&other);
}

// A handle that is not a session's: the default error handler, here that of MPI_COMM_SELF.
static void wrong_handle(MPI_Session session) {
    MPI_Session variable = session;
    MPI_Info info;
    MPI_Group group;
    MPI_Errhandler handler;
    MPI_Request request;
    void *address;
    int count = -1, size = -1;
    MPI_Count large = -1;
    CHECK_CLASS(MPI_Session_finalize(&variable), MPI_ERR_SESSION);
    CHECK(variable == session);
    CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &count, NULL), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_get_info(session, &info), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://SELF", &info), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://SELF", &group), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_get_errhandler(session, &handler), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_call_errhandler(session, MPI_ERR_OTHER), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_attach_buffer(session, &count, 4), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_attach_buffer_c(session, &count, 4), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_detach_buffer(session, &address, &size), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_detach_buffer_c(session, &address, &large), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_flush_buffer(session), MPI_ERR_SESSION);
    CHECK_CLASS(MPI_Session_iflush_buffer(session, &request), MPI_ERR_SESSION);
}

int main(int argc, char **argv) {
    arguments();
    handlers();
    MPI_Session ended = session_begin(), copy = ended;
    CHECK(MPI_Session_fromint(MPI_Session_toint(ended)) == ended);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(ended)) == ended);
    session_end(&ended);
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    wrong_handle(MPI_SESSION_NULL);
    wrong_handle((MPI_Session)MPI_COMM_WORLD);
    wrong_handle(copy);
    // The place of an ended session may be taken: the old handle is still wrong.
    MPI_Session next = session_begin();
    wrong_handle(copy);
    session_end(&next);
    return check_finish();
}
