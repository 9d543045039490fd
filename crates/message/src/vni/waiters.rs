//! The threads that wait on a VNI, and the time of the last poll by a test.

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

/// The time for which a test relies on the poll of another one.
pub(super) const GRACE_NS: u64 = 500;

impl LastPoll {
    /// Returns true if the calling test must poll, since no other thread does. `last_of_caller` is the time
    /// of the calling thread's last poll; `waited_for` is true if threads wait here.
    #[inline]
    pub fn is_due(&self, last_of_caller: &Cell<u64>, waited_for: bool) -> bool {
        // Relaxed, here and below: a hint.
        let last = self.0.load(Ordering::Relaxed);
        let now = Native::ticks();
        let others_poll = waited_for || last != last_of_caller.get();
        if others_poll && now.wrapping_sub(last) < Native::ns_to_ticks(GRACE_NS) {
            return false;
        }
        self.0.store(now, Ordering::Relaxed);
        last_of_caller.set(now);
        true
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
        assert!((0..100).all(|_| last.is_due(&one, false)));
        // The second tester relies on the first, unless the machine stopped this thread in between.
        let relies = (0..100).filter(|_| last.is_due(&one, false) && !last.is_due(&other, false)).count();
        assert!(relies > 50, "{relies}");
        wait_for_grace();
        assert!(last.is_due(&other, false), "the first does not come any more");
    }

    #[test]
    fn testers_poll_seldom_while_others_wait() {
        let (last, last_of_caller) = (LastPoll::default(), Cell::new(0));
        wait_for_grace();
        assert!(last.is_due(&last_of_caller, true));
        let due = (0..10).filter(|_| last.is_due(&last_of_caller, true)).count();
        assert!(due < 10);
    }
}
