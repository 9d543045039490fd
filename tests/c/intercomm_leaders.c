// Leaders that are no process: MPI_PROC_NULL, MPI_ROOT, MPI_ANY_SOURCE, the number of processes, and the largest number. All
// processes of the leader's group learn of it, none waits, and the communicators work afterwards.
// ranks: 1-4
#include "check.h"
#include <limits.h>

static const int nobody[] = {MPI_PROC_NULL, MPI_ROOT, MPI_ANY_SOURCE, MPI_UNDEFINED, -1, INT_MAX, INT_MIN, 1 << 20};
enum { NOBODY = sizeof nobody / sizeof *nobody };

static void remote_leaders(MPI_Comm local, MPI_Comm peer, int leader) {
    int size, is_inter;
    MPI_Comm inter;
    CHECK_OK(MPI_Comm_test_inter(peer, &is_inter));
    CHECK_OK(is_inter ? MPI_Comm_remote_size(peer, &size) : MPI_Comm_size(peer, &size));
    for (int i = 0; i < NOBODY; i++) CHECK_CLASS(MPI_Intercomm_create(local, leader, peer, nobody[i], 3, &inter), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(local, leader, peer, size, 3, &inter), MPI_ERR_RANK);
    CHECK_OK(MPI_Barrier(local));
}

static void local_leaders(MPI_Comm local, MPI_Comm peer) {
    int size;
    MPI_Comm inter;
    CHECK_OK(MPI_Comm_size(local, &size));
    for (int i = 0; i < NOBODY; i++) CHECK_CLASS(MPI_Intercomm_create(local, nobody[i], peer, 0, 3, &inter), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(local, size, peer, 0, 3, &inter), MPI_ERR_RANK);
}

static void of_groups(void) {
    int first = 0;
    MPI_Group world, mine, others;
    MPI_Comm inter;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &first, &others));
    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &mine));
    for (int i = 0; i < NOBODY; i++) {
        CHECK_CLASS(MPI_Intercomm_create_from_groups(mine, 0, others, nobody[i], "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                    MPI_ERR_RANK);
        CHECK_CLASS(MPI_Intercomm_create_from_groups(mine, nobody[i], others, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                    MPI_ERR_RANK);
    }
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&mine));
    CHECK_OK(MPI_Group_free(&others));
}

// Only the leader's peer_comm counts, and a wrong one is known to its whole group.
static void no_peer(MPI_Comm local, int rank, int leader) {
    MPI_Comm inter;
    MPI_Comm peer = rank == leader ? MPI_COMM_NULL : MPI_COMM_WORLD;
    CHECK_CLASS(MPI_Intercomm_create(local, leader, peer, 0, 3, &inter), MPI_ERR_COMM);
    CHECK_OK(MPI_Barrier(local));
}

// The groups of an intercommunicator are peers, too: its ranks are those of the remote group.
static void over_intercomm(MPI_Comm half, int side) {
    MPI_Comm inter, again;
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    remote_leaders(half, inter, 0);
    CHECK_OK(MPI_Intercomm_create(half, 0, inter, 0, 4, &again));
    int sum = 0, one = 1, size;
    CHECK_OK(MPI_Comm_remote_size(again, &size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again));
    CHECK_EQ(sum, size);
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_free(&inter));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    MPI_Comm peer, half;
    int side = check_rank % 2, rank, size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &peer));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &half));
    MPI_Comm all[] = {MPI_COMM_WORLD, MPI_COMM_SELF, peer, half};
    for (int i = 0; i < 4; i++) CHECK_OK(MPI_Comm_set_errhandler(all[i], MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_rank(half, &rank));
    CHECK_OK(MPI_Comm_size(half, &size));
    remote_leaders(MPI_COMM_SELF, MPI_COMM_WORLD, 0);
    remote_leaders(MPI_COMM_SELF, peer, 0);
    remote_leaders(half, peer, size - 1);
    remote_leaders(MPI_COMM_WORLD, MPI_COMM_SELF, 0);
    local_leaders(half, peer);
    local_leaders(MPI_COMM_SELF, MPI_COMM_WORLD);
    no_peer(half, rank, size - 1);
    of_groups();
    if (check_size > 1) over_intercomm(half, side);
    CHECK_OK(MPI_Comm_free(&peer));
    CHECK_OK(MPI_Comm_free(&half));
    return check_finish();
}
