/* All subjects, in the order in which they are listed. */
#include "harness.h"

const struct subject *const subjects[] = {
    &subject_latency, &subject_rate, &subject_bandwidth, &subject_pairs, &subject_self, &subject_neighbor, &subject_senders,
    &subject_testing, &subject_testcost, &subject_clients, &subject_stall, &subject_dup, &subject_churn, &subject_procnull,
    &subject_partitioned, &subject_collective, &subject_overlap, &subject_put, &subject_putlatency, &subject_fetchop,
    &subject_winlock, &subject_lockload, &subject_locklatency, &subject_phases, &subject_startup, &subject_idle, NULL};
