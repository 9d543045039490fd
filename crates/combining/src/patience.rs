//! What the owner of a request does while it waits: it seldom tries to run the request itself, and calls for
//! service when it has waited for long.
//!
//! A holder that comes again at once keeps the value in its cache and is some ten times as fast as operations
//! that change hands one by one. So waiting threads let it go on, by being quiet: they poll separate cache
//! lines, and try the lock ever more seldom. After `forced_yield_ns` ([`WaitPolicy`]) they call, once. The
//! holder then runs the operations of all waiting threads, and stands back: it lets others be first before it
//! comes again.

use heddle_platform::Platform;
use heddle_sync::WaitPolicy;
use heddle_sync::wait::Waiter;
use std::marker::PhantomData;

/// The actions of an owner while it waits.
pub(crate) trait Meanwhile {
    /// Tries to get to the value, to run the request itself.
    fn attempt(&mut self);
    /// Tells the thread at the value that a thread has waited for long, so that it runs the waiting
    /// operations. Comes once, before the first sleep at the latest.
    fn call(&mut self);
}

/// How an owner waits.
#[derive(Clone, Copy)]
pub(crate) struct Wait<'a> {
    pub(crate) policy: &'a WaitPolicy,
    /// The approximate number of waiting threads, the owner included.
    pub(crate) crowd: usize,
    /// True if others shall be first: no attempt before the first yield.
    pub(crate) stands_back: bool,
}

/// The number of polls for each attempt, of a waiter that has called.
const POLLS_AN_ATTEMPT: u32 = 8;

/// The first poll with an attempt, for a thread that comes when others wait already. (Small in
/// models, so that they reach it.)
const FIRST_OF_MANY: u32 = if cfg!(loom) { 2 } else { 16 };

/// Says when an owner attempts to help itself. Every attempt takes the lock's line from its holder, so
/// attempts become rarer as the wait becomes longer: a waiting thread learns late that the value is free,
/// but at most twice as late.
pub(crate) struct AttemptTimes<P: Platform> {
    since: u64,
    patience: u64,
    polls: u32,
    /// There is no attempt before this poll.
    first: u32,
    called: bool,
    stands_back: bool,
    _platform: PhantomData<P>,
}

impl<P: Platform> AttemptTimes<P> {
    pub(crate) fn new(wait: Wait<'_>) -> Self {
        Self {
            since: P::ticks(),
            patience: P::ns_to_ticks(wait.policy.forced_yield_ns),
            polls: 0,
            // When other threads wait already, one of them makes attempts for all.
            first: if wait.crowd > 1 { FIRST_OF_MANY } else { 1 },
            called: false,
            stands_back: wait.stands_back,
            _platform: PhantomData,
        }
    }

    /// Returns true if it is time to call: once, when the patience is over or the owner is about to sleep.
    pub(crate) fn is_call_due(&mut self, sleeps: bool) -> bool {
        let due = !self.called && (sleeps || P::ticks().wrapping_sub(self.since) >= self.patience);
        self.called |= due;
        due
    }

    pub(crate) fn is_due(&mut self, waiter: &Waiter<P>) -> bool {
        if self.stands_back && !waiter.has_yielded() {
            return false;
        }
        self.polls = self.polls.wrapping_add(1);
        self.polls >= self.first && self.polls.is_power_of_two()
            || self.called && self.polls.is_multiple_of(POLLS_AN_ATTEMPT)
    }
}
