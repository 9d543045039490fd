#include "progress.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const double TERMINAL_PERIOD_S = 0.1;
static const double PLAIN_PERIOD_S = 2.0;
static const double PLAIN_STEP_PERIOD_S = 0.5; /* steps shorter than that stay unsaid */

static struct {
    bool enabled;
    bool terminal;
    bool line_open;
    double begin_s;
    double shown_s;
    const char *step; /* the format last shown: formats are literals */
} state;

void progress_enable(bool enabled)
{
    state.enabled = enabled;
    state.terminal = isatty(STDERR_FILENO) != 0;
    state.begin_s = state.shown_s = MPI_Wtime();
}

void progress_show(double done, const char *format, ...)
{
    if (!state.enabled)
        return;
    double now_s = MPI_Wtime();
    bool new_step = state.step != format;
    double period_s = TERMINAL_PERIOD_S;
    if (!state.terminal)
        period_s = new_step ? PLAIN_STEP_PERIOD_S : PLAIN_PERIOD_S;
    if (now_s - state.shown_s < period_s)
        return;
    state.step = format;
    state.shown_s = now_s;

    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char percent[16] = "";
    if (done > 0)
        snprintf(percent, sizeof percent, "  %3.0f %%", done * 100);
    fprintf(stderr, "%s%6.1f s  %s%s%s", state.terminal ? "\r" : "", now_s - state.begin_s, text,
            percent, state.terminal ? "\033[K" : "\n");
    fflush(stderr);
    state.line_open = state.terminal;
}

void progress_end(void)
{
    if (state.line_open)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    state.line_open = false;
    state.step = NULL;
}
