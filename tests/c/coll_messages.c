// Collective operations by messages alone (HEDDLE_BLACKBOARDS=off).
// ranks: 2-8
// heddle: only
#define BY_MESSAGES 1
#include "coll_blackboard.c"
