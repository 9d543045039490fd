//! A queue lock whose holder may come again for a while: the order of a queue at the price of a test-and-set lock.
//!
//! **Idea.** Before a queue lock `L` stands one word that decides who is inside. Who finds it free takes it, with one
//! locked instruction, and gives it back with a plain store; who does not, queues up in `L`, and whoever holds `L`
//! (the *head*) is the only one that looks at the word. When the head has waited for `forced_yield_ns` it becomes
//! *impatient*, and the next release reserves the word for it; it keeps `L` until it leaves, so that the next in the
//! queue becomes the head. **Source:** D. Dice, A. Kogan: *Fissile locks*, NETYS 2020,
//! doi:10.1007/978-3-030-67087-0_13 (test-and-set before a NUMA-aware queue lock). We depart in that the head
//! measures its patience in time, and waits, as all do here, by a [`WaitPolicy`].
//!
//! Why: a strict order hands the lock to the thread that waited longest. With two threads on two cores this costs two
//! cache-line transfers an acquisition even if the sections are short; with more threads than cores it costs a switch
//! between threads. Letting a running thread come again for 50 µs divides both by some hundred acquisitions.
//!
//! | | |
//! |---|---|
//! | uncontended | one compare-and-swap to enter, a plain store and two plain loads to leave: one locked instruction |
//! | contended | during a tenure as uncontended, with the head looking; one acquisition and release of `L` a tenure |
//! | space | two cache lines and `L` |
//! | fairness | the heads' order is `L`'s, and each enters at latest after `forced_yield_ns` as head and the section then running. Arrivals overtake within that time. So the n-th in the queue waits at most about n times that |
//! | needs | nothing |
//! | choose it | as the default form of any queue lock, unless the order itself is the purpose |
//!
//! **More threads than cores.** The waiters in `L` yield, and sleep after that, without being in the way: the lock
//! goes on among those who run.
//!
//! **When a thread does not run.** A stopped holder stops all. A stopped head stops all once it is impatient; before
//! that, nobody. Other stopped waiters stop those behind them when their turn as head comes, but not those who come
//! anew until then: the word stays free. If `L` is a [`TimedLock`] so is this.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores with nothing else to do, ten cache lines in the section): alone
//! 2.2 ns, as [`Mutex`](crate::Mutex), whatever lies below. Two threads, over [`Mcs`](crate::Mcs): 119 million a second,
//! the best other mutex (parking_lot) 93. With 16 and 64 threads 140 and 115, but then some threads are hardly ever served
//! within a tenth of a second (the slowest gets a thousandth of the mean; [`Mutex`](crate::Mutex): 0.6 to 0.9).
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | anybody may take it | compare-and-swap to `HELD` |
//! | `HELD` | somebody is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | the head may take it | the head's compare-and-swap to `HELD` |
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. `head` is written only by the holder of `L`. `WAITING` and `IMPATIENT` say that it is waiting for `state`,
//!    `BEHIND` that it is inside and saw another waiting for `L`; before it gives up `L` it writes `NOBODY`.
//! 3. *No lost wake-up*: the store to `state` is followed by a ring of the bell on which the head sleeps
//!    ([`Bell`](crate::Bell), invariant 2).
//! 4. `RESERVED` locks nobody out: who waits is the head or waits for `L`, whose holder is the head, or inside, or
//!    leaving. A head that gave up may leave it reserved: then the next head takes it, and a try becomes the head if
//!    it can.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire). `head` is a hint for the
//! releaser; for [`has_waiters`](RawLock::has_waiters) it is ordered by the lock itself: each holder that wrote it
//! did so before it left.

use crate::bell::Bell;
use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::wait::{Next, WaitPolicy, Waiter, time_left};
use crate::{RawLock, TimedLock};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use std::fmt;
use std::time::Duration;

/// Anybody may take it.
const FREE: u32 = 0;
/// Somebody is inside.
const HELD: u32 = 1;
/// The head may take it.
const RESERVED: u32 = 2;

/// Nobody waits for `state`.
const NOBODY: u32 = 0;
/// The holder of `L` waits for `state`.
const WAITING: u32 = 1;
/// It has waited long enough.
const IMPATIENT: u32 = 2;
/// It is inside, and others wait for `L`.
const BEHIND: u32 = 3;

/// How many yields the head puts between two looks in the end (it starts with one): some microseconds. Every look
/// takes the word's line from a holder that may be about to come again.
const MOST_TURNS: u32 = 8;

/// A lock `L` with a word before it; see the [module](self).
pub struct Fissile<L: RawLock> {
    word: CachePadded<Word<L::Platform>>,
    left: CachePadded<Bell<L::Platform>>,
    under: L,
    policy: WaitPolicy,
}

#[derive(Debug)]
struct Word<P: Platform> {
    state: P::AtomicU32,
    head: P::AtomicU32,
}

/// What an acquisition hands to its release.
#[derive(Debug)]
pub struct Token<T>(Option<T>);

impl<L: RawLock + fmt::Debug> fmt::Debug for Fissile<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fissile").field("under", &self.under).finish_non_exhaustive()
    }
}

impl<L: RawLock + Default> Default for Fissile<L> {
    fn default() -> Self {
        Self::new(L::default(), WaitPolicy::DEFAULT)
    }
}

