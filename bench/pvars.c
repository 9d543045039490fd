/* Performance variables of the library under measurement (MPI_T), asked for by name: how much each of rank 0's grew for a
 * unit of rank 0's work, from before the first repetition to after the last. With a library that counts lock
 * acquisitions this is Table 1 of Balaji et al. (IJHPCA 2010); with productive ones beside them, the progress efficiency of
 * Amer et al. (ACM TOPC 2019). A name that the library does not have is reported and left out. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
    const char *name;
    MPI_T_pvar_handle handle;
    MPI_Datatype type;
    int count;
    double before;
};

struct pvars {
    MPI_T_pvar_session session;
    struct variable found[MAX_PVARS];
    int found_count;
};

static bool adds_up(int class) {
    return class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE || class == MPI_T_PVAR_CLASS_TIMER;
}

static bool readable(MPI_Datatype type) {
    return type == MPI_INT || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
           type == MPI_COUNT || type == MPI_DOUBLE;
}

/* The sum of its elements. */
static double read_sum(struct pvars *p, const struct variable *v) {
    union {
        int i;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        MPI_Count c;
        double d;
    } *values = calloc((size_t)v->count, sizeof *values);
    double sum = 0;
    if (!values || MPI_T_pvar_read(p->session, v->handle, values) != MPI_SUCCESS) {
        fprintf(stderr, "mtbench: the performance variable %s cannot be read\n", v->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < v->count; i++) {
        if (v->type == MPI_INT) sum += ((const int *)values)[i];
        else if (v->type == MPI_UNSIGNED) sum += ((const unsigned *)values)[i];
        else if (v->type == MPI_UNSIGNED_LONG) sum += (double)((const unsigned long *)values)[i];
        else if (v->type == MPI_UNSIGNED_LONG_LONG) sum += (double)((const unsigned long long *)values)[i];
        else if (v->type == MPI_COUNT) sum += (double)((const MPI_Count *)values)[i];
        else sum += ((const double *)values)[i];
    }
    free(values);
    return sum;
}

/* Makes the variable of that name and number ready to be read. */
static void open_variable(struct pvars *p, const char *name, int index, int continuous, MPI_Datatype type) {
    struct variable *v = &p->found[p->found_count];
    *v = (struct variable){.name = name, .type = type};
    if (MPI_T_pvar_handle_alloc(p->session, index, NULL, &v->handle, &v->count) != MPI_SUCCESS) return;
    if (!continuous) MPI_T_pvar_start(p->session, v->handle);
    p->found_count++;
}

static bool find(struct pvars *p, const char *name) {
    int count = 0;
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        char its_name[256] = "";
        int length = sizeof its_name, verbosity, class, bind, readonly, continuous, atomic, described = 0;
        MPI_Datatype type;
        MPI_T_enum names;
        if (MPI_T_pvar_get_info(i, its_name, &length, &verbosity, &class, &type, &names, NULL, &described, &bind,
                                &readonly, &continuous, &atomic) != MPI_SUCCESS ||
            strcmp(its_name, name) != 0)
            continue;
        if (!adds_up(class) || bind != MPI_T_BIND_NO_OBJECT || !readable(type)) continue;
        int before = p->found_count;
        open_variable(p, name, i, continuous, type);
        return p->found_count > before;
    }
    return false;
}

struct pvars *pvars_open(const struct bench *b) {
    int provided;
    if (b->rank != 0 || b->opt.pvar_count == 0) return NULL;
    struct pvars *p = calloc(1, sizeof *p);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
    if (MPI_T_init_thread(b->opt.level, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&p->session) != MPI_SUCCESS) {
        fprintf(stderr, "mtbench: the library has no session for performance variables\n");
        free(p);
        return NULL;
    }
    for (int i = 0; i < b->opt.pvar_count; i++)
        if (!find(p, b->opt.pvars[i]))
            fprintf(stderr, "mtbench: the library has no performance variable \"%s\" that adds up\n", b->opt.pvars[i]);
    for (int i = 0; i < p->found_count; i++) p->found[i].before = read_sum(p, &p->found[i]);
    return p;
}

void pvars_close(struct bench *b, struct pvars *p, double units) {
    if (!p) return;
    for (int i = 0; i < p->found_count; i++) {
        struct variable *v = &p->found[i];
        add_figure(b, v->name, (read_sum(p, v) - v->before) / units);
        MPI_T_pvar_handle_free(p->session, &v->handle);
    }
    MPI_T_pvar_session_free(&p->session);
    MPI_T_finalize();
    free(p);
}
