//! Waiting: poll, spin, yield, and after long idleness sleep.
//!
//! Whoever waits makes progress, for the VNI it waits on and for the others: no VNI is abandoned because its thread
//! computes. A sleeping thread is woken by its process's bell, which every arriving message and every completion
//! rings.

use crate::buffer::Buffer;
use crate::fairness;
use crate::matching::Key;
use crate::process::Process;
use crate::vni::Direct;
use heddle_platform::atomic::Ordering;
use heddle_sync::{Next, Scope, Waiter};
use std::cell::Cell;
use std::time::Duration;

/// A sleeper looks around at least this often, so that a lost message of a dying job cannot hold it for ever.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// While one VNI is polled, the others get a look every so many rounds.
const OTHERS_EVERY: u32 = 16;

/// How often a lone waiter looks before it makes itself known: about as long as an answer takes from the other end of the
/// machine.
const LOOKS_AT_FIRST: u32 = 64;

/// How often a lone waiter looks before it pauses: a pause takes as long as several looks and delays the answer.
const LOOKS_ALONE: u32 = 8;

/// Failed tests in a row after which a thread lets others run.
const TESTS_BEFORE_YIELD: u32 = 64;

thread_local! {
    static FAILED_TESTS: Cell<u32> = const { Cell::new(0) };
}

impl Process {
    /// Returns when `done` says so, making progress meanwhile, first of all on VNI `vni`.
    #[inline]
    pub(crate) fn wait_until(&self, vni: u32, mut done: impl FnMut() -> bool) {
        if done() {
            return;
        }
        // Receivers must know that this process is there to send them what it has offered: then it waits noticeably.
        if !self.vni(vni).has_offers() {
            for _ in 0..if self.is_alone() { LOOKS_AT_FIRST } else { 1 } {
                if self.vni(vni).progress() && done() {
                    return self.ended_promptly();
                }
            }
        }
        if !done() {
            self.wait_slowly(vni, &mut done);
        }
    }

    /// The source, tag and bytes of the message that a blocking receive waits for, if it comes soon and can be received
    /// without ado. Otherwise nothing has happened.
    #[inline(always)]
    pub(crate) fn receive_directly(&self, vni: u32, key: &Key, buffer: &Buffer) -> Option<(i32, i32, usize)> {
        if self.vni(vni).has_offers() || !self.is_alone() {
            return None;
        }
        for _ in 0..LOOKS_AT_FIRST {
            match self.vni(vni).receive_directly(key, buffer) {
                Direct::Nothing => {}
                Direct::Received(source, tag, bytes) => {
                    self.ended_promptly();
                    return Some((source, tag, bytes));
                }
                Direct::Ordinary => return None,
            }
        }
        None
    }

    /// A wait has ended without a yield.
    #[inline(always)]
    fn ended_promptly(&self) {
        if fairness::is_yield_due() {
            self.calls().outside(fairness::yield_now);
        }
    }

    /// Whether a waiter may look a few times before it makes itself known as one that waits, which costs two locked
    /// instructions, one of them after the message has come: as long as it has not, the others of the process that wait
    /// do not know that they are not alone.
    #[inline(always)]
    fn is_alone(&self) -> bool {
        !self.calls().is_locked() && self.fabric().attendance(self.rank()).load(Ordering::Relaxed) == 0
    }

    fn wait_slowly(&self, vni: u32, done: &mut dyn FnMut() -> bool) {
        let waiting = self.fabric().attendance(self.rank());
        let crowd = waiting.fetch_add(1, Ordering::Relaxed) as usize + 1;
        let mut waiter = Waiter::new(self.wait_policy(), crowd);
        let mut round = 0u32;
        loop {
            round = round.wrapping_add(1);
            let happened =
                self.poll(vni, crowd) | (round.is_multiple_of(OTHERS_EVERY) && self.progress_others(vni));
            if done() {
                break;
            }
            if happened {
                waiter.reset();
                continue;
            }
            if self.calls().outside(|| waiter.pause()) == Next::Park {
                self.sleep(done);
                waiter.reset();
            }
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
        if !waiter.has_yielded() {
            self.ended_promptly();
        }
    }

    /// Looks for messages on a VNI: a few times in a row if no other thread of the process waits.
    #[inline]
    fn poll(&self, vni: u32, crowd: usize) -> bool {
        let looks = if crowd == 1 { LOOKS_ALONE } else { 1 };
        (0..looks).any(|_| self.vni(vni).progress())
    }

    /// Sleeps until the bell rings, unless there is something to do.
    #[cold]
    fn sleep(&self, done: &mut dyn FnMut() -> bool) {
        let mut ticket = self.fabric().own_bell().prepare(Scope::Machine);
        // From here on whoever makes something happen rings the bell: look once more, then sleep.
        if self.look_everywhere() || done() {
            return;
        }
        self.calls().outside(|| ticket.park(Some(LONGEST_SLEEP)));
    }

    fn progress_others(&self, vni: u32) -> bool {
        let mut happened = false;
        for (index, other) in (0u32..).zip(self.vnis()) {
            if index != vni {
                happened |= other.progress();
            }
        }
        happened
    }

    /// Looks on all VNIs, and waits for those in which others are. Returns whether anything happened or is left to do.
    #[cold]
    pub(crate) fn look_everywhere(&self) -> bool {
        let mut happened = false;
        for vni in self.vnis() {
            happened |= vni.look();
        }
        happened
    }

    /// One attempt at progress for the `MPI_Test` family. A thread that tests in vain again and again lets others
    /// run now and then, since what it waits for may need its core.
    #[inline]
    pub(crate) fn progress_for_test(&self, vni: u32) {
        let failed = FAILED_TESTS.get() + 1;
        let happened =
            self.vni(vni).progress() || (failed.is_multiple_of(OTHERS_EVERY) && self.progress_others(vni));
        if happened {
            FAILED_TESTS.set(0);
        } else if failed >= TESTS_BEFORE_YIELD {
            FAILED_TESTS.set(0);
            self.calls().outside(heddle_platform::thread::yield_now);
        } else {
            FAILED_TESTS.set(failed);
        }
    }

    /// Sends what is still queued, before the process leaves.
    pub(crate) fn drain(&self) {
        for (index, vni) in (0u32..).zip(self.vnis()) {
            self.wait_until(index, || vni.with(|core| core.is_drained()));
        }
    }
}
