//! What a thread knows of its core's caches: lines it has, runs of lines it reads, words it polls.

use crate::world::LineIndex;
use std::sync::atomic::AtomicBool;

/// As many lines as a first-level cache of 64 KiB.
pub(super) const ENTRIES: usize = 1024;

/// Names of lines: the same for all processes that share one.
pub trait Names {
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

/// A line that others have too and that the thread reads again and again.
#[derive(Clone, Copy, Debug, Default)]
struct Poll {
    line: u64,
    /// When it was read last, and how long after the time before.
    visit: u64,
    period: u64,
    /// How often in a row after the same time.
    streak: u64,
}

/// Lines that are polled.
#[derive(Debug, Default)]
pub(super) struct Polls {
    polls: [Poll; 16],
}

impl Polls {
    fn of(&mut self, line: u64) -> &mut Poll {
        &mut self.polls[(line ^ line >> 4) as usize % 16]
    }

    /// The thread has fetched `line`: a poll may begin.
    pub(super) fn begin(&mut self, line: u64, clock: u64) {
        *self.of(line) = Poll { line, visit: clock, period: 0, streak: 0 };
    }

    /// The thread has read `line`, which it has.
    #[inline]
    pub(super) fn visit(&mut self, line: u64, clock: u64) {
        let poll = self.of(line);
        if poll.line != line {
            return self.begin(line, clock);
        }
        let period = clock - poll.visit.min(clock);
        if period != 0 {
            poll.streak = if period == poll.period { poll.streak + 1 } else { 0 };
            poll.period = period;
            poll.visit = clock;
        }
    }

    /// A thread at `clock` that polls `line` in a steady rhythm finds it written at `written`: how much of its time were polls
    /// after that, which would not have been.
    pub(super) fn excess(&mut self, line: u64, clock: u64, written: u64) -> u64 {
        let poll = self.of(line);
        if poll.line != line || poll.streak == 0 || written >= clock {
            return 0;
        }
        ((clock - written) / poll.period).min(poll.streak) * poll.period
    }
}
