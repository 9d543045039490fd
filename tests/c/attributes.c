// Attributes of communicators and datatypes: keyvals, copy and delete callbacks, their order and errors.
#include "check.h"

static int copies, deletes, values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static void *last_deleted;

static int copy_next(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm;
    (void)keyval;
    CHECK(extra == &values[7]);
    copies++;
    *(void **)out = (int *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_never(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int type_copy_fails(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)type, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    deletes++;
    last_deleted = value;
    return MPI_SUCCESS;
}

static int refuse_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value;
    return *(int *)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void *value_of(MPI_Comm comm, int keyval) {
    void *value = NULL;
    int flag = -1;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? value : NULL;
}

static void callbacks(void) {
    int next, never, dup_fn, null_copy;
    MPI_Comm parent, child;
    CHECK_OK(MPI_Comm_create_keyval(copy_next, count_delete, &next, &values[7]));
    CHECK_OK(MPI_Comm_create_keyval(copy_never, count_delete, &never, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_fn, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_copy, NULL));
    CHECK(next != never && never != dup_fn && next != MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK(value_of(parent, next) == NULL);
    CHECK_OK(MPI_Comm_set_attr(parent, next, &values[0]));
    CHECK_OK(MPI_Comm_set_attr(parent, never, &values[1]));
    CHECK_OK(MPI_Comm_set_attr(parent, dup_fn, &values[2]));
    CHECK_OK(MPI_Comm_set_attr(parent, null_copy, &values[3]));
    CHECK(value_of(parent, next) == &values[0]);

    // Setting again deletes the old value.
    CHECK_OK(MPI_Comm_set_attr(parent, next, &values[4]));
    CHECK_EQ(deletes, 1);
    CHECK(last_deleted == &values[0]);

    CHECK_OK(MPI_Comm_dup(parent, &child));
    CHECK_EQ(copies, 2);
    CHECK(value_of(child, next) == &values[5]);
    CHECK(value_of(child, never) == NULL);
    CHECK(value_of(child, dup_fn) == &values[2]);
    CHECK(value_of(child, null_copy) == NULL);

    // A split copies no attributes.
    MPI_Comm split;
    CHECK_OK(MPI_Comm_split(parent, 0, 0, &split));
    CHECK(value_of(split, next) == NULL);
    CHECK_EQ(copies, 2);
    CHECK_OK(MPI_Comm_free(&split));

    deletes = 0;
    CHECK_OK(MPI_Comm_delete_attr(child, next));
    CHECK_EQ(deletes, 1);
    CHECK(last_deleted == &values[5]);
    CHECK(value_of(child, next) == NULL);

    // A freed keyval works on for the attributes that use it.
    int kept = next;
    CHECK_OK(MPI_Comm_free_keyval(&next));
    CHECK_EQ(next, MPI_KEYVAL_INVALID);
    (void)kept;
    deletes = 0;
    CHECK_OK(MPI_Comm_free(&parent));
    CHECK_EQ(deletes, 2);
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_EQ(deletes, 2);
    CHECK_OK(MPI_Comm_free_keyval(&never));
    CHECK_OK(MPI_Comm_free_keyval(&dup_fn));
    CHECK_OK(MPI_Comm_free_keyval(&null_copy));
}

static void failing_callbacks(void) {
    int bad_copy, bad_delete, refuse = 1;
    MPI_Comm parent, child = MPI_COMM_SELF;
    CHECK_OK(MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &bad_copy, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &bad_delete, &refuse));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &parent));
    CHECK_OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_attr(parent, bad_copy, &values[0]));
    CHECK(MPI_Comm_dup(parent, &child) != MPI_SUCCESS);
    CHECK(child == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_delete_attr(parent, bad_copy));
    CHECK_OK(MPI_Comm_set_attr(parent, bad_delete, &values[1]));
    CHECK(MPI_Comm_delete_attr(parent, bad_delete) != MPI_SUCCESS);
    CHECK(value_of(parent, bad_delete) == &values[1]);
    refuse = 0;
    CHECK_OK(MPI_Comm_free_keyval(&bad_copy));
    CHECK_OK(MPI_Comm_free_keyval(&bad_delete));
    CHECK_OK(MPI_Comm_free(&parent));
}

static void failing_copy_of_a_type(void) {
    int bad_copy;
    MPI_Datatype type, copy = MPI_INT;
    CHECK_OK(MPI_Type_create_keyval(type_copy_fails, MPI_TYPE_NULL_DELETE_FN, &bad_copy, NULL));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, bad_copy, &values[0]));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
    CHECK(copy == MPI_DATATYPE_NULL);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Type_free_keyval(&bad_copy));
    CHECK_OK(MPI_Type_free(&type));
}

static void predefined_are_read_only(void) {
    int value = 3;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); // for calls without a communicator
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value) != MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value), MPI_ERR_KEYVAL);
    int key = MPI_KEYVAL_INVALID;
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

// A keyval that a value uses may be freed by a second copy of its number, as in other libraries; afterwards it may not.
static void freed_twice(void) {
    int keyval, copy, third;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &keyval, NULL));
    copy = third = keyval;
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &values[5]));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Comm_free_keyval(&copy));
    CHECK_EQ(copy, MPI_KEYVAL_INVALID);
    CHECK(value_of(comm, third) == &values[5]);
    int before = deletes;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_EQ(deletes, before + 1);
    if (oracle) return;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Comm_free_keyval(&third), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

static int type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)type, (void)keyval, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra) {
    (void)type, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void of_types(void) {
    int key, flag = 0;
    void *value = NULL;
    MPI_Datatype type, dup;
    copies = deletes = 0;
    CHECK_OK(MPI_Type_create_keyval(type_copy, type_delete, &key, NULL));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, &values[6]));
    CHECK_OK(MPI_Type_dup(type, &dup));
    CHECK_EQ(copies, 1);
    CHECK_OK(MPI_Type_get_attr(dup, key, &value, &flag));
    CHECK(flag && value == &values[6]);
    CHECK_OK(MPI_Type_delete_attr(dup, key));
    CHECK_OK(MPI_Type_get_attr(dup, key, &value, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&dup));
    CHECK_EQ(deletes, 2);
    CHECK_OK(MPI_Type_free_keyval(&key));
}

int main(int argc, char **argv) {
    check_start(argc, argv);
    callbacks();
    failing_callbacks();
    failing_copy_of_a_type();
    predefined_are_read_only();
    freed_twice();
    of_types();
    return check_finish();
}
