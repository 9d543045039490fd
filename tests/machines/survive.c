// The last machine, which has two ranks, is cut off, and the error handler returns: operations with the ranks on the other
// side end in MPI_ERR_PROC_ABORTED, and all others go on, on both sides. Run it by with_machines.py, which cuts the link when
// all have met, and mends it when this program says so at the end.
#include "../c/check.h"
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { LONG = 1 << 20, SMALL = 8 << 10 };
enum { UNHEARD = 8, NEVER = 9 }; // Tags of messages that nobody receives, and of those that nobody sends.

static bool here; // On the side of rank 0?
static int lost;  // The first rank on the other side.
static MPI_Comm side, copy, late;
static char *data, *room;

// All ranks of this side send to each other, in short messages and in long ones.
static void talk(void) {
    int rank, size, sum = 0, one = 1;
    MPI_Comm_rank(side, &rank);
    MPI_Comm_size(side, &size);
    for (int len = 8; len <= LONG; len *= 128) {
        for (int distance = 1; distance < size; distance++) {
            int to = (rank + distance) % size, from = (rank + size - distance) % size;
            memset(data, rank, (size_t)len);
            CHECK_OK(MPI_Sendrecv(data, len, MPI_CHAR, to, 1, room, len, MPI_CHAR, from, 1, side, MPI_STATUS_IGNORE));
            CHECK_EQ(room[len - 1], from);
        }
    }
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, side));
    CHECK_EQ(sum, size);
}

static void check_text(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int len;
    CHECK_OK(MPI_Error_string(code, text, &len));
    if (!CHECK(strstr(text, "cannot be reached") && strstr(text, "rank "))) fprintf(stderr, "the text is: %s\n", text);
}

static void may_fail(int code) {
    if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
}

// The third operation, by which a communicator learns of its machines.
static void *third(void *unused) {
    may_fail(MPI_Barrier(late));
    return unused;
}

