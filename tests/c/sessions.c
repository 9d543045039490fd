// Sessions before, instead of, beside and after MPI_Init: process sets, groups and communicators of them, several sessions at
// once, and sessions that come after the last one has ended.
// levels: none
#include "sessions.h"

static int world_rank = -1, world_size = -1;

static void flags(int initialized, int finalized) {
    int flag = -1;
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, initialized);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, finalized);
}

static void size_in_info(MPI_Session session, const char *pset, int want) {
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = -1;
    CHECK_OK(MPI_Session_get_pset_info(session, pset, &info));
    CHECK_OK(MPI_Info_get(info, "mpi_size", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(atoi(value), want);
    CHECK_OK(MPI_Info_free(&info));
}

static void process_sets(MPI_Session session) {
    int count = -1, world = 0, self = 0, size = -1, rank = -1;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int n = 0; n < count; n++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[6] = "#####";
        int length = 0, needed = 0;
        name[0] = '#';
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, name));
        CHECK(name[0] == '#'); // a length of 0 asks for the length only
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL));
        CHECK_EQ(length, needed);
        length = sizeof name;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        CHECK_EQ(length, needed);
        CHECK_EQ(strlen(name) + 1, needed);
        length = 5;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, cut));
        CHECK_EQ(length, needed);
        CHECK(strlen(cut) == 4 && strncmp(cut, name, 4) == 0);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
    }
    CHECK(world == 1 && self == 1);

    MPI_Group group = session_group(session, "mpi://SELF");
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK(size == 1 && rank == 0);
    size_in_info(session, "mpi://SELF", 1);
    CHECK_OK(MPI_Group_free(&group));
    group = session_group(session, "mpi://WORLD");
    CHECK_OK(MPI_Group_size(group, &world_size));
    CHECK_OK(MPI_Group_rank(group, &world_rank));
    size_in_info(session, "mpi://WORLD", world_size);
    CHECK_OK(MPI_Group_free(&group));
    const char *told = getenv("HEDDLE_RANK");
    if (told) CHECK_EQ(world_rank, atoi(told));
    check_rank = world_rank;
}

static void told_level(MPI_Session session, const char *want) {
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = -1;
    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get(info, "thread_level", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag == 1 && strcmp(value, want) == 0);
    CHECK_OK(MPI_Info_free(&info));
}

// A session asked for a lower level may give more.
static void thread_level(void) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
    CHECK_OK(MPI_Info_set(info, "unknown_key", "whatever"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Info_free(&info));
    told_level(session, "MPI_THREAD_MULTIPLE");
    session_end(&session);
}

// Two sessions at once, whose communicators are made with one tag; the one that ends first leaves the other alone.
static void two_at_once(void) {
    MPI_Session one = session_begin(), other = session_begin();
    CHECK(one != other);
    MPI_Comm first = session_comm(one, "mpi://WORLD", "heddle.test"), second = session_comm(other, "mpi://WORLD", "heddle.test");
    MPI_Comm alone = session_comm(one, "mpi://SELF", "heddle.test");
    int result = -1;
    CHECK_OK(MPI_Comm_compare(first, second, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    session_exchange(first);
    session_exchange(second);
    session_exchange(alone);
    CHECK_OK(MPI_Comm_free(&alone));
    CHECK_OK(MPI_Comm_disconnect(&first));
    session_end(&one);
    session_exchange(second);
    CHECK_OK(MPI_Comm_free(&second));
    session_end(&other);
}

// Communicators, windows and intercommunicators of a session's communicator, and messages that are matched by hand.
static void objects(MPI_Session session) {
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "objects"), dup, half;
    CHECK_OK(MPI_Comm_dup(comm, &dup));
    session_exchange(dup);
    CHECK_OK(MPI_Comm_split(dup, world_rank % 2, -world_rank, &half));
    session_exchange(half);
    int *base = NULL, got = -1, to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &base, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&world_rank, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQ(*base, from);
    CHECK_OK(MPI_Win_free(&win));

    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK_OK(MPI_Isend(&world_rank, 1, MPI_INT, to, 7, comm, &request));
    CHECK_OK(MPI_Mprobe(from, 7, comm, &message, &status));
    CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
    CHECK_EQ(got, from);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 7, comm, &message, &status));
    CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);

    if (world_size > 1) {
        MPI_Group world = session_group(session, "mpi://WORLD"), low, high;
        MPI_Comm inter = MPI_COMM_NULL;
        int middle = world_size / 2, size = -1, is_low = world_rank < middle;
        int ranges[2][3] = {{0, middle - 1, 1}, {middle, world_size - 1, 1}};
        CHECK_OK(MPI_Group_range_incl(world, 1, &ranges[0], &low));
        CHECK_OK(MPI_Group_range_incl(world, 1, &ranges[1], &high));
        MPI_Group here = is_low ? low : high, there = is_low ? high : low;
        CHECK_OK(MPI_Intercomm_create_from_groups(here, 0, there, 0, "inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
        CHECK_OK(MPI_Comm_remote_size(inter, &size));
        CHECK_EQ(size, is_low ? world_size - middle : middle);
        int sum = -1, want = 0;
        for (int r = 0; r < world_size; r++) want += (r < middle) != is_low ? r : 0;
        CHECK_OK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, inter));
        CHECK_EQ(sum, want);
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Group_free(&world));
        CHECK_OK(MPI_Group_free(&low));
        CHECK_OK(MPI_Group_free(&high));
    }
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&comm));
}

// Each process ends its sessions as often as it likes; messages wait for those that are between two of them.
static void again_and_again(void) {
    for (int i = 0; i < 10; i++) {
        MPI_Session session = session_begin();
        MPI_Comm comm = session_comm(session, "mpi://WORLD", "again");
        session_exchange(comm);
        CHECK_OK(MPI_Comm_free(&comm));
        session_end(&session);
        for (int j = 0; j < world_rank % 3; j++) {
            session = session_begin();
            comm = session_comm(session, "mpi://SELF", "alone");
            session_exchange(comm);
            CHECK_OK(MPI_Comm_free(&comm));
            session_end(&session);
        }
    }
}

int main(int argc, char **argv) {
    flags(0, 0);
    MPI_Session session = session_begin();
    flags(0, 0);
    process_sets(session);
    told_level(session, "MPI_THREAD_MULTIPLE");
    objects(session);
    session_end(&session);
    thread_level();
    two_at_once();
    again_and_again();
    flags(0, 0);

    // A session from before MPI_Init until after MPI_Finalize.
    session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "around");
    int level = -1, flag = -1, result = -1;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level));
    CHECK(level >= MPI_THREAD_FUNNELED);
    flags(1, 0);
    int told = -1;
    CHECK_OK(MPI_Query_thread(&told));
    CHECK_EQ(told, level);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    session_exchange(comm);
    session_exchange(MPI_COMM_WORLD);
    two_at_once();
    CHECK_OK(MPI_Finalize());
    flags(1, 1);
    session_exchange(comm);
    process_sets(session);
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);

    again_and_again();
    flags(1, 1);
    return check_status();
}
