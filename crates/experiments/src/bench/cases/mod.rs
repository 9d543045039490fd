//! The cases of the benchmarks.

mod collectives;
mod lab;
mod windows;

pub(crate) use collectives::OF_TARGETS as SIZES_OF_COLLECTIVES;
pub(crate) use lab::cases as cases_in_lab;

use super::case::Comms::{Hinted, PerThread, Shared};
use super::case::{Beside, Case, KIB, MIB, ONE_AND_THREADS, RATE_SIZES, Scale, THREADS};
use super::subject::Subject;

/// All cases of a scale, in the order in which each round runs them.
pub(crate) fn cases(scale: Scale) -> Vec<Case> {
    if scale == Scale::Overview {
        return overview();
    }
    let full = scale == Scale::Full;
    let mut cases = Vec::new();
    one_thread(full, &mut cases);
    thread_pairs(full, &mut cases);
    regimes(full, &mut cases);
    one_process(full, &mut cases);
    completion(full, &mut cases);
    liveness(full, &mut cases);
    beside_computation(full, &mut cases);
    collectives::partitions(full, &mut cases);
    collectives::operations(full, &mut cases);
    collectives::overlap(full, &mut cases);
    windows::one_sided(full, &mut cases);
    cases.push(Case::new(Subject::Startup, 16, &[0]).multiple(true));
    if full {
        cases.push(Case::new(Subject::Idle, 2, &[0]).multiple(true));
    }
    cases
}

/// The cases of the README's picture, all at `MPI_THREAD_MULTIPLE`.
fn overview() -> Vec<Case> {
    overview_of(&ONE_AND_THREADS)
}

/// The same on a machine of the lab with that many cores: up to as many threads as have a core each.
pub(crate) fn overview_in_lab(cores: u32) -> Vec<Case> {
    let most = (cores / 2).max(1);
    let threads: Vec<u32> = ONE_AND_THREADS.into_iter().filter(|&n| n < most).chain([most]).collect();
    overview_of(&threads)
}

fn overview_of(threads: &[u32]) -> Vec<Case> {
    use Subject::{Bandwidth, Clients, Latency, Rate, SelfPairs};
    let pinned = |subject, sizes| Case::new(subject, 2, sizes).pinned().multiple(true);
    let mut cases = vec![
        pinned(Latency, &[8, 64, 512, 4 * KIB, 32 * KIB]),
        pinned(Bandwidth, &[8 * KIB, 64 * KIB, MIB, 4 * MIB]),
        pinned(Rate, &[8]),
    ];
    for threads in threads.iter().copied().filter(|&n| n > 1) {
        for comms in [Shared, PerThread] {
            cases.push(Case::new(Rate, 2, &[8]).threads(threads, comms));
        }
    }
    for &threads in threads {
        cases.push(Case::new(SelfPairs, 1, &[8]).threads(threads, Shared));
        cases.push(Case::new(Clients, 2, &[8]).threads(threads, Shared));
    }
    cases
}

fn rate_sizes(full: bool) -> &'static [u64] {
    if full { &RATE_SIZES } else { &[8] }
}

fn one_thread(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Bandwidth, Latency, Rate};
    let pick = |targets: &'static [u64], all: &'static [u64]| if full { all } else { targets };
    let latency_sizes = pick(&[0, 8], &[0, 8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB]);
    let bandwidth_sizes = pick(&[8 * KIB, MIB, 4 * MIB], &[8 * KIB, 64 * KIB, MIB, 4 * MIB]);
    for multiple in [false, true] {
        cases.push(Case::new(Latency, 2, latency_sizes).pinned().multiple(multiple));
        cases.push(Case::new(Rate, 2, rate_sizes(full)).pinned().multiple(multiple));
        cases.push(Case::new(Bandwidth, 2, bandwidth_sizes).pinned().multiple(multiple));
        if full {
            cases.push(Case::new(Bandwidth, 2, bandwidth_sizes).pinned().multiple(multiple).op("both"));
        }
    }
}

/// Threads of two processes in pairs, and beside them the same number of pairs of processes.
fn thread_pairs(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Bandwidth, Latency, Pairs, Rate};
    for threads in ONE_AND_THREADS {
        cases.push(Case::new(Pairs, 2 * threads, &[8]));
        for comms in [Shared, PerThread, Hinted] {
            if threads > 1 {
                cases.push(Case::new(Rate, 2, rate_sizes(full)).threads(threads, comms));
            }
            if full && threads > 1 && comms != Hinted {
                cases.push(Case::new(Latency, 2, &[8]).threads(threads, comms));
                cases.push(Case::new(Bandwidth, 2, &[64 * KIB, MIB]).threads(threads, comms));
            }
        }
    }
}

