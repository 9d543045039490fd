//! Explorations in which every process visits its critical section some times, and what the words have to be
//! afterwards.

use super::explorer::{Explorer, Places, Process, Report};
use heddle_rma_locks::Layout;
use std::future::Future;
use std::pin::Pin;

/// Explores `processes` that visit their critical sections as `visit` does, `rounds` times each.
pub(crate) fn explore<F: Future<Output = ()> + 'static>(
    (processes, words): (usize, usize),
    rounds: u64,
    weak: bool,
    at_end: &dyn Fn(&[Vec<u64>]) -> Option<String>,
    places: Places,
    visit: impl Fn(Process) -> F + Clone + 'static,
) -> Report {
    let task = move |process: Process| -> Pin<Box<dyn Future<Output = ()>>> {
        let visit = visit.clone();
        Box::pin(async move {
            for round in 0..rounds {
                process.begin_round(round);
                visit(process.clone()).await;
            }
        })
    };
    Explorer { processes, words, task: &task, at_end, weak, places }.explore()
}

/// The states of a run without a failure.
pub(crate) fn sound(report: &Report) -> usize {
    assert_eq!(report.failure, None);
    report.states
}

/// No queue has a node, no counter is marked, and as many readers have gone as have come.
pub(crate) fn is_empty(layout: &Layout) -> impl Fn(&[Vec<u64>]) -> Option<String> + use<> {
    let levels = layout.levels();
    move |memory| {
        let tails = memory.iter().flat_map(|words| (0..levels).map(|level| words[3 * level + 2]));
        let counted = |words: &Vec<u64>| words[3 * levels] & !(1 << 62) == words[3 * levels + 1];
        let is_empty = tails.into_iter().all(|tail| tail == 0) && memory.iter().all(counted);
        (!is_empty).then(|| format!("not empty at the end: {memory:?}"))
    }
}

/// As [`is_empty`], but for the phase of a counter, the bit of a closed one, and the coarseness.
pub(crate) fn is_empty_but_for_marks(layout: &Layout) -> impl Fn(&[Vec<u64>]) -> Option<String> + use<> {
    let levels = layout.levels();
    move |memory| {
        let tails = memory.iter().flat_map(|words| (0..levels).map(|level| words[3 * level + 2]));
        let counted = |words: &Vec<u64>| words[3 * levels] & !(127 << 56) == words[3 * levels + 1];
        let is_empty = tails.into_iter().all(|tail| tail == 0) && memory.iter().all(counted);
        (!is_empty).then(|| format!("not empty at the end: {memory:?}"))
    }
}

/// A machine of two levels: the element of each process at level 2.
pub(crate) fn two_levels(elements: &[usize], counter_distance: usize) -> Layout {
    Layout::new(vec![vec![0; elements.len()], elements.to_vec()], counter_distance)
}

/// Returns true if the larger sizes are explored, too: in `make verify`.
pub(crate) fn is_long() -> bool {
    std::env::var_os("HEDDLE_EXPLORE_LONG").is_some()
}
