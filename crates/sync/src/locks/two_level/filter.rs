//! The filter: the word that decides who is inside, and the heads of the two classes that wait for it.
//!
//! | `state` | meaning | who may make it `HELD` |
//! |---|---|---|
//! | `FREE` | open | the high class; the low class if no high-priority thread waits |
//! | `HELD` | somebody is inside | |
//! | `FOR_HIGH` | the high class's turn goes to its head | that head; anybody if there is none |
//! | `FOR_LOW` | the low class's turn goes to its head | the high class; that head if no high-priority thread waits |
//! | `OWED` | `low_bound` sections have passed the low class's head | that head; the high class if it does not wait |
//!
//! "Waits" is said by the class's [`Head`]: of the high class also when it is only *coming*, so that between
//! two of its heads no low-priority thread slips in. Turns are those of the queue locks: a thread may come
//! again and pass the head of its class for a while, and who finds the word reserved for that head stands
//! back.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. *No lost wake-up.* What a head may take changes when the word does, and when the other class's head
//!    goes. Whoever leaves stores the word, passes `light`, and looks after both heads; a head that gives up
//!    does the same for the other class's. The sleeper's side stands in [`head`](crate::locks::head).
//! 3. *Nobody is shut out.* `FOR_LOW` and `FREE` keep the high class from nothing. `FOR_HIGH` is for a head
//!    that waits or comes; if it does not run, arrivals of its class take the word after some time; if it
//!    gave up, `stranded` is set, and a low-priority thread finds out (see the [lock](super)). `OWED` is for
//!    a head that waits, and void when it gave up.
//! 4. `passes` is changed by the holder of the word only.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire): order from holder
//! to holder. All else is hints.

use crate::locks::head::{Contest, Head};
use crate::waiting::wait::WaitPolicy;
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use std::time::Duration;

const FREE: u32 = 0;
const HELD: u32 = 1;
const FOR_HIGH: u32 = 2;
const FOR_LOW: u32 = 3;
const OWED: u32 = 4;

/// How often a low-priority sleeper looks after the high class while that may be stranded. Only a
/// high-priority thread that gave up while others come and go makes it look at all.
pub(super) const LOOK_AFTER_STRANDED: Duration = Duration::from_millis(1);

/// One of the two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    High,
    Low,
}
use Side::{High, Low};

#[derive(Debug)]
#[repr(C)]
pub(super) struct Filter<P: Platform> {
    // In one cache line what both classes touch.
    state: P::AtomicU32,
    /// A high-priority thread gave up: perhaps it was the one that was said to be coming.
    stranded: P::AtomicU32,
    /// How many high-priority sections have passed the low class's head.
    passes: P::AtomicU32,
    low_bound: u32,
    high: Head<P>,
    low: Head<P>,
    policy: WaitPolicy,
    /// How often `OWED` was needed; written by the holder of the word.
    bound_reached: P::AtomicU64,
    /// How often nobody was coming; written by the holder of the high class's queue.
    rescues: P::AtomicU64,
}

impl<P: Platform> Filter<P> {
    pub(super) fn new(policy: WaitPolicy, low_bound: u32) -> Self {
        Self {
            state: AtomicInteger::new(FREE),
            stranded: AtomicInteger::new(0),
            passes: AtomicInteger::new(0),
            low_bound: low_bound.max(1),
            high: Head::new(),
            low: Head::new(),
            policy,
            bound_reached: AtomicInteger::new(0),
            rescues: AtomicInteger::new(0),
        }
    }

    fn head(&self, side: Side) -> &Head<P> {
        if side == High { &self.high } else { &self.low }
    }

    /// Takes the word if it is free for the class.
    #[inline(always)]
    pub(super) fn take(&self, side: Side) -> bool {
        (side == High || self.high_is_away()) && self.take_from(FREE)
    }

    #[inline(always)]
    fn take_from(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn high_is_away(&self) -> bool {
        self.high.is_nobody()
    }

    fn low_is_away(&self) -> bool {
        !self.low.waits()
    }

    /// Takes the word if an arrival of the class may, whatever its state.
    #[inline]
    pub(super) fn take_as_arrival(&self, side: Side) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let may = match (side, state) {
            (_, HELD) => false,
            (High, FREE | FOR_LOW) => true,
            (High, FOR_HIGH) => self.high.is_nobody(),
            (High, _) => self.low_is_away(),
            (Low, FREE | FOR_HIGH) => self.high_is_away(),
            (Low, _) => self.high_is_away() && self.low.is_nobody(),
        };
        may && self.take_from(state)
    }

