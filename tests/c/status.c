// The contents of a status: counts, elements, fields set and read by functions, cancelled marks.
#include "check.h"

static void counts(void) {
    MPI_Datatype three;
    MPI_Status status;
    int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8], count = 0;
    MPI_Count elements = 0;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &three));
    CHECK_OK(MPI_Type_commit(&three));
    for (int n = 0; n <= 6; n++) {
        CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, 0, 0, in, 2, three, 0, 0, MPI_COMM_SELF, &status));
        CHECK_OK(MPI_Get_count(&status, three, &count));
        CHECK_EQ(count, n % 3 ? MPI_UNDEFINED : n / 3);
        CHECK_OK(MPI_Get_elements(&status, three, &count));
        CHECK_EQ(count, n);
        CHECK_OK(MPI_Get_elements_x(&status, three, &elements));
        CHECK_EQ(elements, n);
        CHECK_OK(MPI_Get_elements_c(&status, three, &elements));
        CHECK_EQ(elements, n);
        CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &elements));
        CHECK_EQ(elements, n);
        CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
        CHECK_EQ(count, n % 2 ? MPI_UNDEFINED : n / 2);
    }
    CHECK_OK(MPI_Type_free(&three));
}

// Elements of a type with members of several sizes.
static void elements_of_struct(void) {
    struct pair {
        double d;
        int i;
    };
    MPI_Datatype pair, resized;
    MPI_Status status;
    struct pair out[2] = {{1.0, 2}, {3.0, 4}}, in[2];
    int count = 0;
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &pair));
    CHECK_OK(MPI_Type_create_resized(pair, 0, sizeof(struct pair), &resized));
    CHECK_OK(MPI_Type_commit(&resized));
    CHECK_OK(MPI_Sendrecv(out, 2, resized, 0, 0, in, 2, resized, 0, 0, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Get_count(&status, resized, &count));
    CHECK_EQ(count, 2);
    CHECK_OK(MPI_Get_elements(&status, resized, &count));
    CHECK_EQ(count, 4);
    CHECK_OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 24);
    // One and a half: twelve bytes and a double.
    char packed[64];
    int position = 0;
    CHECK_OK(MPI_Pack(out, 1, resized, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK_OK(MPI_Pack(&out[1].d, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK_OK(MPI_Sendrecv(packed, position, MPI_PACKED, 0, 0, in, 2, resized, 0, 0, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Get_count(&status, resized, &count));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements(&status, resized, &count));
    CHECK_EQ(count, 3);
    CHECK(in[1].d == 3.0);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&resized));
}

static void set(void) {
    MPI_Status status;
    int flag = -1, count = -1, value = -1;
    MPI_Count large = -1;
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Status_set_cancelled(&status, 0));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 7));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_EQ(count, 7);
    CHECK_OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK_EQ(count, 28);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)5 << 32));
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    CHECK_EQ(large, (MPI_Count)5 << 32);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, (MPI_Count)1 << 33));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &large));
    CHECK_EQ(large, (MPI_Count)1 << 33);
    // Setting the count leaves the mark alone, and setting the mark leaves the count alone.
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &large));
    CHECK_EQ(large, (MPI_Count)1 << 33);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 1));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);

    CHECK_OK(MPI_Status_set_source(&status, 12));
    CHECK_OK(MPI_Status_set_tag(&status, 13));
    CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK_EQ(status.MPI_SOURCE, 12);
    CHECK_EQ(status.MPI_TAG, 13);
    CHECK_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Status_get_source(&status, &value));
    CHECK_EQ(value, 12);
    CHECK_OK(MPI_Status_get_tag(&status, &value));
    CHECK_EQ(value, 13);
    CHECK_OK(MPI_Status_get_error(&status, &value));
    CHECK_EQ(value, MPI_ERR_TRUNCATE);
}

// Calls that give one status leave its MPI_ERROR as it was.
static void error_field_untouched(void) {
    MPI_Status status;
    MPI_Request request;
    int out = 1, in = 0;
    status.MPI_ERROR = 4711;
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
    if (!oracle) CHECK_EQ(status.MPI_ERROR, 4711);
    status.MPI_ERROR = 4711;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQ(status.MPI_ERROR, 4711);
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    counts();
    elements_of_struct();
    set();
    error_field_untouched();
    return check_finish();
}
