//! The time in which no thread has the lock: from the end of a critical section to the begin of the next,
//! if its thread was waiting.
//!
//! Critical sections last a microsecond and threads stay outside for half of one, so that with two threads
//! and two cores the next thread is always waiting already, and spinning. With more threads than cores the
//! next may have to be brought back to a core first, and that is part of the figure.

use heddle_platform::{clock, hint};

use super::sample::{Metric, Sample};
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::{self, TeamEffort, Until};

const INSIDE_NS: u64 = 1_000;
const OUTSIDE_NS: u64 = 500;
/// The number of hand-overs that a thread records.
const RECORDED: usize = 1 << 16;

/// The record that the last critical section left.
#[derive(Default)]
struct Last {
    /// When it ended, in ticks.
    end: u64,
    /// The number of its thread plus one.
    thread: usize,
}

/// The times that a critical section finds: the end of the last one by another thread, and its own begin.
struct Found {
    gap: Option<u64>,
}

/// Median and 99th percentile of the hand-overs, and their share of all acquisitions.
pub(super) fn measure<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    let guarded = K::guard(Last::default());
    let (inside, outside) = (clock::ns_to_ticks(INSIDE_NS), clock::ns_to_ticks(OUTSIDE_NS));
    let outcome = team::run(threads, Until::Time(effort.window), |number, turns| {
        let mut gaps = Vec::with_capacity(RECORDED);
        while turns.next() {
            let asked = clock::ticks();
            let found = guarded.with(|last| section(last, number + 1, asked, inside));
            if let Some(gap) = found.gap.filter(|_| gaps.len() < RECORDED) {
                gaps.push(gap);
            }
            pass(outside);
        }
        (turns.done(), gaps)
    });
    let total: u64 = outcome.results.iter().map(|(done, _)| *done).sum();
    let mut gaps: Vec<u64> = outcome.results.into_iter().flat_map(|(_, gaps)| gaps).collect();
    gaps.sort_unstable();
    let at = |percent: usize| {
        let gap = gaps.get((gaps.len() * percent / 100).min(gaps.len().saturating_sub(1)))?;
        Some(clock::ticks_to_ns(*gap) as f64)
    };
    let mut figures = vec![(Metric::HandedOver, gaps.len() as f64 / total.max(1) as f64)];
    // A lock that never hands over has no figure here; its share shows that.
    figures.extend(at(50).map(|ns| (Metric::HandoverNs, ns)));
    figures.extend(at(99).map(|ns| (Metric::HandoverP99Ns, ns)));
    (total > 0).then_some(Sample(figures))
}

#[inline(always)]
fn section(last: &mut Last, thread: usize, asked: u64, inside: u64) -> Found {
    let now = clock::ticks();
    let waited = last.thread != 0 && last.thread != thread && asked < last.end;
    let gap = waited.then(|| now.saturating_sub(last.end));
    pass(inside);
    *last = Last { end: clock::ticks(), thread };
    Found { gap }
}

/// Spends `ticks` ticks.
#[inline(always)]
fn pass(ticks: u64) {
    let since = clock::ticks();
    while clock::ticks().wrapping_sub(since) < ticks {
        hint::spin_loop();
    }
}
