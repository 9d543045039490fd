//! The filter: the word that decides which thread is inside, and the heads of the two
//! classes that wait for it.
//!
//! | `state` | meaning | makes it `HELD` |
//! |---|---|---|
//! | `FREE` | open | the high class; the low class if no high-priority thread waits |
//! | `HELD`, `HELD_BY_LOW` | a thread of that class is inside | |
//! | `FOR_HIGH` | the high class's turn goes to its head | that head; any thread if there is none |
//! | `FOR_LOW` | the low class's turn goes to its head | the high class; that head if no high-priority thread waits |
//! | `OWED` | `low_bound` critical sections have passed the low class's head | that head; the high class if it does not wait |
//!
//! The class's [`Head`] says whether a thread waits. The high class counts as waiting also while its head is
//! only *coming*, so that no low-priority thread slips in between two of its heads. Turns are those of the
//! queue locks: a thread may come again and pass the head of its class for a while; a thread that finds the
//! word reserved for that head stands back.
//!
//! A thread of the high class that finds another one inside yields and tries again a few times before it
//! queues up, as with `Fissile`, but only while no thread of its class queues. Once one does, others queue
//! behind it, and leave the word to it and to the thread inside. Where a thread of the low class is inside,
//! it queues up at once, since that thread leaves soon and does not come again soon.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` or `HELD_BY_LOW` changes it
//!    again.
//! 2. *No lost wake-up.* Whether a head may take the word changes with the word, and when the head of the
//!    other class goes. A thread that leaves stores the word, passes `light`, and checks both heads; a
//!    head that gives up does the same for the head of the other class. [`head`](crate::head)
//!    describes the sleeper's side.
//! 3. *No thread is shut out.* `FOR_LOW` and `FREE` never keep the high class out. `FOR_HIGH` is for a head
//!    that waits or comes; if it does not run, arrivals of its class take the word after some time; if it
//!    gave up, `stranded` is set, and a low-priority thread notices (see the [lock](super)). `OWED` is for a
//!    head that waits, and void when it gave up.
//! 4. Only the holder of the word changes `passes`.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire): order from holder
//! to holder. All other words are hints.

use crate::head::{Contest, Head};
use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_sync::WaitPolicy;
use heddle_sync::wait::try_again;
use std::time::Duration;

const FREE: u32 = 0;
const HELD: u32 = 1;
const FOR_HIGH: u32 = 2;
const FOR_LOW: u32 = 3;
const OWED: u32 = 4;
const HELD_BY_LOW: u32 = 5;

