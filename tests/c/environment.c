// Versions, names, clocks, predefined attributes of the environment.
#include "check.h"
#include <unistd.h>

static void names(void) {
    char name[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = -1, major = -1, minor = -1;
    memset(name, '#', sizeof name);
    CHECK_OK(MPI_Get_processor_name(name, &len));
    CHECK(len > 0 && len < MPI_MAX_PROCESSOR_NAME);
    CHECK_EQ(strlen(name), len);
    memset(library, '#', sizeof library);
    CHECK_OK(MPI_Get_library_version(library, &len));
    CHECK(len > 0 && len < MPI_MAX_LIBRARY_VERSION_STRING);
    CHECK_EQ(strlen(library), len);
    CHECK_OK(MPI_Get_version(&major, &minor));
    CHECK_EQ(major, MPI_VERSION);
    CHECK_EQ(minor, MPI_SUBVERSION);
    CHECK_OK(MPI_Pcontrol(1));
}

static void clocks(void) {
    double tick = MPI_Wtick(), last = MPI_Wtime(), first = last;
    CHECK(tick > 0.0 && tick < 1.0);
    for (int i = 0; i < 100000; i++) {
        double now = MPI_Wtime();
        if (!CHECK(now >= last)) break;
        last = now;
    }
    double before = MPI_Wtime();
    usleep(2000);
    CHECK(MPI_Wtime() - before >= 0.0015);
    CHECK(last >= first);
}

static void world_attributes(void) {
    int flag = 0, *value = NULL;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    if (CHECK(flag && value != NULL)) CHECK(*value >= 32767);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
    if (flag) CHECK(*value == 0 || *value == 1);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
    if (flag) CHECK(*value == MPI_PROC_NULL || (*value >= 0 && *value < check_size));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    if (CHECK(flag)) CHECK(*value >= MPI_ERR_LASTCODE);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    if (flag) CHECK(*value >= check_size);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    if (flag) CHECK_EQ(*value, 0);
}

static void one_world(void) {
    int rank = -1, size = -1, flag = -1;
    CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK_EQ(rank, 0);
    CHECK_EQ(size, 1);
    CHECK_OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
    CHECK_EQ(flag, 0);
    CHECK(check_rank >= 0 && check_rank < check_size);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Nobody spawned these processes; the keys of the hardware are names of resources, the values true or false.
static void origin(void) {
    MPI_Comm parent = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    int n = -1;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK(info != MPI_INFO_NULL);
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY], value[8] = "";
        int len = sizeof value, flag = 0;
        CHECK_OK(MPI_Info_get_nthkey(info, i, key));
        CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    names();
    origin();
    clocks();
    world_attributes();
    one_world();
    return check_finish();
}
