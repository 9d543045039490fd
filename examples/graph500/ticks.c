#include "ticks.h"

#include <mpi.h>

struct tick_origin tick_start(void)
{
    struct tick_origin origin = {ticks_now(), MPI_Wtime()};
    return origin;
}

double tick_rate(struct tick_origin origin)
{
    double seconds = MPI_Wtime() - origin.seconds;
    uint64_t ticks = ticks_now() - origin.ticks;
    return seconds > 0 && ticks > 0 ? (double)ticks / seconds : 1e9;
}
