// Collective operations by messages alone (HEDDLE_BLACKBOARDS=off).
// ranks: 2-8
// settings: HEDDLE_BLACKBOARDS=off
// heddle: only
#define BY_MESSAGES 1
#include "coll_blackboard.c"