impl<L: RawLock> Fissile<L> {
    /// Puts a word before `under`. The head waits by `policy`.
    #[must_use]
    pub fn new(under: L, policy: WaitPolicy) -> Self {
        let word = Word { state: AtomicInteger::new(FREE), head: AtomicInteger::new(NOBODY) };
        Self { word: CachePadded::new(word), left: CachePadded::new(Bell::default()), under, policy }
    }

    /// The lock below.
    pub fn under(&self) -> &L {
        &self.under
    }

    #[inline(always)]
    fn take(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in release().
        self.word.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_as_head(&self) -> bool {
        match self.word.state.load(Ordering::Relaxed) {
            HELD => false,
            RESERVED if injected(Fault::FissileReservationUnknown) => false,
            free_or_reserved => self.take(free_or_reserved),
        }
    }

    /// The caller holds `under` and waits for the word; false if the deadline came first.
    fn compete(&self, deadline_ns: Option<u64>) -> bool {
        let head = &self.word.head;
        head.store(WAITING, Ordering::Relaxed);
        let crowd = 1 + usize::from(self.under.has_waiters());
        let mut waiter = Waiter::<L::Platform>::backing_off(&self.policy, crowd);
        let since = L::Platform::ticks();
        let mut patient = true;
        let mut turns = 1;
        let entered = loop {
            if self.take_as_head() {
                break true;
            }
            if time_left::<L::Platform>(deadline_ns) == Some(Duration::ZERO) {
                break false;
            }
            let waited = L::Platform::ticks().wrapping_sub(since);
            if patient && waited >= L::Platform::ns_to_ticks(self.policy.forced_yield_ns) {
                patient = false;
                head.store(IMPATIENT, Ordering::Relaxed);
            }
            if (0..turns).any(|_| waiter.pause() == Next::Park) {
                break self.sleep(deadline_ns);
            }
            if waiter.has_yielded() {
                turns = (turns * 2).min(MOST_TURNS);
            }
        };
        let behind = entered && self.under.has_waiters();
        head.store(if behind { BEHIND } else { NOBODY }, Ordering::Relaxed);
        entered
    }

    #[cold]
    fn sleep(&self, deadline_ns: Option<u64>) -> bool {
        // Nobody can be overtaken for ever in its sleep.
        self.word.head.store(IMPATIENT, Ordering::Relaxed);
        let mut ticket = self.left.prepare(Scope::Process);
        loop {
            if !injected(Fault::FissileWithoutSecondLook) && self.take_as_head() {
                return true;
            }
            let time_left = time_left::<L::Platform>(deadline_ns);
            if time_left == Some(Duration::ZERO) {
                return false;
            }
            ticket.park(time_left);
            if injected(Fault::FissileWithoutSecondLook) && self.take_as_head() {
                return true;
            }
        }
    }

    #[cold]
    fn acquire_slow(&self) -> Token<L::Token> {
        let below = self.under.acquire();
        self.compete(None);
        Token(Some(below))
    }

    #[cold]
    fn try_reserved(&self) -> Option<Token<L::Token>> {
        let below = self.under.try_acquire()?;
        if self.take_as_head() {
            return Some(Token(Some(below)));
        }
        // SAFETY: acquired above.
        unsafe { self.under.release(below) };
        None
    }

    #[cold]
    fn leave_queue(&self, below: L::Token) {
        // SAFETY: acquired by this thread, for which it was kept in its token, or given up on the way.
        unsafe { self.under.release(below) };
    }
}

// SAFETY: exclusion by invariant 1, order by the Acquire and Release on `state`, liveness by invariants 3 and 4.
unsafe impl<L: RawLock> RawLock for Fissile<L> {
    type Platform = L::Platform;
    type Token = Token<L::Token>;

    #[inline]
    fn acquire(&self) -> Token<L::Token> {
        if self.take(FREE) { Token(None) } else { self.acquire_slow() }
    }

    #[inline]
    fn try_acquire(&self) -> Option<Token<L::Token>> {
        match self.word.state.load(Ordering::Relaxed) {
            FREE if self.take(FREE) => Some(Token(None)),
            RESERVED => self.try_reserved(),
            _ => None,
        }
    }

    #[inline]
    unsafe fn release(&self, Token(below): Token<L::Token>) {
        let word = &self.word;
        if below.is_some() {
            word.head.store(NOBODY, Ordering::Relaxed);
        }
        let reserve = word.head.load(Ordering::Relaxed) == IMPATIENT;
        let order =
            if injected(Fault::FissileRelaxedRelease) { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in take().
        word.state.store(if reserve { RESERVED } else { FREE }, order);
        self.left.ring(Scope::Process);
        if let Some(below) = below {
            self.leave_queue(below);
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.word.head.load(Ordering::Relaxed) != NOBODY
    }
}

// SAFETY: who gives up as head leaves `L` to the next (invariant 4); who gives up before, by L's promise, leaves nothing.
unsafe impl<L: TimedLock> TimedLock for Fissile<L> {
    #[inline]
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<L::Token>> {
        if self.take(FREE) {
            return Some(Token(None));
        }
        let below = self.under.acquire_until(deadline_ns)?;
        if self.compete(Some(deadline_ns)) {
            return Some(Token(Some(below)));
        }
        self.leave_queue(below);
        None
    }
}
