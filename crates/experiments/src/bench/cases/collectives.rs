//! The cases of operations in which all processes take part, and of messages that many threads make.

use crate::bench::case::Comms::{PerThread, Shared};
use crate::bench::case::{Case, KIB, MIB, ONE_AND_THREADS};
use crate::bench::subject::Subject;

/// A message whose parts threads compute, in partitions, as a whole and as messages.
pub(super) fn partitions(full: bool, cases: &mut Vec<Case>) {
    for threads in ONE_AND_THREADS {
        for op in ["partitions", "whole", "messages", "compute"] {
            if full || threads == 4 && op != "compute" {
                cases.push(
                    Case::new(Subject::Partitioned, 2, &[8, 64 * KIB, MIB]).threads(threads, Shared).op(op),
                );
            }
        }
    }
}

/// Collective operations beside a computation: on the process's core, or on a device.
pub(super) fn overlap(full: bool, cases: &mut Vec<Case>) {
    for op in ["iallreduce", "iallreduce-device", "iallreduce-tested"] {
        if full || op != "iallreduce-tested" {
            cases.push(Case { comms: PerThread, ..Case::new(Subject::Overlap, 2, &[MIB]) }.op(op));
        }
    }
}

/// The operations whose time depends on a size, in their blocking form.
const SIZED: [&str; 14] = [
    "allreduce",
    "bcast",
    "reduce",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "reduce_scatter",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "scan",
    "exscan",
];

/// The other forms of some of them.
const OTHER_FORMS: [&str; 18] = [
    "bcast_turns",
    "reduce_turns",
    "gather_turns",
    "scatter_turns",
    "iallreduce",
    "ibcast",
    "ireduce",
    "iallgather",
    "ialltoall",
    "igather",
    "iscatter",
    "persistent_allreduce",
    "persistent_bcast",
    "persistent_reduce",
    "persistent_allgather",
    "persistent_alltoall",
    "persistent_gather",
    "persistent_scatter",
];

/// The sizes of the targets.
pub(crate) const OF_TARGETS: [u64; 3] = [8, 32 * KIB, MIB];

/// The sizes of the targets, or all of them: up to 4 MiB for few processes, less for more.
fn sizes(full: bool, ranks: u32) -> Vec<u64> {
    let all = [8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB];
    let wanted = |size: &u64| full || OF_TARGETS.contains(size);
    all.into_iter().filter(wanted).filter(|size| ranks <= 4 || *size <= MIB).collect()
}

/// Collective operations: of processes with one thread, and of threads on communicators of their own.
pub(super) fn operations(full: bool, cases: &mut Vec<Case>) {
    let case = |ranks, sizes: &[u64], op| {
        Case { comms: PerThread, ..Case::new(Subject::Collective, ranks, sizes) }.op(op)
    };
    for ranks in [2, 4, 8, 16] {
        if !full && ranks == 16 {
            continue;
        }
        let sizes = sizes(full, ranks);
        cases.push(case(ranks, &[8], "barrier"));
        let among_targets = |op| matches!(op, "allreduce" | "bcast" | "reduce" | "alltoall");
        cases.extend(
            SIZED.into_iter().filter(|op| full || among_targets(*op)).map(|op| case(ranks, &sizes, op)),
        );
    }
    if full {
        cases.extend(OTHER_FORMS.into_iter().map(|op| case(2, &sizes(full, 2), op)));
    } else {
        cases.push(case(2, &[8], "persistent_allreduce"));
    }
    for threads in ONE_AND_THREADS {
        if full || matches!(threads, 1 | 16) {
            cases.push(case(2, &[8], "allreduce").threads(threads, PerThread));
        }
    }
}
