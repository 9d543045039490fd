// MPI_T: a value written to a control variable before MPI_Init replaces the environment's; later writes are refused.
// ranks: 1
// levels: none
#include "check.h"

static MPI_T_cvar_handle handle_of(const char *name) {
    int index = -1, count = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    return handle;
}

static unsigned number_of(MPI_T_cvar_handle handle) {
    unsigned number = 0;
    CHECK_OK(MPI_T_cvar_read(handle, &number));
    return number;
}

int main(int argc, char **argv) {
    int provided, level = MPI_THREAD_MULTIPLE;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI_T_cvar_handle vnis = handle_of("heddle_vnis"), model = handle_of("heddle_model"), bias = handle_of("heddle_bias");
    MPI_T_cvar_handle copies = handle_of("heddle_single_copy");
    unsigned three = 3, none = 0, many = 65;
    int off = 1, beyond = 2, thread = 1;
    CHECK_CLASS(MPI_T_cvar_write(vnis, &none), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_cvar_write(vnis, &many), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_cvar_write(vnis, NULL), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_cvar_write(model, "no-such-model"), MPI_T_ERR_INVALID);
    CHECK_CLASS(MPI_T_cvar_write(copies, &beyond), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_T_cvar_write(vnis, &three));
    CHECK_EQ(number_of(vnis), 3);
    CHECK_OK(MPI_T_cvar_write(model, "global-mutex"));
    CHECK_OK(MPI_T_cvar_write(copies, &off));
    CHECK_OK(MPI_T_cvar_write(bias, &thread));
    char text[256] = "";
    CHECK_OK(MPI_T_cvar_read(model, text));
    CHECK(strcmp(text, "global-mutex") == 0);
    CHECK_OK(MPI_Init_thread(&argc, &argv, level, &provided));
    CHECK_EQ(number_of(vnis), 3);
    CHECK_EQ(number_of(copies), off);
    CHECK_OK(MPI_T_cvar_read(model, text));
    CHECK(strcmp(text, "global-mutex") == 0);
    CHECK_CLASS(MPI_T_cvar_write(vnis, &three), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_CLASS(MPI_T_cvar_write(model, "global-mutex"), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_OK(MPI_Finalize());
    CHECK_CLASS(MPI_T_cvar_write(vnis, &three), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_OK(MPI_T_finalize());
    return check_status();
}