/// The interval at which a low-priority sleeper checks the high class while that may be stranded. Such checks
/// happen only after a high-priority thread gave up while others came and went.
pub(super) const CHECK_STRANDED_EVERY: Duration = Duration::from_millis(1);

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
    // The words that both classes touch lie in one cache line.
    state: P::AtomicU32,
    /// Set when a high-priority thread gave up: it may have been the one that was said to be coming.
    stranded: P::AtomicU32,
    /// The number of high-priority critical sections that have passed the low class's head.
    passes: P::AtomicU32,
    low_bound: u32,
    high: Head<P>,
    low: Head<P>,
    policy: WaitPolicy,
    /// The number of times that `OWED` was needed; the holder of the word writes it.
    bound_reached: P::AtomicU64,
    /// The number of times that no thread was coming; the holder of the high class's queue writes it.
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
        (side == High || self.high_is_away()) && self.take_from(FREE, side)
    }

    #[inline(always)]
    fn take_from(&self, from: u32, side: Side) -> bool {
        let held = if side == High { HELD } else { HELD_BY_LOW };
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, held, Ordering::Acquire, Ordering::Relaxed).is_ok()
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
            (_, HELD | HELD_BY_LOW) => false,
            (High, FREE | FOR_LOW) => true,
            (High, FOR_HIGH) => self.high.is_nobody(),
            (High, _) => self.low_is_away(),
            (Low, FREE | FOR_HIGH) => self.high_is_away(),
            (Low, _) => self.high_is_away() && self.low.is_nobody(),
        };
        may && self.take_from(state, side)
    }

    /// Takes the word if the head of the class, the holder of its queue, may.
    pub(super) fn take_as_head(&self, side: Side) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let owed = state == OWED;
        let taken = match (side, state) {
            (_, HELD | HELD_BY_LOW) => false,
            (High, FOR_HIGH) => self.take_from(state, side),
            (Low, FOR_LOW) => self.high_is_away() && self.take_from(state, side),
            (Low, OWED) if owed => self.take_from(state, side),
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

    /// Yields and tries again a few times, for an arrival of the high class that found the word taken, while
    /// only a running thread of its class stands in its way. Returns true if it has taken the word.
    #[cold]
    pub(super) fn take_before_any_queue(&self) -> bool {
        let is_worthwhile = || self.high.is_nobody() && self.state.load(Ordering::Relaxed) != HELD_BY_LOW;
        let again = || if is_worthwhile() { self.take_as_arrival(High).then_some(true) } else { Some(false) };
        self.policy.forced_yield_ns != 0
            && is_worthwhile()
            && try_again::<P, _>(self.policy.first_tries, again).unwrap_or(false)
    }

    /// Takes the word for an arrival that found it taken or reserved. If it is reserved for the head of its
    /// class, the arrival stands back for that head.
    #[cold]
    pub(super) fn stand_back(&self, side: Side, deadline_ns: Option<u64>) -> bool {
        if self.take_as_arrival(side) {
            return true;
        }
        let reserved = if side == High { FOR_HIGH } else { FOR_LOW };
        // In a strict order an arrival is behind the heads, whether they run or not.
        if self.policy.forced_yield_ns == 0 || self.state.load(Ordering::Relaxed) != reserved {
            return false;
        }
        if self.head(side).stand_back(&self.state, reserved, &self.policy, deadline_ns) {
            (side == High || self.high_is_away()) && self.take_from(reserved, side)
        } else {
            self.take_as_arrival(side)
        }
    }

    /// Waits for the word as the holder of a class's queue; returns false if the deadline came first.
    pub(super) fn compete(&self, side: Side, deadline_ns: Option<u64>, contest: &impl Contest) -> bool {
        self.head(side).compete(&self.policy, deadline_ns, contest)
    }

    /// The caller holds the queue and will give it away now; `company` says whether a thread waits there.
    pub(super) fn hand_on(&self, side: Side, company: bool) {
        self.head(side).hand_on(company);
    }

    /// Sets the word free, or reserves it for a head.
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

    /// The word's state after a critical section of that class while a thread waits or comes.
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

    /// Counts a high-priority critical section that passed a low-priority thread.
    fn bound_is_reached(&self) -> bool {
        let passes = self.passes.load(Ordering::Relaxed).saturating_add(1);
        self.passes.store(passes, Ordering::Relaxed);
        passes >= self.low_bound && self.low_bound != u32::MAX
    }

    /// A thread of that class has given up; if it was the head, it has handed on the queue.
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

    /// Clears the marks of threads that gave up. The caller holds the high class's queue, in which no thread
    /// is, so none is coming. Returns true if one was said to be.
    pub(super) fn clear_stranded(&self) -> bool {
        // Acquire: every thread whose mark this clears had given up before, so no later check by a holder
        // takes it for a waiter. A swap, since a store might overwrite a mark without having seen it.
        self.stranded.swap(0, Ordering::Acquire);
        let forgotten = self.high.forget();
        if forgotten {
            increment::<P>(&self.rescues);
        }
        forgotten
    }

    /// See [`RawLock::has_waiters`](heddle_sync::RawLock::has_waiters).
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
        matches!(self.state.load(Ordering::Relaxed), HELD | HELD_BY_LOW)
    }
}

/// Adds one. Only one thread may write the counter at a time.
fn increment<P: Platform>(counter: &P::AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
