//! Progress by tests: by threads that do not wait.
//!
//! A test of a complete request never comes here. A test of a pending request polls only if no other thread
//! does: a thread that polls stores the time, and for `GRACE_NS` the others rely on it. So testing
//! threads together try the critical section about as often as a single one. The last thread that polled may
//! poll again at once, so a thread alone polls with every test. While threads wait in MPI, they poll, and
//! tests poll only now and then, in case no waiting thread runs.
//!
//! A test does not wait for a critical section: the thread that holds it makes progress, or is about to
//! leave. With `HEDDLE_TEST_PATIENCE` a tester waits for it for up to that time, if the lock lets waiters
//! give up (Amer et al., TOPC 2019, section 6.2).
//!
//! Most tests in vain are *short*: they poll one VNI. Every 16th to 64th test in a row is *thorough*: it also
//! polls the other VNIs, and yields, since the event that the thread waits for may need its core. The
//! interval adapts to whether yields let other threads run.

use super::fairness::Interval;
use crate::domain::Domain;
use heddle_model::{Attempt, Refusal};
use heddle_platform::atomic::Ordering;
use std::cell::Cell;
use std::ptr::without_provenance_mut;

/// Tests in vain between two thorough ones, if the yields of these let other threads run, and if not.
const THOROUGH_EVERY: (u32, u32) = (16, 64);

/// The number of VNIs for which a thread remembers its last poll; on others it takes its own
/// polls for another thread's.
const REMEMBERED: usize = 8;

struct Tester {
    /// The number of tests from one thorough test to the next.
    thorough_every: Interval,
    /// The times of the thread's own last polls.
    polls: [Cell<u64>; REMEMBERED],
}

// The number of tests up to the calling thread's next thorough one, with that; 0 in a thread that has not
// tested yet. A number, not a pointer.
heddle_platform::thread_slot!(left, "heddle_message_tests_left_slot");

/// Returns true if the calling thread's next test in vain is a short one.
#[inline(always)]
pub fn is_test_short() -> bool {
    left::get().addr() > 1
}

/// Counts a short test in vain, which polled its VNI.
#[inline(always)]
pub fn count_short_test() {
    left::set(without_provenance_mut(left::get().addr() - 1));
}

thread_local! {
    static TESTER: Tester = const {
        Tester {
            thorough_every: Interval::new(THOROUGH_EVERY.0, THOROUGH_EVERY.1),
            polls: [const { Cell::new(0) }; REMEMBERED],
        }
    };
}

impl Domain {
    /// Makes progress for a thread that tests in vain an operation of VNI `vni`, unless
    /// another thread makes it.
    #[inline]
    pub fn progress_for_test(&self, vni: u32) {
        TESTER.with(|tester| {
            let tests_left = left::get().addr().saturating_sub(1);
            let is_thorough = tests_left == 0;
            let happened = self.poll_for_test(vni, &tester.polls[vni as usize % REMEMBERED])
                || is_thorough && self.progress_others(vni);
            if is_thorough && !happened {
                self.calls().outside(|| tester.thorough_every.yield_now());
            }
            let is_new_row = happened || is_thorough;
            let tests_left = if is_new_row { tester.thorough_every.get() as usize } else { tests_left };
            left::set(without_provenance_mut(tests_left));
        });
    }

    #[inline]
    fn poll_for_test(&self, vni: u32, own: &Cell<u64>) -> bool {
        self.is_poll_due(vni, own) && self.vni(vni).progress_within(self.test_patience_ns())
    }

    /// The express path of a short test in vain: polls the VNI, unless another thread does.
    ///
    /// # Errors
    /// A refusal if there is progress to make, or if the next test is a thorough one.
    #[inline(always)]
    pub fn test_express(&self, attempt: Attempt, vni: u32) -> Result<(), Refusal> {
        if !is_test_short() {
            return Err(Refusal::Unfit);
        }
        // A second attempt follows a first one, which has found that a poll is due.
        if attempt == Attempt::Lock || !self.has_threads() || self.is_own_poll_due(vni) {
            self.vni(vni).poll_express(attempt)?;
        }
        count_short_test();
        Ok(())
    }

    /// Does the same as [`is_poll_due`](Self::is_poll_due), out of line: it reads the
    /// clock and thread-local state.
    #[inline(never)]
    fn is_own_poll_due(&self, vni: u32) -> bool {
        TESTER.with(|tester| self.is_poll_due(vni, &tester.polls[vni as usize % REMEMBERED]))
    }

    /// Returns true if the calling test must poll the VNI, since no other thread does. `own` is the time of
    /// the calling thread's last poll.
    #[inline]
    fn is_poll_due(&self, vni: u32, own: &Cell<u64>) -> bool {
        let waited_for = self.attendance(vni).load(Ordering::Relaxed) != 0;
        !self.has_threads() || self.vni(vni).last_poll.is_due(own, waited_for)
    }
}
