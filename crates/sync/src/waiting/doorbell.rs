//! A doorbell: wakes sleepers and costs the waker a plain load while nobody sleeps.
//!
//! **What it gives.** Somebody makes an event visible (a message in a slot, a lock set free) and rings;
//! somebody else who found no event for long goes to sleep and is woken. Ringing happens with every event and
//! sleeping seldom, so ringing is a compiler fence and a load of a word that stays in the ringer's cache; the
//! sleeper pays for that with a `membarrier` (up to 12 µs) before it sleeps. Works between processes when it
//! lies in shared memory; 64 bytes of zeros are a valid doorbell. All sleepers are woken, since each may wait for
//! another event.
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
//! 2. *No lost wake-up.* If a sleeper's look after [`Doorbell::prepare`] or [`Ticket::park`] misses the event,
//!    the ring that follows the event changes `word` after the sleeper read `seen`, so its futex wait
//!    returns. Because: the event's store and the load of `sleepers` are kept apart by `light`, the increment
//!    and the look by `heavy`, so if the look missed the event the ringer sees the sleeper and goes on to
//!    `word += 1`. Had that come before the reading of `seen`, then Acquire would have taken the event along
//!    from the Release, and the look would have seen it.
//! 3. After `park` returns no second `heavy` is needed: the ticket's increment has been visible since the
//!    first.
//!
//! The words stay within `u32`: `word` may wrap around, which matters only if exactly 2^32 rings fall between
//! a sleeper's two steps.

use heddle_platform::atomic::Ordering;
use heddle_platform::futex::ALL;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// Wakes sleepers; see the [module](self).
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Doorbell<P: Platform = Native> {
    /// How many tickets are out.
    sleepers: P::AtomicU32,
    /// Changes with every ring that somebody may sleep through: the futex.
    word: P::AtomicU32,
}

#[cfg(not(loom))]
impl Doorbell {
    /// A doorbell with no sleepers, for statics; elsewhere there is `default`.
    #[must_use]
    pub const fn new() -> Self {
        use heddle_platform::atomic::AtomicU32;
        Self { sleepers: AtomicU32::new(0), word: AtomicU32::new(0) }
    }
}

impl<P: Platform> Doorbell<P> {
    /// Wakes everybody who sleeps. Call it after the store that makes the event visible; that store is at
    /// least Relaxed, and Release if the event carries data. Returns whether anybody was there.
    ///
    /// `scope` is the same for all users of a doorbell: with [`Scope::Machine`] every process must have called
    /// [`register`](heddle_platform::barrier::register).
    #[inline(always)]
    pub fn ring(&self, scope: Scope) -> bool {
        P::light();
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

    /// Announces a sleeper. The caller looks once more for its event, and then either drops the ticket or
    /// [parks](Ticket::park).
    #[must_use = "look for the event once more, then park with the ticket or drop it"]
    pub fn prepare(&self, scope: Scope) -> Ticket<'_, P> {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        P::heavy(scope);
        // Acquire: pairs with the Release in wake().
        Ticket { doorbell: self, seen: self.word.load(Ordering::Acquire), scope }
    }

    /// Announces a sleeper, then looks once more by `look`, which says whether there is a reason to stay awake. The ticket to
    /// [park](Ticket::park) with, if there is none.
    ///
    /// `look` sees all reasons: whoever makes one of them visible rings, and each ring that comes after the announcement ends
    /// the sleep (invariant 2).
    #[must_use = "park with the ticket, if there is one"]
    pub fn prepare_unless(&self, scope: Scope, look: impl FnOnce() -> bool) -> Option<Ticket<'_, P>> {
        let ticket = self.prepare(scope);
        if look() { None } else { Some(ticket) }
    }

    /// A hint: whether somebody sleeps or is about to.
    #[inline]
    #[must_use]
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) != 0
    }
}

/// A sleeper that the doorbell knows of. Dropping it takes the sleeper off.
#[derive(Debug)]
pub struct Ticket<'a, P: Platform = Native> {
    doorbell: &'a Doorbell<P>,
    seen: u32,
    scope: Scope,
}

impl<P: Platform> Ticket<'_, P> {
    /// Sleeps until the doorbell has been rung since [`Doorbell::prepare`] or since the last `park` returned, or
    /// until the timeout. It may return early; look for the event again, and park again with the same ticket
    /// if there is none. Returns false when the time ran out.
    pub fn park(&mut self, timeout: Option<Duration>) -> bool {
        let rung = P::wait(&self.doorbell.word, self.seen, timeout, self.scope);
        // Acquire: as in prepare(); the caller's next look comes after this (invariants 2 and 3).
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
