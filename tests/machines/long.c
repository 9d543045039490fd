// Long messages from the last rank to rank 0: the network reads them from the sender's memory, unless one side has gaps.
// Rank 0 counts the reads by the MPI_T variable heddle_remote_reads.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 5000000
static unsigned char from[2 * MOST], to[2 * MOST];

static void check(int right, const char *what, int bytes) {
    if (right) return;
    printf("%s: wrong with %d bytes\n", what, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void count_reads(void) {
    int index, count;
    MPI_T_pvar_get_index("heddle_remote_reads", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
}

int main(int argc, char **argv) {
    const int lengths[] = {0, 1, 16000, 32768, 65536, 65592, 65593, 1000000, MOST};
    int provided, rank, size, error;
    MPI_Status status;
    MPI_Request requests[32];
    MPI_Datatype pairs;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(MOST / 2, 1, 2, MPI_BYTE, &pairs);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < 2 * MOST; i++) from[i] = (unsigned char)(i * 7 + i / 251);
    int sender = rank == size - 1, receiver = rank == 0;
    unsigned long long read = 0, expected = 0;
    count_reads();

    for (unsigned turn = 0; turn < sizeof lengths / sizeof *lengths; turn++) {
        int bytes = lengths[turn];
        // One by one, synchronous ones too, and into room that is too small by a byte.
        if (sender) {
            MPI_Send(from, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            MPI_Ssend(from + 1, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            MPI_Send(from + 2, bytes + 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
        if (receiver) {
            for (int tag = 1; tag <= 3; tag++) {
                memset(to, 0, bytes + 1);
                error = MPI_Recv(to, bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
                check(memcmp(to, from + tag - 1, bytes) == 0 && to[bytes] == 0, "data", bytes);
                if (error != MPI_SUCCESS) MPI_Error_class(error, &error);
                check(error == (tag == 3 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the error", bytes);
                expected += bytes + (tag == 3) > 65592 && bytes > 0;
            }
        }
    }
    // Many at once, the receives later than the messages.
    for (int i = 0; i < 32 && sender; i++) MPI_Isend(from + i, 300000, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 32 && receiver; i++)
        MPI_Irecv(to + i * 300000, 300000, MPI_BYTE, size - 1, i, MPI_COMM_WORLD, &requests[i]);
    if (sender || receiver) MPI_Waitall(32, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 32 && receiver; i++) check(memcmp(to + i * 300000, from + i, 300000) == 0, "one of many", i);
    expected += receiver ? 32 : 0;

    // Data with gaps on one side or on both goes in pieces.
    if (sender) {
        MPI_Send(from, 1, pairs, 0, 0, MPI_COMM_WORLD);
        MPI_Send(from, MOST / 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Send(from, 1, pairs, 0, 0, MPI_COMM_WORLD);
    }
    if (receiver) {
        MPI_Recv(to, MOST / 2, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MOST / 2; i++) check(to[i] == from[2 * i], "gaps at the sender", i);
        MPI_Recv(to, 1, pairs, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MOST / 2; i++) check(to[2 * i] == from[i], "gaps at the receiver", i);
        MPI_Recv(to, 1, pairs, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MOST / 2; i++) check(to[2 * i] == from[2 * i], "gaps on both sides", i);
        MPI_T_pvar_read(session, handle, &read);
        if (argc > 1 && strcmp(argv[1], "far") == 0 && read != expected) {
            printf("%llu messages were read from the sender's memory, not %llu\n", read, expected);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        printf("long messages: %llu were read from the sender's memory\n", read);
    }
    MPI_Type_free(&pairs);
    MPI_Finalize();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return 0;
}