/// The latency regime; the throughput regime is the rate of thread pairs.
fn regimes(full: bool, cases: &mut Vec<Case>) {
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread] {
            if full || (threads > 1 && comms == Shared) {
                cases.push(Case::new(Subject::Clients, 2, &[8]).threads(threads, comms));
            }
        }
    }
}

/// The path inside the library, without waiting for another process, and the bookkeeping for objects.
fn one_process(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Neighbor, Procnull, SelfPairs, Senders};
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread, Hinted] {
            let case = Case::new(SelfPairs, 1, &[8]).threads(threads, comms);
            if full {
                cases.push(case.clone().op("sendrecv"));
            }
            if full || threads <= 2 {
                cases.push(case);
            }
        }
        let neighbors = Case::new(Neighbor, threads + 1, &[0]).threads(threads, Shared);
        let ops: &[&str] = match (full, threads <= 4) {
            (true, _) => &["predefined", "comm", "type", "derived"],
            (false, true) => &["predefined", "derived"],
            (false, false) => &[],
        };
        cases.extend(ops.iter().map(|op| neighbors.clone().op(op)));
        if full {
            for op in ["isend", "send"] {
                cases.push(Case::new(Procnull, 1, &[8]).threads(threads, Shared).op(op));
                cases.push(Case::new(Senders, threads + 1, &[0]).threads(threads, Shared).op(op));
                cases.push(Case::new(Senders, 2 * threads, &[0]).op(op));
            }
        }
    }
}

/// `MPI_Test` and similar functions.
fn completion(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Testcost, Testing};
    for threads in ONE_AND_THREADS {
        for comms in [Shared, PerThread] {
            if full || threads == 2 || threads == 16 {
                cases.push(Case::new(Testing, 2, &[8]).threads(threads, comms));
            }
        }
        if full {
            for op in ["testany", "testsome", "testall"] {
                cases.push(Case::new(Testing, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
        if full || matches!(threads, 1 | 2 | 16) {
            for op in ["done", "pending"] {
                cases.push(Case::new(Testcost, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
    }
}

/// Threads that compute without polling, that duplicate communicators, that start and end; and two
/// programs that do all of it.
fn liveness(full: bool, cases: &mut Vec<Case>) {
    use Subject::{Churn, Dup, Stall};
    for threads in THREADS {
        if full || threads == 4 || threads == 16 {
            for op in ["stall", "own"] {
                cases.push(Case::new(Stall, 2, &[8]).threads(threads, PerThread).op(op));
            }
        }
    }
    for threads in ONE_AND_THREADS {
        for (op, size) in [("coarse", 8 * KIB), ("fine", 128)] {
            for comms in [Shared, PerThread] {
                if full || threads <= 4 {
                    cases.push(Case::new(Subject::Sweep, 2, &[size]).threads(threads, comms).op(op));
                }
            }
        }
        if full || threads == 2 || threads == 16 {
            cases.push(Case::new(Subject::Graph500, 2, &[0]).threads(threads, PerThread));
        }
        if full || threads == 1 || threads == 16 {
            cases.push(Case::new(Dup, 2, &[0]).threads(threads, PerThread));
        }
        if full || threads == 4 {
            cases.push(Case::new(Churn, 2, &[8]).threads(threads, PerThread));
        }
    }
}

/// Latency, rate and polling with something that computes on every core, and the same without.
fn beside_computation(full: bool, cases: &mut Vec<Case>) {
    use Beside::{Nothing, Processes, Threads};
    use Subject::{Latency, Rate, Testing};
    for beside in [Nothing, Processes, Threads] {
        let mut add = |case: Case| cases.push(case.beside(beside));
        if beside != Nothing {
            add(Case::new(Latency, 2, &[8]).pinned().multiple(true));
            add(Case::new(Rate, 2, &[8]).pinned().multiple(true));
        }
        if beside != Nothing || !full {
            add(Case::new(Testing, 2, &[8]).threads(1, PerThread).op("testany"));
        }
        if beside != Nothing {
            add(Case::new(Rate, 2, &[8]).threads(4, Shared));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::ValueEnum;

    use super::{Case, Scale, Subject, cases};

    #[test]
    fn labels_tell_cases_apart() {
        for scale in [Scale::Quick, Scale::Targets, Scale::Overview, Scale::Full] {
            let cases = cases(scale);
            let labels: BTreeSet<String> = cases.iter().map(Case::label).collect();
            assert_eq!(labels.len(), cases.len(), "{scale:?}");
        }
    }

    #[test]
    fn everything_is_measured_in_full() {
        let cases = cases(Scale::Full);
        for subject in Subject::value_variants() {
            assert!(cases.iter().any(|case| case.subject == *subject), "{subject:?}");
        }
    }
}
