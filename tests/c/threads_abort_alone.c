// As threads_abort.c, of a program without a launcher that would end it: the thread that has called MPI_Abort gets to the end.
// launcher: none
// levels: multiple
// expect: exit 41
#include "threads_abort.c"
