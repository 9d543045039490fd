/* Common parts of the test programs: a check that prints its location, and a loop over the names of kinds. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition,          \
                    heddle_last_error());                                                                    \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Calls `use` with each name of a list that is separated by blanks; returns how many there were. */
static inline int for_each_name(const char *names, void (*use)(const char *name))
{
    int count = 0;
    while (*names != '\0') {
        char name[64];
        size_t length = strcspn(names, " ");
        CHECK(length > 0 && length < sizeof name);
        memcpy(name, names, length);
        name[length] = '\0';
        use(name);
        count++;
        names += length + (names[length] == ' ');
    }
    return count;
}

#endif
