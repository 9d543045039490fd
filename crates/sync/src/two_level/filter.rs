//! The filter: the lock below both classes, for which at most one thread of each competes.
//!
//! The paper takes a ticket lock. This one is entered by a compare-and-swap and left by a plain store, since on the
//! high class's uncontended path that is half the cost; what a ticket lock's order gave is given where it is wanted, by
//! a *grant*: the holder hands the filter to the other class without setting it free in between.
//!
//! | `word` | a class's place | meaning | left by |
//! |---|---|---|---|
//! | `FREE` | any but `GRANTED` | open | compare-and-swap to `HELD` by anybody |
//! | `HELD` | `NOBODY` | that class holds it or does not want it | its thread stores `WAITING` |
//! | `HELD` | `WAITING` | its thread waits here, awake | `ASLEEP` or `NOBODY` by itself, `GRANTED` by the holder |
//! | `HELD` | `ASLEEP` | its thread sleeps on this word, or is about to | `WAITING` by whoever wakes it, `GRANTED` |
//! | `HELD` | `GRANTED` | the filter is that class's now | its thread stores `NOBODY` |
//!
//! **Invariants.**
//!
//! 1. One thread of a class uses its place at a time: the one that holds the class's lock.
//! 2. Only the filter's holder grants, once, instead of setting it free. So whoever takes `word` from `FREE` knows that
//!    nobody will grant to it as well; and a compare-and-swap decides between a grant and giving up.
//! 3. *No lost wake-up*: a sleeper stores `ASLEEP`, passes `heavy`, and looks whether the filter is free; whoever sets
//!    it free stores, passes `light`, and looks whether the other class sleeps. One of them sees the other. The same
//!    goes for `stranded`. A grant is made in the word that is slept on.
//!
//! **Orderings.** `FREE` and `GRANTED` are stored with Release and taken with Acquire: order from holder to holder.

use crate::fault::{Fault, injected};
use crate::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use std::time::Duration;

const FREE: u32 = 0;
const HELD: u32 = 1;

/// A class's place: nobody waits at the filter.
const NOBODY: u32 = 0;
/// Its thread waits and looks.
const WAITING: u32 = 1;
/// Its thread waits and does not look.
const ASLEEP: u32 = 2;
/// Its thread holds the filter and may not know it yet.
const GRANTED: u32 = 3;

/// How often a low-priority sleeper looks after the high class while that may be stranded. Only a high-priority thread
/// that gave up while others come and go makes it look at all.
const LOOK_AFTER_STRANDED: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Filter<P: Platform> {
    word: P::AtomicU32,
    high: P::AtomicU32,
    low: P::AtomicU32,
    /// A high-priority thread gave up: perhaps it was for it that the filter was kept shut.
    stranded: P::AtomicU32,
}

/// How long a thread is willing to wait here, and how.
#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) policy: &'a WaitPolicy,
    pub(super) crowd: usize,
    pub(super) deadline_ns: Option<u64>,
}

impl<P: Platform> Filter<P> {
    pub(super) fn new() -> Self {
        Self {
            word: P::AtomicU32::new(FREE),
            high: P::AtomicU32::new(NOBODY),
            low: P::AtomicU32::new(NOBODY),
            stranded: P::AtomicU32::new(0),
        }
    }

