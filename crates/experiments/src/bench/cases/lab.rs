//! The cases on a machine of the lab: what threads do, by one, by eight, and by as many as have a core each.

use crate::bench::case::Case;
use crate::bench::case::Comms::{PerThread, Shared};
use crate::bench::subject::Subject::{
    Bandwidth, Clients, Dup, Fetchop, Graph500, Latency, Neighbor, Put, Rate, SelfPairs, Senders, Testing,
    Winlock,
};

/// Threads, processes or senders beside one and the most.
const SOME: u32 = 8;

/// All of them, on a machine with `cores` cores.
pub(crate) fn cases(cores: u32) -> Vec<Case> {
    let mut cases = vec![
        Case::new(Latency, 2, &[8]).multiple(true),
        Case::new(Bandwidth, 2, &[64 << 10]).multiple(true),
        Case::new(Fetchop, SOME, &[8]),
        Case::new(Winlock, SOME, &[8]),
    ];
    for threads in numbers(cores / 2) {
        cases.push(Case::new(Rate, 2, &[8]).threads(threads, Shared));
        if threads > 1 {
            cases.push(Case::new(Rate, 2, &[8]).threads(threads, PerThread));
        }
        cases.push(Case::new(Clients, 2, &[8]).threads(threads, Shared));
        cases.push(Case::new(Testing, 2, &[8]).threads(threads, PerThread));
        cases.push(Case::new(Graph500, 2, &[0]).threads(threads, PerThread));
        cases.push(Case::new(Put, 2, &[8]).threads(threads, Shared));
        cases.push(Case::new(Dup, 2, &[0]).threads(threads, PerThread));
    }
    for threads in numbers(cores) {
        cases.push(Case::new(SelfPairs, 1, &[8]).threads(threads, Shared));
    }
    // Each thread has a process to itself.
    let threads = SOME.min(cores / 2).max(1);
    cases.push(Case::new(Senders, threads + 1, &[0]).threads(threads, Shared));
    cases.push(Case::new(Neighbor, threads + 1, &[0]).threads(threads, Shared));
    cases
}

/// One, some, and the most threads.
fn numbers(most: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = [1, SOME].into_iter().filter(|&n| n < most).collect();
    numbers.push(most.max(1));
    numbers
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::cases;

    #[test]
    fn every_case_runs_in_the_lab_and_none_has_more_threads_than_cores() {
        for cores in [1, 2, 16, 88] {
            let cases = cases(cores);
            let labels: BTreeSet<String> = cases.iter().map(|case| case.label()).collect();
            assert_eq!(labels.len(), cases.len(), "{cores} cores");
            assert!(cases.iter().all(|case| case.not_in_lab().is_none()), "{cores} cores");
            assert!(cases.iter().any(|case| case.threads == cores), "{cores} cores");
            assert!(cases.iter().all(|case| case.threads <= cores), "{cores} cores");
        }
    }
}
