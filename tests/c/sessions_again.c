// A session before MPI_Init and one after MPI_Finalize, which reaches ranks that nobody has spoken to before. A process
// of another machine that has ended its last session is there until all have: messages may be on their way from it.
// levels: none
// ranks: 1-4
#include "sessions.h"

#include <time.h>
#include <unistd.h>

// True if the process is there, and has not ended.
static int is_there(int pid) {
    char name[64], state = 'X';
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 'X';
        }
        fclose(file);
    }
    return state != 'X' && state != 'Z';
}

static int all_are_on_one_machine(MPI_Comm world, int size) {
    MPI_Comm machine;
    CHECK_OK(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    int here = -1;
    CHECK_OK(MPI_Comm_size(machine, &here));
    CHECK_OK(MPI_Comm_free(&machine));
    return here == size;
}

int main(void) {
    MPI_Session session = session_begin();
    session_end(&session);
    CHECK_OK(MPI_Init(NULL, NULL));
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK_OK(MPI_Finalize());

    session = session_begin();
    MPI_Comm world = session_comm(session, "mpi://WORLD", "again");
    int size = -1, pid_of_first = -1;
    CHECK_OK(MPI_Comm_size(world, &size));
    for (int distance = 0; distance < size; distance++) {
        int to = (check_rank + distance) % size, from = (check_rank + size - distance) % size;
        int mine[] = {check_rank, getpid()}, got[] = {-1, -1};
        CHECK_OK(MPI_Sendrecv(mine, 2, MPI_INT, to, 1, got, 2, MPI_INT, from, 1, world, MPI_STATUS_IGNORE));
        CHECK_EQ(got[0], from);
        if (from == 0) {
            pid_of_first = got[1];
        }
    }
    int one_machine = all_are_on_one_machine(world, size);
    CHECK_OK(MPI_Comm_free(&world));
    session_end(&session);

    // The others end at once.
    time_t end = time(NULL) + 2;
    int is_here = 1;
    while (!one_machine && check_rank == size - 1 && is_here && time(NULL) < end) {
        is_here = is_there(pid_of_first);
        usleep(1000);
    }
    CHECK(is_here);
    return check_status();
}