// Operations that are under way when the link is cut.
static void pending(void) {
    enum { OPERATIONS = 8 };
    MPI_Request requests[OPERATIONS];
    MPI_Status statuses[OPERATIONS];
    MPI_Datatype gaps;
    int n = 0, code;
    CHECK_OK(MPI_Type_vector(LONG / 4, 2, 4, MPI_CHAR, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    CHECK_OK(MPI_Irecv(room, 8, MPI_CHAR, lost, NEVER, MPI_COMM_WORLD, &requests[n++]));
    CHECK_OK(MPI_Irecv(room + 8, 8, MPI_CHAR, MPI_ANY_SOURCE, NEVER, copy, &requests[n++]));
    CHECK_OK(MPI_Irecv(room + 16, 8, MPI_CHAR, lost, MPI_ANY_TAG, copy, &requests[n++]));
    CHECK_OK(MPI_Isend(data, LONG, MPI_CHAR, lost, UNHEARD, MPI_COMM_WORLD, &requests[n++]));
    CHECK_OK(MPI_Isend(data, 1, gaps, lost, UNHEARD, MPI_COMM_WORLD, &requests[n++]));
    CHECK_OK(MPI_Issend(data, 8, MPI_CHAR, lost, UNHEARD, MPI_COMM_WORLD, &requests[n++]));
    talk();
    usleep(500000); // The link is cut now. The other side has offered this message before.
    CHECK_OK(MPI_Irecv(room + 64, 1, gaps, lost, 2, MPI_COMM_WORLD, &requests[n++]));
    // This one is read from the memory of the lost rank, and the read does not end by itself.
    CHECK_OK(MPI_Irecv(room + LONG, LONG, MPI_CHAR, lost, 5, MPI_COMM_WORLD, &requests[n++]));
    code = MPI_Waitall(n, requests, statuses);
    CHECK_CLASS(code, MPI_ERR_IN_STATUS);
    for (int i = 0; i < n; i++) {
        if (!CHECK_CLASS(statuses[i].MPI_ERROR, MPI_ERR_PROC_ABORTED)) fprintf(stderr, "operation %d\n", i);
    }
    // The memory is this process's again.
    memset(room + LONG, 1, LONG);
    CHECK_OK(MPI_Type_free(&gaps));
}

// Blocking sends until one waits for credit, which does not come.
static void flood(void) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS) code = MPI_Send(data, SMALL, MPI_CHAR, lost, UNHEARD, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
    check_text(code);
}

int main(int argc, char **argv) {
    int code, flag, word = 0;
    MPI_Status status;
    MPI_Request offered[3], parts[2], persistent;
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    here = check_rank < check_size - 2;
    lost = here ? check_size - 2 : 0;
    data = calloc(1, LONG);
    room = calloc(2, LONG);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &late));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, here, 0, &side));
    CHECK_OK(MPI_Barrier(late));
    CHECK_OK(MPI_Barrier(late));
    pthread_t thread;
    if (check_rank != 1) CHECK_EQ(pthread_create(&thread, NULL, third, NULL), 0);
    for (int other = 0; other < check_size; other++) {
        CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0, copy, &status));
        CHECK_OK(MPI_Sendrecv(&check_rank, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &status));
    }
    // The first rank of each side offers three long messages to that of the other one, and has read a long one of it before.
    char *long_data = calloc(1, LONG);
    bool offers = check_rank == 0 || check_rank == check_size - 2;
    int to = check_rank == 0 ? check_size - 2 : 0;
    if (offers) {
        CHECK_OK(MPI_Sendrecv(data, LONG, MPI_CHAR, to, 6, room, LONG, MPI_CHAR, to, 6, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Isend(long_data, LONG / 2, MPI_CHAR, to, 2, MPI_COMM_WORLD, &offered[0]));
        CHECK_OK(MPI_Isend(long_data, LONG / 2, MPI_CHAR, to, 3, MPI_COMM_WORLD, &offered[1]));
        CHECK_OK(MPI_Isend(long_data, LONG, MPI_CHAR, to, 5, MPI_COMM_WORLD, &offered[2]));
    }
    char partitions[2][4];
    if (offers) {
        CHECK_OK(MPI_Psend_init(partitions[0], 2, 2, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[0]));
        CHECK_OK(MPI_Precv_init(partitions[1], 2, 2, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[1]));
        CHECK_OK(MPI_Startall(2, parts));
        CHECK_OK(MPI_Pready_range(0, 1, parts[0]));
        CHECK_OK(MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Startall(2, parts));
        CHECK_OK(MPI_Pready(0, parts[0]));
    }
    CHECK_OK(MPI_Recv_init(&word, 1, MPI_INT, lost, NEVER, MPI_COMM_WORLD, &persistent));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (offers) CHECK_OK(MPI_Probe(to, 5, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    // No rank is in the barrier any more.
    CHECK_OK(MPI_Gather(&check_rank, 1, MPI_INT, room, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (check_rank == 0) {
        printf("all have met\n");
        fflush(stdout);
    }

    if (offers) {
        pending();
        CHECK_CLASS(MPI_Waitall(3, offered, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        CHECK_CLASS(MPI_Wait(&parts[1], &status), MPI_ERR_PROC_ABORTED);
        // Partitions leave like short messages, into the void; but no round waits for ever.
        CHECK_OK(MPI_Pready(1, parts[0]));
        MPI_Wait(&parts[0], &status);
        for (int round = 0; round < 3; round++) {
            CHECK_OK(MPI_Start(&parts[0]));
            CHECK_OK(MPI_Pready_range(0, 1, parts[0]));
            MPI_Wait(&parts[0], &status);
        }
        CHECK_OK(MPI_Request_free(&parts[0]));
        CHECK_OK(MPI_Request_free(&parts[1]));
    } else {
        talk();
        switch (check_rank) {
        case 1: flood(); break;
        case 2: CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, lost + 1, NEVER, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED); break;
        default: CHECK_CLASS(MPI_Probe(lost, NEVER, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
        }
    }

    // The ranks of the other side are not lost in the same moment.
    for (int rank = 0; rank < check_size; rank++) {
        if ((rank < check_size - 2) == here) continue;
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, rank, NEVER, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    }
    // Later operations fail at once, and those with other ranks do not.
    if (offers) {
        // The message was offered before the loss.
        CHECK_CLASS(MPI_Recv(room, LONG / 2, MPI_CHAR, lost, 3, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    }
    CHECK_CLASS(MPI_Send(data, 8, MPI_CHAR, lost, UNHEARD, MPI_COMM_WORLD), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Send(data, LONG, MPI_CHAR, lost, UNHEARD, MPI_COMM_WORLD), MPI_ERR_PROC_ABORTED);
    code = MPI_Recv(&word, 1, MPI_INT, lost, NEVER, MPI_COMM_WORLD, &status);
    CHECK_CLASS(code, MPI_ERR_PROC_ABORTED);
    check_text(code);
    CHECK_OK(MPI_Start(&persistent));
    CHECK_CLASS(MPI_Wait(&persistent, &status), MPI_ERR_PROC_ABORTED);
    CHECK_OK(MPI_Request_free(&persistent));
    CHECK_CLASS(MPI_Iprobe(lost, NEVER, MPI_COMM_WORLD, &flag, &status), MPI_ERR_PROC_ABORTED);
    for (int i = 0; i < 4; i++) may_fail(MPI_Barrier(copy)); // The launcher tells of machines after a loss, too.
    // All ranks choose alike whether that communicator's operations go by leaders, and so none waits for ever.
    if (check_rank == 1) third(NULL);
    else CHECK_EQ(pthread_join(thread, NULL), 0);
    for (int root = 0; root < check_size; root++) {
        may_fail(MPI_Barrier(late));
        may_fail(MPI_Allgather(&check_rank, 1, MPI_INT, room, 1, MPI_INT, late));
        may_fail(MPI_Bcast(data, 8, MPI_CHAR, root, late));
    }
    talk();

    // Receives from any source fail once for each lost rank; then they wait for the others.
    int rank, size;
    MPI_Comm_rank(side, &rank);
    MPI_Comm_size(side, &size);
    for (int i = 0; i < check_size - size; i++) {
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &status), MPI_ERR_PROC_ABORTED);
    }
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &flag, &status));
    int first = here ? 0 : check_size - 2, next = first + (rank + 1) % size;
    MPI_Request sent;
    CHECK_OK(MPI_Isend(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &sent));
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, first + (rank + size - 1) % size);
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&late));
    talk();
    CHECK_OK(MPI_Comm_free(&side));
    free(long_data);
    int failed = check_finish();
    // The end of MPI does not wait for lost ranks, nor for the launcher, which cannot reach them.
    if (check_rank == 0) {
        printf("%d ranks go on\n", size);
        fflush(stdout);
    }
    return failed;
}
