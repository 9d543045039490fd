/* Prints the current step of the run to stderr of rank 0.
 *
 * On a terminal one line is rewritten; into a file or a pipe a line is written every
 * few seconds, and sooner when the step changes. To be called by one thread per process. */
#ifndef GRAPH500_PROGRESS_H
#define GRAPH500_PROGRESS_H

#include <stdbool.h>

/* A process that did not enable it prints nothing. */
void progress_enable(bool enabled);

/* `done` is between 0 and 1, negative if unknown. Cheap enough for inner loops: most calls
 * only look at the clock. A step is told apart by the
 * address of `format`, which has to be a literal. */
void progress_show(double done, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the line before other output. */
void progress_end(void);

#endif
