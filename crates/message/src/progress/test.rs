//! Progress by tests: by threads that do not wait.
//!
//! A test of a complete request never comes here. A test of a pending request polls only if no other thread does: a thread
//! that polls stores the time, and for `GRACE_NS` the others rely on it. So many threads that test try the critical section
//! about as often as one. The last thread that polled may poll again at once, so a thread alone polls with every test. While
//! threads wait in MPI, they poll, and tests poll only now and then, in case no waiting thread runs.
//!
//! A test does not wait for a critical section: the thread that holds it makes progress, or is about to leave. `HEDDLE_TEST_PATIENCE` lets a
//! tester wait for it, for so long, where the section's lock lets waiters give up (Amer et al., TOPC 2019, section 6.2).
//!
//! A thread that tests in vain again and again lets others run now and then, since what it waits for may need its core; more
//! often if that lets anybody run.

use super::OTHERS_EVERY;
use super::fairness::Interval;
use crate::domain::Domain;
use heddle_platform::atomic::Ordering;
use std::cell::Cell;
use std::ptr::without_provenance_mut;

/// Tests in vain between two yields, if these let others run, and if not.
const YIELDS: (u32, u32) = (16, 64);

/// The VNIs of which a thread remembers when it looked there last; on others it takes its own looks for somebody else's.
const REMEMBERED: usize = 8;

struct Tester {
    /// After how many tests in vain comes the next yield.
    yields: Interval,
    /// The thread's own last looks.
    looks: [Cell<u64>; REMEMBERED],
}

// The calling thread's tests in vain since its last yield: a number, not a pointer.
heddle_platform::thread_slot!(failed, "heddle_message_failed_tests_slot");

/// Counts a test in vain that polls its VNI alone, as most of them do; false if this one must do more.
#[inline(always)]
pub fn is_short_test() -> bool {
    let tests = failed::get().addr() + 1;
    if tests.is_multiple_of(OTHERS_EVERY as usize) {
        return false;
    }
    failed::set(without_provenance_mut(tests));
    true
}

thread_local! {
    static TESTER: Tester = const {
        Tester {
            yields: Interval::new(YIELDS.0, YIELDS.1),
            looks: [const { Cell::new(0) }; REMEMBERED],
        }
    };
}

impl Domain {
    /// A thread tests in vain something that is up to VNI `vni`: makes progress if nobody else does.
    #[inline]
    pub fn progress_for_test(&self, vni: u32) {
        TESTER.with(|tester| {
            let tests = failed::get().addr() as u32 + 1;
            let happened = self.look_for_test(vni, &tester.looks[vni as usize % REMEMBERED])
                || tests.is_multiple_of(OTHERS_EVERY) && self.progress_others(vni);
            let is_yield_due = !happened && tests >= tester.yields.get();
            if is_yield_due {
                self.calls().outside(|| tester.yields.yield_now());
            }
            let tests = if happened || is_yield_due { 0 } else { tests };
            failed::set(without_provenance_mut(tests as usize));
        });
    }

    #[inline]
    fn look_for_test(&self, vni: u32, own: &Cell<u64>) -> bool {
        let waited_for = self.attendance(vni).load(Ordering::Relaxed) != 0;
        let due = !self.has_threads() || self.vni(vni).last_look.is_due(own, waited_for);
        due && self.vni(vni).progress_within(self.test_patience_ns())
    }
}
