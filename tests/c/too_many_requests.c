// When all requests are in use, operations fail with MPI_ERR_NO_MEM, no message is lost, and the program goes on: earlier
// operations complete, and then there are free requests again. Here something else lies in the way of the requests' memory,
// which grows far below all other mappings.
// ranks: 1-2
// heddle: only
#include "check.h"
#include <sys/mman.h>

enum { TOO_MANY = 1 << 20, ROOM = 200 << 20 };

// The lowest mapping among those whose addresses the kernel chose from the top down.
static char *lowest(void) {
    unsigned long start = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    char line[4096];
    while (file && start < 0x700000000000 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx", &start) != 1) start = 0;
    }
    if (file) fclose(file);
    return (char *)start;
}

static int in[TOO_MANY];
static MPI_Request requests[TOO_MANY];

// Takes back a receive that has no message.
static void cancel(MPI_Request *request) {
    MPI_Cancel(request);
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    int code = MPI_Irecv(&in[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    CHECK_OK(code);
    char *in_the_way = mmap(lowest() + ROOM, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (!CHECK(in_the_way != MAP_FAILED)) return check_finish();

    // A buffered send whose copy needs a request of its own.
    static char large[1 << 17], copy[sizeof large];
    static char room[sizeof large + MPI_BSEND_OVERHEAD];
    MPI_Request buffered;
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_SELF, room, sizeof room));
    CHECK_OK(MPI_Bsend_init(large, sizeof large, MPI_CHAR, 0, TOO_MANY + 3, MPI_COMM_SELF, &buffered));

    // Two messages that wait for their receives.
    int value = 5, got = 0, flag = 0, posted = 1;
    for (int i = 1; i <= 2; i++) CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, TOO_MANY + i, MPI_COMM_SELF));

    while (code == MPI_SUCCESS && posted < TOO_MANY) {
        code = MPI_Irecv(&in[posted], 1, MPI_INT, 0, posted, MPI_COMM_SELF, &requests[posted]);
        posted += code == MPI_SUCCESS;
    }
    CHECK_CLASS(code, MPI_ERR_NO_MEM);
    CHECK(posted > 1000 && posted < TOO_MANY);

    // Each operation that needs one more request fails, again and again, and changes nothing.
    MPI_Request request;
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
        CHECK_CLASS(MPI_Issend(&value, 1, MPI_INT, 0, TOO_MANY, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
        CHECK_CLASS(MPI_Isend(large, sizeof large, MPI_CHAR, 0, TOO_MANY, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
        CHECK_CLASS(MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
        CHECK_CLASS(MPI_Isendrecv(&value, 1, MPI_INT, 0, TOO_MANY, &got, 1, MPI_INT, 0, TOO_MANY, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
        CHECK_CLASS(MPI_Start(&buffered), MPI_ERR_NO_MEM);
    }
    CHECK_OK(MPI_Iprobe(0, TOO_MANY, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);

    // A blocking receive whose message is there needs none on the express path. Otherwise it fails, and its message stays where it is.
    code = MPI_Recv(&got, 1, MPI_INT, 0, TOO_MANY + 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    bool received = code == MPI_SUCCESS;
    if (received) CHECK_EQ(got, 5);
    else CHECK_CLASS(code, MPI_ERR_NO_MEM);

    // A matched message stays the program's until there is a request for it.
    MPI_Message message;
    CHECK_OK(MPI_Mprobe(0, TOO_MANY + 2, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Imrecv(&got, 1, MPI_INT, &message, &request), MPI_ERR_NO_MEM);

    // One joint operation needs three; with two free ones it takes none of them.
    for (int i = 0; i < 2; i++) cancel(&requests[i]);
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_Isendrecv(&value, 1, MPI_INT, 0, TOO_MANY, &got, 1, MPI_INT, 0, TOO_MANY, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);
    }
    CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_EQ(got, 5);
    got = 0;
    if (!received) CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 0, TOO_MANY + 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(got, received ? 0 : 5);
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
    CHECK_CLASS(MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_NO_MEM);

    // Some models need a request for each send: there are free ones again, once a few receives are taken back.
    for (int i = 0; i < 512; i++) cancel(&requests[--posted]);
    for (int i = 0; i < posted; i++) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE));
    int wrong = 0;
    for (int i = 0; i < posted; i++) wrong += in[i] != i;
    CHECK_EQ(wrong, 0);
    CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    // The send that could not be started was not, and its room was given back.
    if (CHECK_OK(MPI_Start(&buffered))) {
        CHECK_OK(MPI_Wait(&buffered, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(copy, sizeof copy, MPI_CHAR, 0, TOO_MANY + 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&buffered));
    }
    return check_finish();
}
