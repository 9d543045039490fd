// The state that all threads of the program share: the plan and the communicators.
#ifndef HEDDLE_TEST_PROGRAM_H
#define HEDDLE_TEST_PROGRAM_H

#include "../c/threads.h"
#include "schedule.h"

enum { THREADS_AT_MOST = 64, ROOM = 1 << 22 };

static struct plan plan = {.seed = 1, .ranks = 1, .threads = 2, .steps = 300, .rounds = 3};
static MPI_Comm comms[COMMS];             // the world, a duplicate, one in reverse order, two with sharded messages
static MPI_Comm wild[THREADS_AT_MOST];    // only thread t of a rank receives on wild[t]
static MPI_Comm by_part[THREADS_AT_MOST]; // thread t of every rank does collectives on by_part[t]

// Receives on this one name their source; on it and on the one before it they name their tag.
enum { NO_ANY_SOURCE = COMMS - 1 };

// A duplicate of the world with a hint, and perhaps another one.
static MPI_Comm hinted(const char *key, const char *value, const char *another) {
    MPI_Info info;
    MPI_Comm comm;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    if (another != NULL) CHECK_OK(MPI_Info_set(info, another, "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    CHECK_OK(MPI_Info_free(&info));
    return comm;
}

// A rank of the world as a rank of comms[comm], and the other way round: it is its own inverse.
static int rank_in(int comm, int rank) {
    return comm == 2 ? plan.ranks - 1 - rank : rank;
}

#endif
