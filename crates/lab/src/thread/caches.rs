//! What a thread knows of its core's caches: lines it has, runs of lines it reads.

use crate::shared::LineIndex;
use heddle_platform::atomic::AtomicBool;

/// As many lines as a first-level cache of 64 KiB.
pub(super) const ENTRIES: usize = 1024;

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
}

/// A line that the core has, as long as the directory says the same of its right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its address / 64.
    pub(super) line: u64,
    pub(super) at: LineIndex,
    pub(super) right: u32,
}

impl Entry {
    pub(super) const NONE: Self = Self { line: u64::MAX, at: LineIndex::NONE, right: 0 };
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