    /// Takes the word if the head of the class may, which is the holder of its queue.
    pub(super) fn take_as_head(&self, side: Side) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let owed = state == OWED;
        let taken = match (side, state) {
            (_, HELD) => false,
            (High, FOR_HIGH) => self.take_from(state),
            (Low, FOR_LOW) => self.high_is_away() && self.take_from(state),
            (Low, OWED) if owed => self.take_from(state),
            _ => self.take_as_arrival(side),
        };
        if taken && side == Low {
            if owed {
                increment::<P>(&self.bound_reached);
            }
            self.passes.store(0, Ordering::Relaxed);
        }
        taken
    }

    /// Takes the word for an arrival that found it taken or reserved; it stands back for the head of its
    /// class if it is reserved for that.
    #[cold]
    pub(super) fn stand_back(&self, side: Side, deadline_ns: Option<u64>) -> bool {
        if self.take_as_arrival(side) {
            return true;
        }
        let reserved = if side == High { FOR_HIGH } else { FOR_LOW };
        if self.state.load(Ordering::Relaxed) != reserved {
            return false;
        }
        if self.head(side).stand_back(&self.state, reserved, &self.policy, deadline_ns) {
            (side == High || self.high_is_away()) && self.take_from(reserved)
        } else {
            self.take_as_arrival(side)
        }
    }

    /// Waits for the word as the holder of a class's queue; false if the deadline came first.
    pub(super) fn compete(&self, side: Side, deadline_ns: Option<u64>, contest: &impl Contest) -> bool {
        self.head(side).compete(&self.policy, deadline_ns, contest)
    }

    /// The caller holds the queue and will give it away now; `company` says whether to somebody.
    pub(super) fn hand_on(&self, side: Side, company: bool) {
        self.head(side).hand_on(company);
    }

    /// Sets the word free, or for whom it is to be.
    #[inline(always)]
    pub(super) fn leave(&self, side: Side) {
        let alone = self.high.is_nobody() && self.low.is_nobody();
        let left = if alone { FREE } else { self.left_for(side) };
        // Release: pairs with the Acquire in take_from().
        self.state.store(left, Ordering::Release);
        P::light();
        if self.high.rouse() || left == OWED {
            self.low.rouse();
        }
    }

    /// What the word is after a section of that class while somebody waits or comes.
    #[cold]
    fn left_for(&self, side: Side) -> u32 {
        if side == High && self.low.waits() && self.bound_is_reached() {
            OWED
        } else if !self.high.is_nobody() {
            if self.high.turn_is_over(&self.policy) { FOR_HIGH } else { FREE }
        } else if side == Low && self.low.turn_is_over(&self.policy) {
            FOR_LOW
        } else {
            FREE
        }
    }

    /// Counts a high-priority section that passed a low-priority thread.
    fn bound_is_reached(&self) -> bool {
        let passes = self.passes.load(Ordering::Relaxed).saturating_add(1);
        self.passes.store(passes, Ordering::Relaxed);
        passes >= self.low_bound && self.low_bound != u32::MAX
    }

    /// A thread of that class has given up; if it was the head, it has handed on.
    #[cold]
    pub(super) fn give_up(&self, side: Side) {
        let other = match side {
            High => {
                // Release: pairs with the Acquire in clear_stranded().
                self.stranded.store(1, Ordering::Release);
                &self.low
            }
            Low => &self.high,
        };
        P::light();
        other.rouse();
    }

    #[inline]
    pub(super) fn may_be_stranded(&self) -> bool {
        self.stranded.load(Ordering::Relaxed) != 0
    }

    /// By the holder of the high class's queue, in which nobody is: nobody comes. True if somebody was
    /// thought to.
    pub(super) fn clear_stranded(&self) -> bool {
        // Acquire: every thread whose mark this takes away had given up before, so no later look of a holder
        // takes it for a waiter. A swap, since a store might overwrite a mark without having seen it.
        self.stranded.swap(0, Ordering::Acquire);
        let forgotten = self.high.forget();
        if forgotten {
            increment::<P>(&self.rescues);
        }
        forgotten
    }

    /// As [`RawLock::has_waiters`](crate::RawLock::has_waiters).
    #[inline]
    pub(super) fn has_waiters(&self) -> bool {
        self.high.has_waiters() || self.low.has_waiters()
    }

    pub(super) fn bound_reached(&self) -> u64 {
        self.bound_reached.load(Ordering::Relaxed)
    }

    pub(super) fn rescues(&self) -> u64 {
        self.rescues.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn is_held(&self) -> bool {
        self.state.load(Ordering::Relaxed) == HELD
    }
}

/// By the one thread that writes it now.
fn increment<P: Platform>(counter: &P::AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