    /// Takes the filter if it is free, for either class.
    #[inline(always)]
    pub(super) fn take(&self) -> bool {
        // Acquire: pairs with the Release in open().
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Sets the filter free, by the high class.
    #[inline(always)]
    pub(super) fn open_by_high(&self) {
        self.open(&self.low);
    }

    /// Gives the filter to the high-priority thread that waits here, or sets it free; by the low class.
    #[inline(always)]
    pub(super) fn open_by_low(&self) {
        if self.high.load(Ordering::Relaxed) == NOBODY || !self.grant(&self.high) {
            self.open(&self.high);
        }
    }

    /// Gives the filter to the low-priority thread that waits here, or sets it free. True if there was one.
    pub(super) fn open_for_low(&self) -> bool {
        let granted = self.grant(&self.low);
        if !granted {
            self.open(&self.low);
        }
        granted
    }

    #[inline(always)]
    fn open(&self, other: &P::AtomicU32) {
        let order =
            if injected(Fault::TwoLevelRelaxedFilter) { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in take().
        self.word.store(FREE, order);
        self.rouse(other);
    }

    /// Wakes the other class's thread if it sleeps, after a store that it should see.
    #[inline(always)]
    fn rouse(&self, place: &P::AtomicU32) {
        if !injected(Fault::TwoLevelWithoutLight) {
            P::light();
        }
        if place.load(Ordering::Relaxed) == ASLEEP {
            Self::wake(place);
        }
    }

    /// Once for each sleep, however often the filter is opened until the sleeper runs.
    #[cold]
    fn wake(place: &P::AtomicU32) {
        if place.compare_exchange(ASLEEP, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            P::wake(place, 1, Scope::Process);
        }
    }

    #[cold]
    fn grant(&self, place: &P::AtomicU32) -> bool {
        let order = if injected(Fault::TwoLevelRelaxedGrant) { Ordering::Relaxed } else { Ordering::Release };
        for state in [WAITING, ASLEEP, WAITING] {
            // Release: pairs with the Acquire in entered() and give_up().
            if place.compare_exchange(state, GRANTED, order, Ordering::Relaxed).is_ok() {
                if state == ASLEEP {
                    P::wake(place, 1, Scope::Process);
                }
                return true;
            }
        }
        // It gave up, or goes to sleep and gets up all the time: it will find the filter free.
        false
    }

    #[inline(always)]
    pub(super) fn low_waits(&self) -> bool {
        self.low.load(Ordering::Relaxed) != NOBODY
    }

    #[inline(always)]
    pub(super) fn high_waits(&self) -> bool {
        self.high.load(Ordering::Relaxed) != NOBODY
    }

    /// Waits for the filter as the high class. False if the time ran out first.
    #[cold]
    pub(super) fn wait_as_high(&self, patience: Patience<'_>) -> bool {
        self.wait(&self.high, patience, || false)
    }

    /// Waits for the filter as the low class. False if the time ran out first. `rescue` is asked when the high class
    /// may be stranded: true if it got the filter.
    #[cold]
    pub(super) fn wait_as_low(&self, patience: Patience<'_>, rescue: impl Fn() -> bool) -> bool {
        self.wait(&self.low, patience, || self.may_be_stranded() && rescue())
    }

    fn wait(&self, place: &P::AtomicU32, patience: Patience<'_>, rescued: impl Fn() -> bool) -> bool {
        place.store(WAITING, Ordering::Relaxed);
        let mut waiter = Waiter::<P>::new(patience.policy, patience.crowd);
        loop {
            if self.entered(place) {
                return true;
            }
            if rescued() {
                // The caller holds the filter now, so nobody else can have granted it (invariant 2).
                place.store(NOBODY, Ordering::Relaxed);
                return true;
            }
            if patience.deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                return self.give_up(place);
            }
            if waiter.pause() == Next::Park {
                self.sleep(place, patience.deadline_ns);
            }
        }
    }

    #[inline]
    fn entered(&self, place: &P::AtomicU32) -> bool {
        // Acquire: pairs with the Release in grant().
        let entered = place.load(Ordering::Acquire) == GRANTED
            || self.word.load(Ordering::Relaxed) == FREE && self.take();
        if entered {
            place.store(NOBODY, Ordering::Relaxed);
        }
        entered
    }

    /// True if a grant came first.
    fn give_up(&self, place: &P::AtomicU32) -> bool {
        // Acquire: pairs with the Release in grant().
        place.swap(NOBODY, Ordering::Acquire) == GRANTED
    }

    /// Sleeps once, unless there is something to be done already.
    fn sleep(&self, place: &P::AtomicU32, deadline_ns: Option<u64>) {
        if place.compare_exchange(WAITING, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        if !injected(Fault::TwoLevelWithoutHeavy) {
            P::heavy(Scope::Process);
        }
        if self.word.load(Ordering::Relaxed) != FREE {
            let look = (std::ptr::eq(place, &raw const self.low) && self.may_be_stranded())
                .then_some(LOOK_AFTER_STRANDED);
            let left = deadline_ns.map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(P::now_ns())));
            let timeout = [look, left].into_iter().flatten().min();
            P::wait(place, ASLEEP, timeout, Scope::Process);
        }
        // Not woken: gets up by itself, unless somebody wakes it or grants it the filter just now.
        let _ = place.compare_exchange(ASLEEP, WAITING, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// A high-priority thread gave up waiting.
    pub(super) fn strand(&self) {
        if injected(Fault::TwoLevelSilentGiverUp) {
            return;
        }
        // Release: pairs with the Acquire in clear_stranded().
        self.stranded.store(1, Ordering::Release);
        self.rouse(&self.low);
    }

    #[inline]
    pub(super) fn may_be_stranded(&self) -> bool {
        self.stranded.load(Ordering::Relaxed) != 0
    }

    /// By whoever holds the high class's lock.
    pub(super) fn clear_stranded(&self) {
        // Acquire: every thread whose mark this takes away had given up before, so no later look of a holder takes it
        // for a waiter. A swap, since a store might overwrite a mark without having seen it.
        self.stranded.swap(0, Ordering::Acquire);
    }
}
