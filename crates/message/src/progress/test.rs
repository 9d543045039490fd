//! Tests: attempts at progress by threads that do not wait.
//!
//! A test of a complete request never comes here. One of a pending request looks for messages only if nobody else does: who
//! looks leaves the time behind, and for [`GRACE_NS`] all others rely on that. So however many threads test, the section is
//! tried about as often as by one; who was the last to look may look again at once, so one thread alone looks with every
//! test. When threads wait in MPI, they look, and testers do no more than in case none of them runs.
//!
//! A section that is taken is left alone: whoever holds it makes progress, or is about to leave. `HEDDLE_TEST_PATIENCE` lets a
//! tester wait for it, for so long, where the section's lock lets waiters give up (Amer et al., TOPC 2019, section 6.2).
//!
//! A thread that tests in vain again and again lets others run now and then, since what it waits for may need its core; more
//! often if that lets anybody run.

use super::OTHERS_EVERY;
use super::fairness::Interval;
use crate::domain::Domain;
use heddle_platform::atomic::Ordering;
use std::cell::Cell;

/// Tests in vain between two yields, if these let others run, and if not.
const YIELDS: (u32, u32) = (16, 64);

/// The VNIs of which a thread remembers when it looked there last; on others it takes its own looks for somebody else's.
const REMEMBERED: usize = 8;

struct Tester {
    /// Tests in vain since the last yield, and after how many of them comes the next.
    failed: Cell<u32>,
    yields: Interval,
    /// The thread's own last looks.
    looks: [Cell<u64>; REMEMBERED],
}

thread_local! {
    static TESTER: Tester = const {
        Tester {
            failed: Cell::new(0),
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
            let failed = tester.failed.get() + 1;
            if self.look_for_test(vni, &tester.looks[vni as usize % REMEMBERED])
                || failed.is_multiple_of(OTHERS_EVERY) && self.progress_others(vni)
            {
                tester.failed.set(0);
            } else if failed >= tester.yields.get() {
                tester.failed.set(0);
                self.calls().outside(|| tester.yields.yield_now());
            } else {
                tester.failed.set(failed);
            }
        });
    }

    #[inline]
    fn look_for_test(&self, vni: u32, own: &Cell<u64>) -> bool {
        let waited_for = self.attendance(vni).load(Ordering::Relaxed) != 0;
        let due = !self.has_threads() || self.vni(vni).last_look.is_due(own, waited_for);
        due && self.vni(vni).progress_within(self.test_patience_ns())
    }
}
