// Performance variables of Heddle, which count from when they are started.
#ifndef HEDDLE_TEST_COUNTERS_H
#define HEDDLE_TEST_COUNTERS_H

#include "check.h"

// A started variable: one number, or one for each communication path.
struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int elements;
};

CHECK_UNUSED static struct counter counter_start_class(const char *name, int class) {
    struct counter counter;
    int index = -1;
    CHECK_OK(MPI_T_pvar_session_create(&counter.session));
    CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(counter.session, index, NULL, &counter.handle, &counter.elements));
    // A level always shows the present number.
    if (class != MPI_T_PVAR_CLASS_LEVEL) CHECK_OK(MPI_T_pvar_start(counter.session, counter.handle));
    return counter;
}

CHECK_UNUSED static struct counter counter_start(const char *name) { return counter_start_class(name, MPI_T_PVAR_CLASS_COUNTER); }

// The sum of the elements.
CHECK_UNUSED static unsigned long long counter_read(const struct counter *counter) {
    unsigned long long sum = 0, *values = check_alloc(sizeof *values * (size_t)counter->elements);
    CHECK_OK(MPI_T_pvar_read(counter->session, counter->handle, values));
    for (int i = 0; i < counter->elements; i++) sum += values[i];
    free(values);
    return sum;
}

// Ends the counter, and returns what it has counted.
CHECK_UNUSED static unsigned long long counter_end(struct counter *counter) {
    unsigned long long count = counter_read(counter);
    CHECK_OK(MPI_T_pvar_session_free(&counter->session));
    return count;
}

// Returns what a variable says that has a level.
CHECK_UNUSED static unsigned long long counter_level(const char *name) {
    struct counter level = counter_start_class(name, MPI_T_PVAR_CLASS_LEVEL);
    return counter_end(&level);
}

CHECK_UNUSED static struct counter timer_start(const char *name) { return counter_start_class(name, MPI_T_PVAR_CLASS_TIMER); }

// Ends the timer of one element, and returns the seconds.
CHECK_UNUSED static double timer_end(struct counter *timer) {
    double seconds = 0;
    CHECK_EQ(timer->elements, 1);
    CHECK_OK(MPI_T_pvar_read(timer->session, timer->handle, &seconds));
    CHECK_OK(MPI_T_pvar_session_free(&timer->session));
    return seconds;
}

#endif
