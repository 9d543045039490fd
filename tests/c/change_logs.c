// Small additions of MPI 4.0, 4.1 and 5.0 that no other program is about: pairs of value and index, operators with large counts, Fortran's
// logicals of fixed size, names of null handles, buffers too large for an int, aligned windows, attributes at MPI_Comm_disconnect, the version of the ABI.
// ranks: 1-4
// abi: standard MPI_ABI_VERSION is missing
#include "check.h"

static const struct pair {
    MPI_Datatype value, index, pair;
} pairs[] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},           {MPI_LONG, MPI_INT, MPI_LONG_INT},
    {MPI_INT, MPI_INT, MPI_2INT},        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},             {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
};

// A type that exists is the named one, whose combiner says so; one that does not is MPI_DATATYPE_NULL, and no error.
static void value_and_index(void) {
    int integers, addresses, types, combiner = -1;
    MPI_Datatype got = MPI_INT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK_OK(MPI_Type_get_value_index(pairs[i].value, pairs[i].index, &got));
        CHECK(got == pairs[i].pair);
        CHECK_OK(MPI_Type_get_envelope(got, &integers, &addresses, &types, &combiner));
        CHECK_EQ(combiner, MPI_COMBINER_NAMED);
    }
    struct {
        double value;
        int index;
    } mine = {check_rank % 2, check_rank}, most = {-1, -1};
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &got));
    CHECK_OK(MPI_Allreduce(&mine, &most, 1, got, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(most.value == (check_size > 1) && most.index == (check_size > 1));
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, &got));
    CHECK(got == MPI_DATATYPE_NULL);
}

static void largest_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype) {
    (void)datatype;
    const long *from = in;
    long *to = inout;
    for (MPI_Count i = 0; i < *len; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void operator_with_large_counts(void) {
    MPI_Op op = MPI_OP_NULL;
    long mine[3] = {check_rank, -check_rank, 7}, out[3] = {-1, -1, -1};
    CHECK_OK(MPI_Op_create_c(largest_c, 1, &op));
    CHECK_OK(MPI_Allreduce(mine, out, 3, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(out[0] == check_size - 1 && out[1] == 0 && out[2] == 7);
    CHECK_OK(MPI_Allreduce_c(mine, out, 3, MPI_LONG, op, MPI_COMM_WORLD));
    CHECK(out[0] == check_size - 1 && out[1] == 0 && out[2] == 7);
    CHECK_OK(MPI_Op_free(&op));
}

// .true. is 1 and .false. is 0 in all of its bytes, as MPI_Abi_get_fortran_booleans says.
static void logicals(void) {
    const struct {
        MPI_Datatype type;
        int size;
    } kinds[] = {{MPI_LOGICAL1, 1}, {MPI_LOGICAL2, 2}, {MPI_LOGICAL4, 4}, {MPI_LOGICAL8, 8}, {MPI_LOGICAL16, 16}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned char truth[16], untruth[16], out[16];
        int size = -1, is_set = -1;
        // The oracle has no type for the compiler's lack of it.
        if (oracle) continue;
        CHECK_OK(MPI_Type_size(kinds[i].type, &size));
        CHECK_EQ(size, kinds[i].size);
        MPI_Aint packed = -1;
        CHECK_OK(MPI_Pack_external_size("external32", 1, kinds[i].type, &packed));
        CHECK_EQ(packed, size);
        CHECK_OK(MPI_Abi_get_fortran_booleans(size, truth, untruth, &is_set));
        CHECK_EQ(is_set, 1);
        const struct {
            MPI_Op op;
            bool want;
        } all[] = {{MPI_LAND, check_size == 1}, {MPI_LOR, true}, {MPI_LXOR, true}};
        for (size_t o = 0; o < sizeof all / sizeof *all; o++) {
            // Only the first rank says yes.
            const void *mine = check_rank == 0 ? truth : untruth;
            memset(out, 7, sizeof out);
            CHECK_OK(MPI_Allreduce(mine, out, 1, kinds[i].type, all[o].op, MPI_COMM_WORLD));
            CHECK(memcmp(out, all[o].want ? truth : untruth, (size_t)size) == 0);
        }
        CHECK_CLASS(MPI_Allreduce(truth, out, 1, kinds[i].type, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    }
}

static void names_of_null(void) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = -1;
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13);
    CHECK_OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == 17);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == 12);
}

// The size of a buffer that an int cannot hold. Nothing is stored in the buffer, so its memory need not be there.
static void large_buffer(void) {
    static char memory[64];
    void *back = NULL;
    int size = -1;
    MPI_Count large = (MPI_Count)INT32_MAX + 10, got = -1;
    CHECK_OK(MPI_Buffer_attach_c(memory, large));
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == memory && size == MPI_UNDEFINED);
    CHECK_OK(MPI_Buffer_attach_c(memory, large));
    CHECK_OK(MPI_Buffer_detach_c(&back, &got));
    CHECK(back == memory && got == large);
}

// Windows heed the wanted alignment of the memory that they allocate.
static void aligned(void) {
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "1024"));
    for (int shared = 0; shared < 2; shared++) {
        void *memory = NULL;
        MPI_Win win = MPI_WIN_NULL;
        if (shared) CHECK_OK(MPI_Win_allocate_shared(1024, 1, info, MPI_COMM_WORLD, &memory, &win));
        else CHECK_OK(MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &memory, &win));
        CHECK(memory != NULL && (oracle || (uintptr_t)memory % 1024 == 0));
        CHECK_OK(MPI_Win_free(&win));
    }
    CHECK_OK(MPI_Info_free(&info));
}

static int deleted;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    deleted += value == &deleted;
    return MPI_SUCCESS;
}

// MPI_Comm_disconnect deletes attributes, and an inactive persistent request may be freed after it.
static void disconnected(void) {
    int keyval = MPI_KEYVAL_INVALID, number = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &deleted));
    CHECK_OK(MPI_Send_init(&number, 1, MPI_INT, check_rank, 1, comm, &request));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL && deleted == 1);
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static void abi(void) {
    int major = -7, minor = -7;
    CHECK_OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)}, {"mpi_count_size", sizeof(MPI_Count)}, {"mpi_offset_size", sizeof(MPI_Offset)}};
    MPI_Info info = MPI_INFO_NULL;
    CHECK_OK(MPI_Abi_get_info(&info));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char value[16] = "";
        int length = sizeof value, flag = 0;
        CHECK_OK(MPI_Info_get_string(info, sizes[i].key, &length, value, &flag));
        CHECK(flag && (size_t)atoi(value) == sizes[i].size);
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    abi(); // it may be asked at any time
    check_start(argc, argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    value_and_index();
    operator_with_large_counts();
    logicals();
    names_of_null();
    large_buffer();
    aligned();
    disconnected();
    abi();
    return check_finish();
}
