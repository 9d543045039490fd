//! The threads that wait on a VNI, and the times of the last poll by a test and of the last visit.

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{Native, Platform};
use heddle_sync::{CachePadded, Leadership, WaitPolicy};
use std::cell::Cell;
use std::time::Duration;

/// The longest time that a thread sleeps before it polls, so that a message lost by a dying job
/// cannot hold it for good.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The wait policy of waiting threads other than the leader: a short spin, since the cores are for
/// threads that make progress.
const BESIDE_A_LEADER: WaitPolicy =
    WaitPolicy { spin_ns: WaitPolicy::DEFAULT.spin_ns / 10, ..WaitPolicy::DEFAULT };

/// The threads that wait on a VNI: one leads, the others sleep.
#[derive(Debug)]
pub struct WaitingThreads(pub Leadership);

impl Default for WaitingThreads {
    fn default() -> WaitingThreads {
        WaitingThreads(Leadership::new(BESIDE_A_LEADER))
    }
}

/// The time of the last poll by a test, in ticks.
#[derive(Debug, Default)]
pub struct LastPoll(pub CachePadded<AtomicU64>);

/// The time of the last visit by a thread that waits on another VNI, in ticks. Each visit takes lines of the
/// VNI to the visitor's core, so many visitors together come no oftener than one.
#[derive(Debug, Default)]
pub(super) struct LastVisit(CachePadded<AtomicU64>);

/// The time from one visit to the next, at least.
const VISIT_EVERY_NS: u64 = 10_000;

impl LastVisit {
    /// Returns true if nobody has visited the VNI lately; then the caller does, at the time `now` in ticks.
    #[inline]
    pub(super) fn is_due(&self, now: u64) -> bool {
        // Relaxed: a hint.
        let is_due = now.wrapping_sub(self.0.load(Ordering::Relaxed)) >= Native::ns_to_ticks(VISIT_EVERY_NS);
        if is_due {
            self.0.store(now, Ordering::Relaxed);
        }
        is_due
    }
}

/// The time for which a test relies on the poll of another one.
pub(super) const GRACE_NS: u64 = 500;

/// Stands for the time of a poll that was refused.
const REFUSED: u64 = u64::MAX;

/// Says whether a test polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Another thread polls.
    No,
    /// The test polls.
    Yes,
    /// The thread's last poll was refused; it decides by its backoff.
    AfterRefusal,
}

impl LastPoll {
    /// Decides whether the calling test polls: yes, unless another thread does. `last_of_caller` is the time
    /// of the calling thread's last poll; `waited_for` is true if threads wait here.
    #[inline]
    pub fn due(&self, last_of_caller: &Cell<u64>, waited_for: bool) -> Due {
        // Relaxed, here and below: a hint.
        let last = self.0.load(Ordering::Relaxed);
        let now = Native::ticks();
        let others_poll = waited_for || last != last_of_caller.get();
        if others_poll {
            // Checked here only: a thread whose polls succeed pays nothing for it.
            if last_of_caller.get() == REFUSED {
                return Due::AfterRefusal;
            }
            if now.wrapping_sub(last) < Native::ns_to_ticks(GRACE_NS) {
                return Due::No;
            }
        }
        self.0.store(now, Ordering::Relaxed);
        last_of_caller.set(now);
        Due::Yes
    }

    /// Has the calling test decide by its backoff, until it [polls](Self::polled) again.
    pub fn refused(last_of_caller: &Cell<u64>) {
        last_of_caller.set(REFUSED);
    }

    /// Notes that the calling test has polled after refusals.
    pub fn polled(&self, last_of_caller: &Cell<u64>) {
        let now = Native::ticks();
        self.0.store(now, Ordering::Relaxed);
        last_of_caller.set(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_for_grace() {
        let since = Native::ticks();
        while Native::ticks().wrapping_sub(since) < Native::ns_to_ticks(GRACE_NS) {}
    }

    #[test]
    fn one_tester_alone_polls_every_time_and_one_of_two() {
        let (last, one, other) = (LastPoll::default(), Cell::new(0), Cell::new(0));
        let is_due = |last_of_caller| last.due(last_of_caller, false) == Due::Yes;
        assert!((0..100).all(|_| is_due(&one)));
        // The second tester relies on the first, unless the machine stopped this thread in between.
        let relies = (0..100).filter(|_| is_due(&one) && !is_due(&other)).count();
        assert!(relies > 50, "{relies}");
        wait_for_grace();
        assert!(is_due(&other), "the first does not come any more");
    }

    #[test]
    fn a_refused_test_is_told_so_until_it_polls_again() {
        let (last, own) = (LastPoll::default(), Cell::new(0));
        assert_eq!(last.due(&own, false), Due::Yes);
        LastPoll::refused(&own);
        for waited_for in [false, true, false] {
            assert_eq!(last.due(&own, waited_for), Due::AfterRefusal);
        }
        last.polled(&own);
        assert_eq!(last.due(&own, false), Due::Yes);
    }

    #[test]
    fn one_of_many_visitors_comes_in_a_while() {
        let last = LastVisit::default();
        let (while_, now) = (Native::ns_to_ticks(VISIT_EVERY_NS), 1 << 40);
        assert!(last.is_due(now));
        assert!(!(0..while_).step_by(100).any(|later| last.is_due(now + later)));
        assert!(last.is_due(now + while_));
        assert!(!last.is_due(now + while_ + 1));
    }

    #[test]
    fn testers_poll_seldom_while_others_wait() {
        let (last, last_of_caller) = (LastPoll::default(), Cell::new(0));
        wait_for_grace();
        let is_due = || last.due(&last_of_caller, true) == Due::Yes;
        assert!(is_due());
        let due = (0..10).filter(|_| is_due()).count();
        assert!(due < 10);
    }
}
