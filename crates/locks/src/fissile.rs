//! A queue lock whose running holder may come again for a while: the order of a queue at the price of a
//! test-and-set lock.
//!
//! **Idea.** Before a queue lock `L` stands one word that decides which thread is inside. A thread that finds
//! it free takes it, with one locked instruction, and gives it back with a plain store. A thread that does
//! not, even after a few yields, queues up in `L`, and only the holder of `L` (the *head*) waits for the
//! word. A running thread may come again and again, but when that has gone on for `forced_yield_ns` while a
//! head waits, the next release reserves the word for the head. The head keeps `L` until it leaves; then the
//! next in the queue becomes the head. **Source:** D. Dice, A. Kogan: *Fissile locks*, NETYS 2020,
//! doi:10.1007/978-3-030-67087-0_13 (test-and-set before a NUMA-aware queue lock). The measuring and
//! enforcing of turns is ours; `admission.rs`, which has the word, describes it.
//!
//! Reason: a strict order hands the lock to the thread that waited longest. With two threads on two cores
//! this costs two cache-line transfers an acquisition even if the critical sections are short; with more
//! threads than cores it costs a switch between threads. If a running thread may come again for 50 µs, some
//! hundred acquisitions share that cost.
//!
//! All queue locks here are of this kind: `Mcs` is `Fissile<StrictMcs>`, and so on. There are two ways to
//! **the strict order**: with [`WaitPolicy::STRICT`] (any policy whose `forced_yield_ns` is 0) the word is
//! not used, and everything goes to `L`; or use `L` itself.
//!
//! | | |
//! |---|---|
//! | uncontended | one compare-and-swap to enter, a plain store and two plain loads to leave: one locked instruction |
//! | contended | during a turn the same, with the head polling; one acquisition and release of `L` a turn |
//! | space | two cache lines and `L` |
//! | fairness | the heads' order is `L`'s. Each enters at latest when `forced_yield_ns` and the critical section then running are over, |
//! | | if it runs. So the n-th in the queue waits at most about n times that |
//! | needs | nothing |
//! | choose it | as the default form of any queue lock, unless the order itself is the purpose |
//!
//! **More threads than cores.** The waiters in `L` yield, and then sleep, without disturbing: the running
//! threads go on using the lock. The threads that leave the lock end a turn by their clock, so a head that
//! has no core gets one: the thread that reserved the lock for it yields.
//!
//! **When a thread does not run.** A stopped holder blocks all threads. A stopped head blocks the others
//! for four turns' time (200 µs), and again every 1.6 ms; after that, arrivals go past it. A stopped
//! waiter in `L` blocks those behind it when its turn as head comes, but not arrivals. If `L` is a
//! [`TimedLock`], so is this lock.
//!
//! **Measured**: on the pages of the locks. Within a tenth of a second the shares differ more than within a
//! second: with 64 threads each has some 15 turns in that time, of different lengths.
//!
//! **Invariants.** Those of `admission.rs`: exclusion by its word, no lost wake-up, no thread locked out.
//! And: a token with `L`'s token in it is a head's; with the strict order all tokens are. The head hands `L`
//! on after it has set the word free, so waking the next thread is no part of a critical section.

use crate::admission::Admission;
use heddle_sync::wait::try_again;
use heddle_sync::{CachePadded, RawLock, TimedLock, WaitPolicy};
use std::fmt;

/// A lock `L` with a word before it; see the [module](self).
pub struct Fissile<L: RawLock> {
    admission: CachePadded<Admission<L::Platform>>,
    under: L,
}

/// What an acquisition hands to its release.
#[derive(Debug)]
pub struct Token<T>(Option<T>);

impl<L: RawLock + fmt::Debug> fmt::Debug for Fissile<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fissile").field("under", &self.under).finish_non_exhaustive()
    }
}

impl<L: RawLock> Fissile<L> {
    /// Puts a word before `under`. The head waits by `policy`.
    #[must_use]
    pub fn over(under: L, policy: WaitPolicy) -> Self {
        Self { admission: CachePadded::new(Admission::new(policy)), under }
    }

    /// The inner lock.
    pub fn under(&self) -> &L {
        &self.under
    }

    #[cold]
    fn acquire_slow(&self) -> Token<L::Token> {
        let take = || (self.admission.is_free() && self.admission.take()).then_some(Token(None));
        if let Some(token) = try_again::<L::Platform, _>(self.admission.policy.first_tries, take) {
            return token;
        }
        if self.admission.stand_back(None) {
            return Token(None);
        }
        let below = self.under.acquire();
        self.admission.compete(None, || self.under.has_waiters());
        Token(Some(below))
    }

    /// The head may have given up: then the thread that gets into the queue may take the lock that
    /// was reserved for that head.
    #[cold]
    fn try_reserved(&self) -> Option<Token<L::Token>> {
        let below = self.under.try_acquire()?;
        if self.admission.take_as_head() {
            return Some(Token(Some(below)));
        }
        self.leave_queue(below);
        None
    }

    #[cold]
    fn release_as_head(&self, below: L::Token) {
        self.admission.hand_on(self.under.has_waiters());
        self.admission.leave();
        self.leave_queue(below);
    }

    #[inline]
    fn leave_queue(&self, below: L::Token) {
        // SAFETY: this thread acquired it and kept its token, or gave it up meanwhile.
        unsafe { self.under.release(below) };
    }
}

// SAFETY: exclusion and order by the word (admission, invariant 1), liveness by its invariants 2 and 3; with
// the strict order all by L's promises.
unsafe impl<L: RawLock> RawLock for Fissile<L> {
    type Platform = L::Platform;
    type Token = Token<L::Token>;

    #[inline]
    fn acquire(&self) -> Token<L::Token> {
        if self.admission.is_strict() {
            return Token(Some(self.under.acquire()));
        }
        if self.admission.take() { Token(None) } else { self.acquire_slow() }
    }

    #[inline]
    fn try_acquire(&self) -> Option<Token<L::Token>> {
        if self.admission.is_strict() {
            return self.under.try_acquire().map(|below| Token(Some(below)));
        }
        if self.admission.is_free() && self.admission.take() {
            return Some(Token(None));
        }
        if self.admission.is_reserved() { self.try_reserved() } else { None }
    }

    #[inline]
    unsafe fn release(&self, Token(below): Token<L::Token>) {
        match below {
            None => self.admission.leave(),
            Some(below) if self.admission.is_strict() => self.leave_queue(below),
            Some(below) => self.release_as_head(below),
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        if self.admission.is_strict() { self.under.has_waiters() } else { self.admission.has_waiters() }
    }
}

// SAFETY: a thread that gives up as head leaves `L` to the next; one that gives up before leaves nothing, by
// L's promise; others take a reservation for either (admission, invariant 3).
unsafe impl<L: TimedLock> TimedLock for Fissile<L> {
    #[inline]
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<L::Token>> {
        let deadline = Some(deadline_ns);
        if self.admission.is_strict() {
            return self.under.acquire_until(deadline_ns).map(|below| Token(Some(below)));
        }
        if self.admission.take() || self.admission.stand_back(deadline) {
            return Some(Token(None));
        }
        let below = self.under.acquire_until(deadline_ns)?;
        if self.admission.compete(deadline, || self.under.has_waiters()) {
            return Some(Token(Some(below)));
        }
        self.leave_queue(below);
        None
    }
}
