// A process that makes and frees a million communicators and datatypes, and partitioned requests, does not grow: by threads at once, with requests
// pending meanwhile. Under a slow model it makes as many as it can in a while. The argument `count=N` asks for another number of each.
// ranks: 1-2
// levels: single multiple
// heddle: only
#include "threads.h"
#include "resident.h"

enum { THREADS = 4, GROWTH_KIB = 3 << 10, LONGEST_S = 25 };

static long count = 1000000;
static int threads;

// A partitioned message to this process, and a receive without an answer.
static void partitions(int tag) {
    int out[2] = {tag, 5}, in[2] = {0, 0};
    MPI_Request requests[3];
    CHECK_OK(MPI_Precv_init(in, 1, 2, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Psend_init(out, 2, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Precv_init(in, 1, 2, MPI_INT, 0, THREADS + tag, MPI_COMM_SELF, MPI_INFO_NULL, &requests[2]));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 1, requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in[0] == tag && in[1] == 5);
    for (int i = 0; i < 3; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void come_and_go(int index, void *shared) {
    long rounds = *(long *)shared / threads;
    int in = -1, out = index;
    double end = MPI_Wtime() + LONGEST_S;
    for (long i = 0; i < rounds && (i % 64 != 0 || MPI_Wtime() < end); i++) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_SHORT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        if (i % 16 == 0) CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 1, comm, &request));
        if (i % 16 == 0) CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 1, comm));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Type_free(&type));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (i % 64 == 0) partitions(index);
    }
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    threads = check_level_asked(argc, argv) == MPI_THREAD_MULTIPLE ? THREADS : 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "count=", 6) == 0) count = atol(argv[i] + 6);
    }
    // Requests that stay pending are looked at by every collection.
    enum { PENDING = 200 };
    static int room[PENDING];
    MPI_Request pending[PENDING];
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    for (int i = 0; i < PENDING; i++) CHECK_OK(MPI_Irecv(&room[i], 1, MPI_INT, 0, i, comm, &pending[i]));
    CHECK_OK(MPI_Comm_free(&comm));
    long first = count / 10;
    threads_run(threads, come_and_go, &first);
    long before = resident_kib();
    threads_run(threads, come_and_go, &count);
    long grown = resident_kib() - before;
    if (!CHECK(grown < GROWTH_KIB)) fprintf(stderr, "rank %d grew by %ld KiB\n", check_rank, grown);
    for (int i = 0; i < PENDING; i++) {
        CHECK_OK(MPI_Cancel(&pending[i]));
        CHECK_OK(MPI_Wait(&pending[i], MPI_STATUS_IGNORE));
    }
    return check_finish();
}
