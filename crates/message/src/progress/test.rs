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
//! give up (Amer et al., TOPC 2019, section 6.2). With `HEDDLE_TEST_BACKOFF` a tester that finds it taken
//! leaves it alone for a growing number of tests (`backoff.rs`).
//!
//! Most tests in vain are *short*: they poll one VNI. Every 16th to 64th test in a row is *thorough*: it also
//! polls the other VNIs, and yields, since the event that the thread waits for may need its core. The
//! interval adapts to whether yields let other threads run.
//!
//! Beside a thread that computes, a yield gives a time slice away, and a thread that goes on testing burns
//! its own while the process that it waits for may have no core. There a thread whose tests have been in
//! vain for longer than an answer takes *naps*: it sleeps for a moment, or until the doorbell rings. A
//! thread that has slept gets its core back at once.

use super::backoff::Backoff;
use super::fairness::Interval;
use super::sleep::asleep;
use crate::domain::Domain;
use crate::vni::{Due, LastPoll};
use heddle_model::{Attempt, Refusal};
use heddle_platform::atomic::Ordering;
use heddle_platform::{clock, thread};
use heddle_sync::Scope;
use std::cell::Cell;
use std::ptr::without_provenance_mut;
use std::time::Duration;

/// Tests in vain between two thorough ones, if the yields of these let other threads run, and if not.
const THOROUGH_EVERY: (u32, u32) = (16, 64);

/// The number of VNIs for which a thread remembers its last poll; on others it takes its own
/// polls for another thread's.
const REMEMBERED: usize = 8;

/// For how long tests are in vain before the thread naps. An answer from a process that runs takes less.
const NAP_AFTER_NS: u64 = 20_000;

/// The length of a nap that nothing ends: what the thread looks at besides MPI waits for no longer.
const NAP: Duration = Duration::from_micros(250);

struct Tester {
    /// The number of tests from one thorough test to the next.
    thorough_every: Interval,
    /// The time, in ticks, of the first thorough test in vain since the last event or nap; 0 if there was
    /// none.
    in_vain_since: Cell<u64>,
    /// The times of the thread's own last polls.
    polls: [Cell<u64>; REMEMBERED],
    /// The thread's backoff from each VNI.
    backoffs: [Backoff; REMEMBERED],
}

impl Tester {
    /// The time of the thread's own last poll of the VNI, and its backoff from it.
    #[inline(always)]
    fn of(&self, vni: u32) -> (&Cell<u64>, &Backoff) {
        let place = vni as usize % REMEMBERED;
        (&self.polls[place], &self.backoffs[place])
    }

    /// Counts a thorough test in vain. Returns true if the tests have been in vain for long.
    fn is_time_to_nap(&self) -> bool {
        let now = clock::ticks();
        let since = self.in_vain_since.get();
        let is_time = since != 0 && now.wrapping_sub(since) >= clock::ns_to_ticks(NAP_AFTER_NS);
        if since == 0 || is_time {
            self.in_vain_since.set(if is_time { 0 } else { now });
        }
        is_time
    }
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
            in_vain_since: Cell::new(0),
            polls: [const { Cell::new(0) }; REMEMBERED],
            backoffs: [const { Backoff::new() }; REMEMBERED],
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
            let happened = self.poll_for_test(vni, tester) || is_thorough && self.progress_others(vni);
            if happened {
                tester.in_vain_since.set(0);
            } else if is_thorough {
                self.give_way(vni, tester);
            }
            let is_new_row = happened || is_thorough;
            let tests_left = if is_new_row { tester.thorough_every.get() as usize } else { tests_left };
            left::set(without_provenance_mut(tests_left));
        });
    }

    /// Lets other threads run: after a thorough test in vain.
    #[cold]
    fn give_way(&self, vni: u32, tester: &Tester) {
        if !thread::is_yield_dear() {
            self.calls().outside(|| tester.thorough_every.yield_now());
        } else if tester.is_time_to_nap() {
            self.nap(vni, tester);
        }
    }

    /// Sleeps for a moment unless there is something to do. Before it sleeps it polls as a test does, so
    /// it waits for no critical section longer: the thread inside may wait for the caller. What it misses
    /// waits for the end of the nap.
    fn nap(&self, vni: u32, tester: &Tester) {
        let happened = || self.poll_for_test(vni, tester) | self.progress_others(vni);
        let has_work = || !self.is_offloaded() && (happened() || self.fabric().has_work_from_network());
        if let Some(ticket) = self.fabric().own_doorbell().prepare_unless(Scope::Machine, has_work) {
            self.calls().outside(|| asleep(vni, || ticket.park(Some(NAP))));
        }
    }

    #[inline]
    fn poll_for_test(&self, vni: u32, tester: &Tester) -> bool {
        let (own, backoff) = tester.of(vni);
        match self.poll_due(vni, own) {
            Due::No => false,
            Due::Yes => {
                self.vni(vni).progress_within(self.test_patience_ns(), || self.note_refusal(own, backoff))
            }
            Due::AfterRefusal => self.poll_after_refusal(vni, own, backoff),
        }
    }

    #[cold]
    #[inline(never)]
    fn note_refusal(&self, own: &Cell<u64>, backoff: &Backoff) {
        if self.tests_back_off() {
            LastPoll::refused(own);
            backoff.refused();
        }
    }

    /// Does the same as [`poll_for_test`](Self::poll_for_test) after the thread's last poll was refused, but
    /// skips the poll in some tests.
    #[cold]
    #[inline(never)]
    fn poll_after_refusal(&self, vni: u32, own: &Cell<u64>, backoff: &Backoff) -> bool {
        if backoff.skips() {
            return false;
        }
        let mut refused = false;
        let happened = self.vni(vni).progress_within(self.test_patience_ns(), || refused = true);
        if refused {
            backoff.refused();
        } else {
            backoff.entered();
            self.vni(vni).last_poll.polled(own);
        }
        happened
    }

    /// The express path of a short test in vain: polls the VNI, unless another thread does.
    ///
    /// # Errors
    /// A refusal if there is progress to make, if the next test is a thorough one, or if the thread skips
    /// polls.
    #[inline(always)]
    pub fn test_express(&self, attempt: Attempt, vni: u32) -> Result<(), Refusal> {
        if !is_test_short() {
            return Err(Refusal::Unfit);
        }
        // A second attempt follows a first one, which has found that a poll is due.
        let due = if attempt == Attempt::Lock { Due::Yes } else { self.own_poll_due(vni) };
        match due {
            Due::No => {}
            Due::Yes => self.vni(vni).poll_express(attempt)?,
            Due::AfterRefusal => return Err(Refusal::Unfit),
        }
        count_short_test();
        Ok(())
    }

    /// Does the same as [`poll_due`](Self::poll_due); among threads out of line, since it reads the clock
    /// thread-local state.
    #[inline(always)]
    fn own_poll_due(&self, vni: u32) -> Due {
        if self.has_threads() { self.own_poll_due_among_threads(vni) } else { Due::Yes }
    }

    #[inline(never)]
    fn own_poll_due_among_threads(&self, vni: u32) -> Due {
        TESTER.with(|tester| self.poll_due(vni, tester.of(vni).0))
    }

    /// Decides whether the calling test polls the VNI: yes, unless another thread does. `own` is the time of
    /// the calling thread's last poll.
    #[inline]
    fn poll_due(&self, vni: u32, own: &Cell<u64>) -> Due {
        let waited_for = self.attendance(vni).load(Ordering::Relaxed) != 0;
        if self.has_threads() { self.vni(vni).last_poll.due(own, waited_for) } else { Due::Yes }
    }
}
