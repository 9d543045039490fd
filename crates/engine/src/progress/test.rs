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
use crate::fairness::Interval;
use crate::process::Process;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{Native, Platform};
use heddle_sync::CachePadded;
use std::cell::Cell;

/// For how long a tester relies on another one's look.
const GRACE_NS: u64 = 500;

/// Tests in vain between two yields, if these let others run, and if not.
const YIELDS: (u32, u32) = (16, 64);

/// The VNIs of which a thread remembers when it looked there last; on others it takes its own looks for somebody else's.
const REMEMBERED: usize = 8;

/// When a VNI was last looked at for a test, in ticks.
#[derive(Debug, Default)]
pub(crate) struct LastLook(CachePadded<AtomicU64>);

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

impl LastLook {
    /// Whether the calling tester is to look, since nobody else does. `waited_for` says whether threads wait here.
    #[inline]
    fn is_due(&self, own: &Cell<u64>, waited_for: bool) -> bool {
        // Relaxed, here and below: a hint.
        let last = self.0.load(Ordering::Relaxed);
        let now = Native::ticks();
        let others_look = waited_for || last != own.get();
        if others_look && now.wrapping_sub(last) < Native::ns_to_ticks(GRACE_NS) {
            return false;
        }
        self.0.store(now, Ordering::Relaxed);
        own.set(now);
        true
    }
}

impl Process {
    /// A thread tests in vain something that is up to VNI `vni`: makes progress if nobody else does.
    #[inline]
    pub(crate) fn progress_for_test(&self, vni: u32) {
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
        due && self.vni(vni).progress_within(self.settings().model.test_patience_ns())
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
    fn one_tester_alone_looks_every_time_and_one_of_two() {
        let (last, one, other) = (LastLook::default(), Cell::new(0), Cell::new(0));
        assert!((0..100).all(|_| last.is_due(&one, false)));
        // Whoever comes second relies on the first, unless the machine stopped this thread in between.
        let relies = (0..100).filter(|_| last.is_due(&one, false) && !last.is_due(&other, false)).count();
        assert!(relies > 50, "{relies}");
        wait_for_grace();
        assert!(last.is_due(&other, false), "the first does not come any more");
    }

    #[test]
    fn testers_look_seldom_while_others_wait() {
        let (last, own) = (LastLook::default(), Cell::new(0));
        wait_for_grace();
        assert!(last.is_due(&own, true));
        let due = (0..10).filter(|_| last.is_due(&own, true)).count();
        assert!(due < 10);
    }
}
