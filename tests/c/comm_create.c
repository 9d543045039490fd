// MPI_Comm_create and MPI_Comm_create_group, also with disjoint groups at once; comparisons and names.
#include "check.h"

static MPI_Group world;

static MPI_Group strided(int first, int step) {
    int range[1][3] = {{first, check_size - 1, step}};
    MPI_Group group = MPI_GROUP_EMPTY;
    if (first < check_size) CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
    return group;
}

static void count_members(MPI_Comm comm, MPI_Group group) {
    int want = 0, size = 0, sum = 0, one = 1, rank = -1, group_rank = -1;
    CHECK_OK(MPI_Group_size(group, &want));
    CHECK_OK(MPI_Group_rank(group, &group_rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(size, want);
    CHECK_EQ(rank, group_rank);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, want);
}

static void create(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Group even = strided(0, 2);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, even, &comm));
    if (check_rank % 2 == 0) {
        count_members(comm, even);
        CHECK_OK(MPI_Comm_free(&comm));
    } else {
        CHECK(comm == MPI_COMM_NULL);
    }
    // Disjoint groups in one call.
    MPI_Group mine = strided(check_rank % 2, 2);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, mine, &comm));
    count_members(comm, mine);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&even));
    CHECK_OK(MPI_Group_free(&mine));
}

static void create_group(void) {
    MPI_Group mine = strided(check_rank % 2, 2), reversed = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    for (int tag = 0; tag < 20; tag++) {
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, mine, tag, &comm));
        count_members(comm, mine);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    // Only members call; traffic with equal tags on the parent is not disturbed.
    if (check_size >= 2 && check_rank < 2) {
        int ranks[2] = {1, 0}, out = check_rank, in = -1;
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 1 - check_rank, 7, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Group_incl(world, 2, ranks, &reversed));
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, reversed, 7, &comm));
        count_members(comm, reversed);
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, 1 - check_rank, 7, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQ(in, 1 - check_rank);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Group_free(&reversed));
    }
    CHECK_OK(MPI_Group_free(&mine));
}

static void compare(void) {
    MPI_Comm dup, reversed, part;
    int result = -1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &part));
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Comm_compare(dup, dup, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, dup, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(reversed, dup, &result));
    CHECK_EQ(result, check_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(part, dup, &result));
    CHECK_EQ(result, check_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(MPI_COMM_SELF, MPI_COMM_WORLD, &result));
    CHECK_EQ(result, check_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&reversed));
    CHECK_OK(MPI_Comm_free(&part));
}

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    MPI_Comm dup = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &len));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    CHECK_EQ(len, 14);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &len));
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_get_name(dup, name, &len));
    CHECK_EQ(len, 0);
    CHECK_EQ(name[0], 0);
    CHECK_OK(MPI_Comm_set_name(dup, "weavers"));
    CHECK_OK(MPI_Comm_get_name(dup, name, &len));
    CHECK(strcmp(name, "weavers") == 0 && len == 7);
    CHECK_OK(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &len));
    CHECK(strcmp(name, "everybody") == 0);
    char longest[2 * MPI_MAX_OBJECT_NAME];
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_OBJECT_NAME - 1] = 0;
    CHECK_OK(MPI_Comm_set_name(dup, longest));
    CHECK_OK(MPI_Comm_get_name(dup, name, &len));
    CHECK(strcmp(name, longest) == 0);
    CHECK_OK(MPI_Comm_free(&dup));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    create();
    create_group();
    compare();
    names();
    CHECK_OK(MPI_Group_free(&world));
    return check_finish();
}
