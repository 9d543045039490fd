// Deliberate faults through calls of the library: they show that a sanitizer sees the library's code.
//   faults overflow   a reduction writes behind the end of its buffer
//   faults freed      a message is received into memory that was given back
//   faults race       one thread reads a buffer while another receives into it
//   faults none       no fault; ends well
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 64 };

static void overflow(void) {
    double *in = calloc(COUNT, sizeof *in), *inout = calloc(COUNT / 2, sizeof *inout);
    MPI_Reduce_local(in, inout, COUNT, MPI_DOUBLE, MPI_SUM);
    free(in);
    free(inout);
}

static void freed(void) {
    char *volatile given_back = malloc(8), out[8] = "message";
    char *in = given_back;
    free(given_back);
    MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static int shared[COUNT];

static void *receiver(void *unused) {
    MPI_Recv(shared, COUNT, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

static void race(void) {
    int out[COUNT] = {0};
    pthread_t thread;
    // Sent before there is a receive: so it is the receiver that writes, not the sender.
    MPI_Send(out, COUNT, MPI_INT, 0, 2, MPI_COMM_SELF);
    pthread_create(&thread, NULL, receiver, NULL);
    // Nothing orders this with what the receiver does before the join.
    volatile int seen = shared[0];
    (void)seen;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    int provided;
    const char *fault = argc == 2 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (strcmp(fault, "overflow") == 0) {
        overflow();
    } else if (strcmp(fault, "freed") == 0) {
        freed();
    } else if (strcmp(fault, "race") == 0) {
        race();
    } else if (strcmp(fault, "none") != 0) {
        fprintf(stderr, "usage: %s overflow|freed|race|none\n", argv[0]);
        return 2;
    }
    MPI_Finalize();
    return 0;
}
