//! A doorbell: wakes sleepers and costs the waker a plain load while nobody sleeps.
//!
//! **What it gives.** One thread makes an event visible (a message in a slot, a free lock) and rings.
//! Another thread has polled for the event in vain, goes to sleep and is woken. Threads ring at every event
//! and sleep seldom, so a ring is a compiler fence and a load of a word that stays in the ringer's cache;
//! the sleeper pays for that with a `membarrier` (up to 12 µs) before it sleeps. A doorbell in shared memory
//! works between processes; 64 bytes of zeros are a valid doorbell. A ring wakes all sleepers, since each
//! may wait for another event.
//!
//! ```text
//!   ringer                               sleeper
//!   event = 1      (Release)             found no event for long
//!   light()                              sleepers += 1                  prepare()
//!   sleepers != 0?                       heavy()
//!     word += 1    (Release)             seen = word       (Acquire)
//!     futex wake                         event?  -> yes: drop the ticket
//!                                        sleep while word == seen       park()
//!                                        seen = word; event? ...
//! ```
//!
//! **Invariants.**
//!
//! 1. `sleepers` is the number of living [`Ticket`]s (plus those that died with their process: then ringing
//!    is slower, never wrong).
//! 2. *No lost wake-up.* If the sleeper's check after [`Doorbell::prepare`] or [`Ticket::park`] misses the
//!    event, the ring that follows the event changes `word` after the sleeper read `seen`, so its futex wait
//!    returns. Reason: `light` separates the event's store from the load of `sleepers`, and `heavy` separates
//!    the increment from the check. So if the check missed the event, the ringer sees the sleeper and goes on
//!    to `word += 1`. Had the sleeper read `seen` after that, its Acquire would have paired with the Release,
//!    and the check would have seen the event.
//! 3. After `park` returns, no second `heavy` is needed: the ticket's increment has been
//!    visible since the first.
//!
//! The words stay within `u32`. `word` may wrap around, which matters only if exactly 2^32 rings fall
//! between two steps of a sleeper.

use heddle_platform::atomic::Ordering;
use heddle_platform::futex::ALL;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// Wakes sleepers; see the [module](self).
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Doorbell<P: Platform = Native> {
    /// The number of living tickets.
    sleepers: P::AtomicU32,
    /// Changes with every ring that a sleeper may wait for. It is the futex.
    word: P::AtomicU32,
}

#[cfg(not(loom))]
impl Doorbell {
    /// A doorbell without sleepers, for statics; elsewhere use `default`.
    #[must_use]
    pub const fn new() -> Self {
        use heddle_platform::atomic::AtomicU32;
        Self { sleepers: AtomicU32::new(0), word: AtomicU32::new(0) }
    }
}

impl<P: Platform> Doorbell<P> {
    /// Wakes all sleepers. Call it after the store that makes the event visible; that store is at least
    /// Relaxed, and Release if the event carries data. Returns whether there were sleepers.
    ///
    /// `scope` is the same for all users of a doorbell: with [`Scope::Machine`] every process must have
    /// called [`register`](heddle_platform::barrier::register).
    #[inline(always)]
    pub fn ring(&self, scope: Scope) -> bool {
        P::light();
        self.wake_if_anybody(scope)
    }

    /// Does the same as [`ring`](Self::ring) for the threads of this process, where
    /// [`Platform::is_asymmetric`] has been true before.
    #[inline(always)]
    pub fn ring_if_asymmetric(&self) {
        P::light_if_asymmetric();
        self.wake_if_anybody(Scope::Process);
    }

    #[inline(always)]
    fn wake_if_anybody(&self, scope: Scope) -> bool {
        let anybody = self.sleepers.load(Ordering::Relaxed) != 0;
        if anybody {
            self.wake(scope);
        }
        anybody
    }

    #[cold]
    fn wake(&self, scope: Scope) {
        // Release: takes the event along to the sleeper that reads this word (invariant 2).
        self.word.fetch_add(1, Ordering::Release);
        P::wake(&self.word, ALL, scope);
    }

    /// Announces a sleeper. The caller checks for its event once more, and then either drops the ticket or
    /// [parks](Ticket::park).
    #[must_use = "check for the event once more, then park with the ticket or drop it"]
    pub fn prepare(&self, scope: Scope) -> Ticket<'_, P> {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        P::heavy(scope);
        // Acquire: pairs with the Release in wake().
        Ticket { doorbell: self, seen: self.word.load(Ordering::Acquire), scope }
    }

    /// Announces a sleeper, then calls `check`, which says whether there is a reason to stay awake. If there
    /// is none, returns the ticket to [park](Ticket::park) with.
    ///
    /// `check` sees all reasons: a thread that makes one of them visible rings, and each ring after the
    /// announcement ends the sleep (invariant 2).
    #[must_use = "park with the ticket, if there is one"]
    pub fn prepare_unless(&self, scope: Scope, check: impl FnOnce() -> bool) -> Option<Ticket<'_, P>> {
        let ticket = self.prepare(scope);
        if check() { None } else { Some(ticket) }
    }

    /// A hint: whether a thread sleeps or is about to.
    #[inline]
    #[must_use]
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) != 0
    }
}

/// A sleeper that the doorbell knows of. Dropping the ticket withdraws the sleeper.
#[derive(Debug)]
pub struct Ticket<'a, P: Platform = Native> {
    doorbell: &'a Doorbell<P>,
    seen: u32,
    scope: Scope,
}

impl<P: Platform> Ticket<'_, P> {
    /// Sleeps until the doorbell has been rung since [`Doorbell::prepare`] or since the last `park` returned,
    /// or until the timeout. It may return early: check for the event again, and park again with the same
    /// ticket if there is none. Returns false if the time ran out.
    pub fn park(&mut self, timeout: Option<Duration>) -> bool {
        let rung = P::wait(&self.doorbell.word, self.seen, timeout, self.scope);
        // Acquire: as in prepare(); the caller's next check comes after this (invariants 2 and 3).
        self.seen = self.doorbell.word.load(Ordering::Acquire);
        rung
    }
}

impl<P: Platform> Drop for Ticket<'_, P> {
    fn drop(&mut self) {
        self.doorbell.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::atomic::AtomicU32;
    use std::thread;

    #[test]
    fn wakes_its_sleepers_where_its_word_wraps() {
        let doorbell: Doorbell = Doorbell { sleepers: AtomicU32::new(0), word: AtomicU32::new(u32::MAX) };
        let event = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut ticket = doorbell.prepare(Scope::Process);
                while event.load(Ordering::Acquire) == 0 {
                    assert!(ticket.park(None));
                }
            });
            while !doorbell.has_sleepers() {
                thread::yield_now();
            }
            event.store(1, Ordering::Release);
            doorbell.ring(Scope::Process);
        });
    }
}
