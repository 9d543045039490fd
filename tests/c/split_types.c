// MPI_Comm_split_type by names of resources: shared memory, and the process sets of the session that a communicator comes from.
// levels: none
// ranks: 1-4
// heddle: only
#include "sessions.h"

// The part of a communicator that a hint names. `MPI_COMM_NULL` if there is none.
static MPI_Comm part(MPI_Comm comm, int type, const char *key, const char *value) {
    MPI_Comm new = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, key, value));
    }
    CHECK_OK(MPI_Comm_split_type(comm, type, 0, info, &new));
    if (key) CHECK_OK(MPI_Info_free(&info));
    return new;
}

static void none(MPI_Comm comm) {
    if (!CHECK(comm == MPI_COMM_NULL)) CHECK_OK(MPI_Comm_free(&comm));
}

static void of_size(MPI_Comm comm, int want) {
    int size = -1;
    if (!CHECK(comm != MPI_COMM_NULL)) return;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_EQ(size, want);
    session_exchange(comm);
    CHECK_OK(MPI_Comm_free(&comm));
}

static void hardware(MPI_Comm comm, int size) {
    const char *key = "mpi_hw_resource_type";
    // All ranks of this test run on one machine.
    of_size(part(comm, MPI_COMM_TYPE_HW_GUIDED, key, "mpi_shared_memory"), size);
    of_size(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi_shared_memory"), size);
    none(part(comm, MPI_COMM_TYPE_HW_GUIDED, key, "nonsense://Thing"));
    none(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "nonsense://Thing"));
    none(part(comm, MPI_COMM_TYPE_HW_GUIDED, NULL, NULL));
    none(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL));
    // A process set is no hardware.
    none(part(comm, MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"));
}

int main(int argc, char **argv) {
    int size = -1;
    MPI_Session session = session_begin();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "split");
    CHECK_OK(MPI_Comm_rank(comm, &check_rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    hardware(comm, size);
    const char *key = "mpi_pset_name";
    of_size(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://WORLD"), size);
    of_size(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://SELF"), 1);
    none(part(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://NONE"));
    // Only those in the process set need to name it.
    MPI_Comm some = part(comm, check_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://SELF");
    if (check_rank == 0) none(some);
    else of_size(some, 1);

    // MPI_COMM_WORLD comes from no session, so it has no process sets.
    CHECK_OK(MPI_Init(&argc, &argv));
    none(part(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi://WORLD"));
    hardware(MPI_COMM_WORLD, size);
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Comm_free(&comm));
    session_end(&session);
    return check_status();
}
