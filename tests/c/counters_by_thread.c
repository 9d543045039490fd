// The counters of critical sections by thread: each thread has an element, which the next one gets when it has ended, and
// together they are what all threads have counted. HEDDLE_STATS prints a line for each thread. The last thread has taken the bias
// of a lock from another one, and got it.
// ranks: 1
// levels: multiple
// models: default
// settings: HEDDLE_STATS=on
// heddle: only
// output: ^Heddle: .*\n  section .* biases given +revoked +left out\n(  .*\n)*  thread 0 .*\n  thread 1 .*\n  thread 2 .*\n  thread 3 .* [1-9]\d* +[1-9]\d* +0\n  requests .*\n  communicators .*\n$
#include "counters.h"
#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 3, MESSAGES = 100, PLACES = 64 };

static sem_t turn[THREADS], done;
static int place[THREADS];

// The calling thread's element.
static int find_place(void) { return (int)counter_level("heddle_thread_place"); }

static void exchange(int count) {
    for (int i = 0; i < count; i++) {
        int in = -1;
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, i);
    }
}

// Each works when it is its turn, and stays until the others have worked, too.
static void *work(void *arg) {
    int thread = *(int *)arg;
    sem_wait(&turn[thread]);
    exchange((thread + 1) * MESSAGES);
    place[thread] = find_place();
    sem_post(&done);
    sem_wait(&turn[thread]);
    return NULL;
}

static void read_all(const struct counter *counter, unsigned long long *values) {
    CHECK_EQ(counter->elements, PLACES);
    CHECK_OK(MPI_T_pvar_read(counter->session, counter->handle, values));
}

int main(int argc, char **argv) {
    int provided, number[THREADS];
    pthread_t threads[THREADS];
    unsigned long long before[PLACES], after[PLACES];
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_start(argc, argv);
    exchange(1);
    int own = find_place();
    struct counter all = counter_start("heddle_acquisitions_main");
    struct counter by_thread = counter_start("heddle_thread_acquisitions_main");
    sem_init(&done, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        sem_init(&turn[i], 0, 0);
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        read_all(&by_thread, before);
        sem_post(&turn[i]);
        sem_wait(&done);
        read_all(&by_thread, after);
        CHECK(place[i] != own && place[i] >= 0 && place[i] < PLACES);
        for (int other = 0; other < i; other++) CHECK(place[other] != place[i]);
        for (int element = 0; element < PLACES; element++) {
            unsigned long long counted = after[element] - before[element];
            // A send, a receive and a wait: at least one of them enters on the main path.
            if (element == place[i]) CHECK(counted >= (unsigned long long)(i + 1) * MESSAGES);
            else CHECK_EQ(counted, 0);
        }
    }
    CHECK_EQ(counter_read(&by_thread), counter_read(&all));
    int last = place[THREADS - 1];
    for (int i = 0; i < THREADS; i++) {
        sem_post(&turn[i]);
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    // The counts of an ended thread stay, and the next one adds to those in the lowest free place.
    read_all(&by_thread, before);
    CHECK(before[last] >= THREADS * MESSAGES);
    sem_post(&turn[0]);
    sem_post(&turn[0]);
    CHECK_EQ(pthread_create(&threads[0], NULL, work, &number[0]), 0);
    CHECK_EQ(pthread_join(threads[0], NULL), 0);
    int lowest = own == 0 ? 1 : 0;
    CHECK_EQ(place[0], lowest);
    read_all(&by_thread, after);
    CHECK(after[lowest] >= before[lowest] + MESSAGES);
    CHECK_EQ(counter_end(&by_thread), counter_end(&all));
    CHECK_OK(MPI_T_finalize());
    return check_finish();
}
