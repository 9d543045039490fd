//! A thread's view of its core's caches: lines it has, runs of lines it reads.

use super::dataflow::Sources;
use crate::shared::LineIndex;
use heddle_platform::atomic::AtomicBool;

/// As many lines as a first-level cache of 64 KiB.
pub(super) const ENTRIES: usize = 1024;

/// The place of a line's entry. Lines that are a multiple of 64 KiB apart have different ones: a copy's
/// source and destination often are.
#[inline(always)]
pub(super) fn entry_of(line: u64) -> usize {
    (line ^ line >> ENTRIES.trailing_zeros()) as usize % ENTRIES
}

/// LineNames of lines: the same for all processes that share one.
pub trait LineNames {
    /// The name of the line at `address`, never 0.
    fn name(&mut self, address: u64) -> u64;
}

/// An instruction that uses memory.
#[derive(Debug)]
pub struct Site {
    /// Its address.
    pub at: u64,
    /// Its block has a store that threads meet at: set once it has fetched a line from another core.
    pub meets: &'static AtomicBool,
    /// It itself is one.
    pub is_met: AtomicBool,
    /// What its address is made of.
    pub address: Sources,
    /// Its bit among the loads of its block; 0 if there are too many, so that it is waited for.
    pub load: u64,
}

impl Site {
    /// An instruction at `at` of a block whose stores meet others once `meets` is set: a load that is
    /// waited for, or a store.
    #[must_use]
    pub const fn new(at: u64, meets: &'static AtomicBool, is_met: bool) -> Self {
        let nothing = Sources { registers: 0, loads: 0 };
        Self { at, meets, is_met: AtomicBool::new(is_met), address: nothing, load: 0 }
    }
}

/// A line that the core has, as long as the directory says the same of its right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its address / 64.
    pub(super) line: u64,
    pub(super) at: LineIndex,
    pub(super) right: u32,
    /// It came from another core: threads meet there.
    pub(super) is_met: bool,
}

impl Entry {
    pub(super) const NONE: Self = Self { line: u64::MAX, at: LineIndex::NONE, right: 0, is_met: false };
}

/// Runs of lines: what a prefetcher sees.
#[derive(Debug, Default)]
pub(super) struct Streams {
    runs: [(u64, u32); 8],
    oldest: usize,
}

/// From the third line of a run on, the next is near before it is asked for.
const RUN: u32 = 2;

impl Streams {
    /// Whether the prefetcher has brought `line`.
    pub(super) fn follow(&mut self, line: u64) -> bool {
        if let Some(run) = self.runs.iter_mut().find(|run| run.0 + 1 == line) {
            *run = (line, run.1 + 1);
            return run.1 > RUN;
        }
        if self.runs.iter().any(|run| run.0 == line) {
            return false;
        }
        self.runs[self.oldest] = (line, 0);
        self.oldest = (self.oldest + 1) % self.runs.len();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brought(streams: &mut Streams, lines: impl IntoIterator<Item = u64>) -> Vec<bool> {
        lines.into_iter().map(|line| streams.follow(line)).collect()
    }

    #[test]
    fn the_fourth_line_of_a_run_is_near() {
        let mut streams = Streams::default();
        assert_eq!(brought(&mut streams, 100..106), [false, false, false, true, true, true]);
        assert_eq!(brought(&mut streams, [108, 106, 107]), [false, true, true], "the run goes on");
    }

    #[test]
    fn lines_that_are_not_in_a_row_are_no_run() {
        let mut streams = Streams::default();
        assert_eq!(brought(&mut streams, (100..120).step_by(2)), [false; 10]);
        assert_eq!(brought(&mut streams, (200..210).rev()), [false; 10]);
        assert_eq!(brought(&mut streams, [300; 10]), [false; 10]);
    }

    #[test]
    fn eight_runs_are_followed_at_a_time() {
        let brings = |runs: u64| {
            let mut streams = Streams::default();
            let lines = (0..4).flat_map(|line| (1..=runs).map(move |run| run * 1000 + line));
            brought(&mut streams, lines).into_iter().filter(|is_near| *is_near).count()
        };
        assert_eq!([brings(1), brings(2), brings(8), brings(9)], [1, 2, 8, 0]);
    }
}
