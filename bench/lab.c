/* On a simulated machine (docs/lab.md): what its report is about. */
#include "harness.h"

#include <sys/prctl.h>

/* An option that no kernel has: elsewhere the call is an error without effect. */
#define LAB_COUNT 0x4c414221

void lab_report(bool begins) { (void)prctl(LAB_COUNT, begins, 0, 0, 0); }
