// heddle: only
// Partitioned messages where there are no copies between processes: large partitions go through shared memory.
#define WITHOUT_COPIES 1
#include "partitioned.c"
