// Groups: set operations, inclusion and exclusion, ranges, translation, comparison.
#include "check.h"

static MPI_Group world;

// The members of a group as world ranks; returns how many.
static int members(MPI_Group group, int *out) {
    int size = -1, ranks[64];
    CHECK_OK(MPI_Group_size(group, &size));
    for (int i = 0; i < size; i++) ranks[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, size, ranks, world, out));
    return size;
}

static void has(MPI_Group group, int n, const int *want, int line) {
    int got[64], size = members(group, got), rank = -1, my_rank = MPI_UNDEFINED;
    if (size != n) {
        fprintf(stderr, "groups.c:%d: rank %d: size %d, wanted %d\n", line, check_rank, size, n);
        CHECK(size == n);
        return;
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(got[i], want[i]);
        if (want[i] == check_rank) my_rank = i;
    }
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_EQ(rank, my_rank);
}

#define HAS(group, ...)                                                        \
    do {                                                                       \
        int want_[] = {-1, __VA_ARGS__};                                       \
        has((group), (int)(sizeof want_ / sizeof *want_) - 1, want_ + 1, __LINE__); \
    } while (0)

static MPI_Group incl(int n, const int *ranks) {
    MPI_Group group = MPI_GROUP_NULL;
    CHECK_OK(MPI_Group_incl(world, n, ranks, &group));
    return group;
}

static void with_eight(void) {
    MPI_Group a = incl(4, (int[]){5, 1, 7, 3}), b = incl(4, (int[]){0, 3, 1, 6}), g = MPI_GROUP_NULL;
    HAS(a, 5, 1, 7, 3);
    CHECK_OK(MPI_Group_union(a, b, &g));
    HAS(g, 5, 1, 7, 3, 0, 6);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_intersection(a, b, &g));
    HAS(g, 1, 3);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_difference(a, b, &g));
    HAS(g, 5, 7);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_difference(b, a, &g));
    HAS(g, 0, 6);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_excl(a, 2, (int[]){0, 2}, &g));
    HAS(g, 1, 3);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_incl(a, 2, (int[]){3, 0}, &g));
    HAS(g, 3, 5);
    CHECK_OK(MPI_Group_free(&g));

    int ranges[3][3] = {{6, 0, -3}, {1, 1, 1}, {4, 7, 3}};
    CHECK_OK(MPI_Group_range_incl(world, 3, ranges, &g));
    HAS(g, 6, 3, 0, 1, 4, 7);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_range_excl(world, 3, ranges, &g));
    HAS(g, 2, 5);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_range_incl(world, 0, NULL, &g));
    HAS(g);

    int out[4];
    CHECK_OK(MPI_Group_translate_ranks(a, 4, (int[]){0, 1, 2, 3}, b, out));
    CHECK(out[0] == MPI_UNDEFINED && out[1] == 2 && out[2] == MPI_UNDEFINED && out[3] == 1);
    CHECK_OK(MPI_Group_translate_ranks(a, 2, (int[]){MPI_PROC_NULL, 1}, b, out));
    CHECK(out[0] == MPI_PROC_NULL && out[1] == 2);

    int result = -1;
    MPI_Group c = incl(4, (int[]){1, 3, 5, 7}), d = incl(4, (int[]){5, 1, 7, 3});
    CHECK_OK(MPI_Group_compare(a, d, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_compare(a, c, &result));
    CHECK_EQ(result, MPI_SIMILAR);
    CHECK_OK(MPI_Group_compare(a, b, &result));
    CHECK_EQ(result, MPI_UNEQUAL);
    CHECK_OK(MPI_Group_free(&a));
    CHECK_OK(MPI_Group_free(&b));
    CHECK_OK(MPI_Group_free(&c));
    CHECK_OK(MPI_Group_free(&d));
}

static void empty(void) {
    MPI_Group g = MPI_GROUP_NULL;
    int size = -1, rank = 0, result = -1;
    CHECK_OK(MPI_Group_size(MPI_GROUP_EMPTY, &size));
    CHECK_EQ(size, 0);
    CHECK_OK(MPI_Group_rank(MPI_GROUP_EMPTY, &rank));
    CHECK_EQ(rank, MPI_UNDEFINED);
    CHECK_OK(MPI_Group_incl(world, 0, NULL, &g));
    CHECK_OK(MPI_Group_compare(g, MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_difference(world, world, &g));
    CHECK_OK(MPI_Group_compare(g, MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_union(world, MPI_GROUP_EMPTY, &g));
    CHECK_OK(MPI_Group_compare(g, world, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&g));
    CHECK_OK(MPI_Group_intersection(world, MPI_GROUP_EMPTY, &g));
    CHECK_OK(MPI_Group_size(g, &size));
    CHECK_EQ(size, 0);
    CHECK_OK(MPI_Group_excl(world, 0, NULL, &g));
    CHECK_OK(MPI_Group_compare(g, world, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&g));
}

static void of_communicators(void) {
    MPI_Comm reversed;
    MPI_Group g = MPI_GROUP_NULL;
    int want[64];
    for (int i = 0; i < check_size; i++) want[i] = check_size - 1 - i;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed));
    CHECK_OK(MPI_Comm_group(reversed, &g));
    has(g, check_size, want, __LINE__);
    CHECK_OK(MPI_Group_free(&g));
    CHECK(g == MPI_GROUP_NULL);
    CHECK_OK(MPI_Comm_free(&reversed));
    CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &g));
    has(g, 1, &check_rank, __LINE__);
    CHECK_OK(MPI_Group_free(&g));
}

static void wrong_use(void) {
    MPI_Group g = MPI_GROUP_NULL;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Group_incl(world, 1, (int[]){check_size}, &g), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_incl(world, 1, (int[]){-1}, &g), MPI_ERR_RANK);
    if (!oracle) CHECK_CLASS(MPI_Group_incl(world, 2, (int[]){0, 0}, &g), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_excl(world, 1, (int[]){check_size}, &g), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_incl(world, -1, NULL, &g), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_range_incl(world, 1, (int[1][3]){{0, 0, 0}}, &g), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &(int){0}), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_union(world, MPI_GROUP_NULL, &g), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_free(&g), MPI_ERR_GROUP);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (check_size >= 8) with_eight();
    empty();
    of_communicators();
    wrong_use();
    CHECK_OK(MPI_Group_free(&world));
    return check_finish();
}
