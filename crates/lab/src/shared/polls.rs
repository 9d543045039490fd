//! Threads that read a line again and again until another writes it.
//!
//! Such a thread may be ahead of the write that ends its poll. The polls after that write never were: the
//! writer sets the poller's clock back by whole polls.

use super::LineIndex;

/// A line that others have too and that a thread reads again and again.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Poll {
    line: LineIndex,
    /// How often in a row after the same time.
    streak: u32,
    /// When the thread got it.
    began: u64,
    /// When it was read last, and how long after the time before.
    visit: u64,
    period: u64,
}

/// Lines that a thread polls.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Polls {
    polls: [Poll; 8],
}

impl Polls {
    fn of(&mut self, line: LineIndex) -> &mut Poll {
        &mut self.polls[line.number() % 8]
    }

    /// The thread has fetched `line` at `clock`: a poll may begin.
    pub fn begin(&mut self, line: LineIndex, clock: u64) {
        *self.of(line) = Poll { line, streak: 0, began: clock, visit: clock, period: 0 };
    }

    /// The thread has read `line`, which it has.
    #[inline]
    pub fn visit(&mut self, line: LineIndex, clock: u64) {
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

    /// Whether the thread reads `line` again and again.
    pub(super) fn has(&self, line: LineIndex) -> bool {
        let poll = &self.polls[line.number() % 8];
        poll.line == line && poll.streak > 0
    }

    /// A thread whose clock is `clock` polls `line`, which is written at `written`: how much of its time were
    /// polls after that.
    pub(super) fn excess(&mut self, line: LineIndex, clock: u64, written: u64) -> u64 {
        let poll = *self.of(line);
        let polls_still = poll.line == line && poll.streak > 0 && clock <= poll.visit + poll.period;
        if !polls_still || written >= clock || written <= poll.began {
            return 0;
        }
        ((clock - written) / poll.period).min(u64::from(poll.streak)) * poll.period
    }
}
