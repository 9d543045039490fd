// As threads_abort.c, in a program without a launcher that would end it: the thread that calls MPI_Abort ends the process.
// launcher: none
// levels: multiple
// expect: exit 41
#include "threads_abort.c"
