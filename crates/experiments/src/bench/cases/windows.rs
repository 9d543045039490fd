//! The cases of one-sided communication.

use crate::bench::case::Comms::Shared;
use crate::bench::case::{Case, KIB, ONE_AND_THREADS};
use crate::bench::subject::Subject;

/// The workloads of the RMA locks' paper with its shares of writers in per cent; all write without one.
const LOCK_WORKLOADS: [&str; 15] = [
    "ecsb-5", "ecsb-2", "ecsb-0.2", "sob", "sob-5", "sob-2", "sob-0.2", "wcsb", "wcsb-5", "wcsb-2",
    "wcsb-0.2", "warb", "warb-5", "warb-2", "warb-0.2",
];

/// Windows: threads that put and get, processes that meet at one number or at one lock.
pub(super) fn one_sided(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Fetchop, Locklatency, Lockload, Put, Putlatency, Winlock};
    let sizes: &[u64] = if full { &[8, 64, KIB, 64 * KIB] } else { &[8] };
    for threads in ONE_AND_THREADS.into_iter().filter(|threads| full || *threads != 8) {
        for op in ["put", "get", "accumulate", "replace", "one-flush"] {
            if full || matches!(op, "put" | "get") || threads == 4 {
                cases.push(Case::new(Put, 2, sizes).threads(threads, Shared).op(op));
            }
        }
        for op in ["put", "get", "accumulate"] {
            if full || (op == "put" && matches!(threads, 1 | 4)) {
                cases.push(Case::new(Putlatency, 2, sizes).threads(threads, Shared).op(op));
            }
        }
    }
    for ranks in [1, 2, 4, 8, 16] {
        if full || matches!(ranks, 2 | 4) {
            cases.push(Case::new(Fetchop, ranks, &[8]));
        }
        for op in ["exclusive", "shared", "mixed"] {
            if full || (ranks > 1 && op != "mixed") {
                cases.push(Case::new(Winlock, ranks, &[8]).op(op));
            }
        }
        for op in LOCK_WORKLOADS {
            if full || (ranks == 4 && matches!(op, "sob" | "wcsb-2" | "warb-0.2")) {
                cases.push(Case::new(Lockload, ranks, &[8]).op(op));
            }
        }
        for op in ["lb", "lb-5", "lb-2", "lb-0.2"] {
            if full || (ranks == 4 && op == "lb") {
                cases.push(Case::new(Locklatency, ranks, &[8]).op(op));
            }
        }
    }
}
