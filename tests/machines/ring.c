// A token goes round all ranks; every rank says on how many machines they are. Barriers go by leaders where machines have several
// ranks, as the launcher has told. With the argument `killed`, the last rank is killed in the middle while the others wait for
// it; with `exits` it exits, and all have had a session before. With `until FILE`, rank 0 says when the token has gone round a thousand times, and
// it goes on until the file exists.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns true if barriers go by leaders.
static int barriers_by_leaders(void) {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long barriers = 0;
    int index, count;
    MPI_T_pvar_get_index("heddle_leader_collectives", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    for (int i = 0; i < 4; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_pvar_read(session, handle, &barriers);
    MPI_T_pvar_session_free(&session);
    return barriers > 0;
}

int main(int argc, char **argv) {
    int rank, size, token = 0, local, first, machines = 0, provided;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Comm machine;
    MPI_Session session;
    if (strcmp(how, "exits") == 0) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Session_finalize(&session);
    }
    // Events are counted if MPI_T is in use when MPI begins.
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local);
    first = local == 0;
    MPI_Allreduce(&first, &machines, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char *until = argc > 2 && strcmp(how, "until") == 0 ? argv[2] : NULL;
    int round = 0, last = 1000;
    for (; round < last; round++) {
        if (until && round == last - 1) {
            if (rank == 0 && last == 1000) {
                printf("on the way\n");
                fflush(stdout);
            }
            int goes_on = rank == 0 && access(until, F_OK) != 0;
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (goes_on) last += 100;
        }
        if (round == 500 && rank == size - 1) {
            if (strcmp(how, "killed") == 0) raise(SIGKILL);
            if (strcmp(how, "exits") == 0) exit(0);
        }
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        }
    }
    if (barriers_by_leaders() != (1 < machines && machines < size)) {
        fprintf(stderr, "rank %d of %d does not know which ranks share a machine: %d\n", rank, size, machines);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        printf("%d ranks on %d machines: the token was passed on %d times\n", size, machines, token);
        if (token != last * (size - 1)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&machine);
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
