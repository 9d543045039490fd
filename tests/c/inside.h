// Keeps the library's critical section occupied, and sees in which order threads enter it and which thread runs an
// operation. A receive that finds its message raises an event inside of the critical section, whose callback notes the tag
// and the thread. That of the tag HOLD returns only when the program says so.
#ifndef HEDDLE_TEST_INSIDE_H
#define HEDDLE_TEST_INSIDE_H

#include "threads.h"
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The tags: of the receive that stays inside, of the next one of the same thread, and below them those of other threads.
enum { HOLD = 60, AGAIN = 61, MOST_TAGS = 64 };

// The elements of the event, and the plane of the program's messages.
enum { PLANE_ELEMENT = 2, TAG_ELEMENT = 4, POINT_TO_POINT = 0 };

struct entry {
    int tag;
    pid_t thread;
};

static struct {
    // This process has rank 0 in it.
    MPI_Comm comm;
    MPI_T_event_registration registration;
    sem_t held, released;
    atomic_int count;
    struct entry entries[MOST_TAGS];
    MPI_Request requests[MOST_TAGS];
    int data[MOST_TAGS];
} inside;

// Leaves the cores to others for a moment.
static void look_again_soon(void) { nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); }

static pid_t thread_id(void) { return (pid_t)syscall(SYS_gettid); }

static void on_entry(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data) {
    (void)registration, (void)safety, (void)data;
    int plane = -1, tag = -1;
    MPI_T_event_read(event, PLANE_ELEMENT, &plane);
    MPI_T_event_read(event, TAG_ELEMENT, &tag);
    if (plane != POINT_TO_POINT || tag < 0 || tag >= MOST_TAGS) return;
    int place = atomic_fetch_add(&inside.count, 1);
    if (place < MOST_TAGS) inside.entries[place] = (struct entry){tag, thread_id()};
    if (tag != HOLD) return;
    sem_post(&inside.held);
    sem_wait(&inside.released);
}

CHECK_UNUSED static void inside_begin(MPI_Comm comm) {
    int index;
    sem_init(&inside.held, 0, 0);
    sem_init(&inside.released, 0, 0);
    CHECK_OK(MPI_Comm_dup(comm, &inside.comm));
    CHECK_OK(MPI_T_event_get_index("heddle_message_matched", &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &inside.registration));
    CHECK_OK(MPI_T_event_register_callback(inside.registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, on_entry));
}

CHECK_UNUSED static void inside_end(void) {
    CHECK_OK(MPI_T_event_handle_free(inside.registration, NULL, NULL));
    CHECK_OK(MPI_Comm_free(&inside.comm));
}

// Sends the message of a tag, which waits for its receive.
CHECK_UNUSED static void prepare(int tag) {
    CHECK_OK(MPI_Isend(&inside.data[tag], 1, MPI_INT, 0, tag, inside.comm, &inside.requests[tag]));
    CHECK_OK(MPI_Wait(&inside.requests[tag], MPI_STATUS_IGNORE));
}

// Enters the critical section once: issues the receive of a tag.
CHECK_UNUSED static void enter(int tag) {
    static int received[MOST_TAGS];
    CHECK_OK(MPI_Irecv(&received[tag], 1, MPI_INT, 0, tag, inside.comm, &inside.requests[tag]));
}

// A thread that runs one function.
struct actor {
    pthread_t pthread;
    atomic_int id;
    atomic_bool over;
    int index;
    void (*act)(int index);
};

static void *actor_entry(void *arg) {
    struct actor *actor = arg;
    atomic_store(&actor->id, thread_id());
    actor->act(actor->index);
    atomic_store(&actor->over, true);
    return NULL;
}

static void actor_begin(struct actor *actor, int index, void (*act)(int index)) {
    actor->index = index;
    actor->act = act;
    actor->over = false;
    actor->id = 0;
    if (pthread_create(&actor->pthread, NULL, actor_entry, actor)) abort();
    while (!atomic_load(&actor->id)) look_again_soon();
}

static void actor_end(struct actor *actor) { pthread_join(actor->pthread, NULL); }

// The word on which a thread sleeps; 0 if it does not sleep on one now.
static uintptr_t sleeps_on(struct actor *actor) {
    char path[64], line[256] = "";
    unsigned long call = 0, word = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", atomic_load(&actor->id));
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return read && sscanf(line, "%lu %lx", &call, &word) == 2 && call == SYS_futex ? word : 0;
}

// Waits until a thread sleeps on a word, which is returned, or is over: then the result is 0.
static uintptr_t await_sleep(struct actor *actor) {
    for (;;) {
        uintptr_t word = sleeps_on(actor);
        if (word || atomic_load(&actor->over)) return word;
        look_again_soon();
    }
}

// Once a thread is inside, begins actors one by one, each when those before it sleep or are over. `words` gets the words on
// which they sleep, or 0 for one that is over.
CHECK_UNUSED static void line_up(struct actor *actors, int count, void (*act)(int index), uintptr_t *words) {
    sem_wait(&inside.held);
    for (int i = 0; i < count; i++) {
        actor_begin(&actors[i], i, act);
        words[i] = await_sleep(&actors[i]);
    }
}

// Lets the thread inside leave, and waits until the actors are over.
CHECK_UNUSED static void let_in(struct actor *actors, int count) {
    sem_post(&inside.released);
    for (int i = 0; i < count; i++) actor_end(&actors[i]);
}

// Runs `direct` in another thread while the calling thread is inside, until that posts `inside.released`. Afterwards
// the calling thread enters again at once.
CHECK_UNUSED static void hold_while(void (*direct)(int index)) {
    struct actor director;
    atomic_store(&inside.count, 0);
    prepare(HOLD);
    prepare(AGAIN);
    actor_begin(&director, 0, direct);
    enter(HOLD);
    enter(AGAIN);
    actor_end(&director);
    CHECK_OK(MPI_Waitall(2, &inside.requests[HOLD], MPI_STATUSES_IGNORE));
}

// The place of a tag among the entries; -1 if it is not among them.
CHECK_UNUSED static int place_of(int tag) {
    for (int i = 0; i < inside.count; i++) {
        if (inside.entries[i].tag == tag) return i;
    }
    return -1;
}

CHECK_UNUSED static void print_entries(void) {
    fprintf(stderr, "entries (tag/thread):");
    for (int i = 0; i < inside.count; i++) fprintf(stderr, " %d/%d", inside.entries[i].tag, inside.entries[i].thread);
    fprintf(stderr, "\n");
}

#endif
