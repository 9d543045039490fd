//! A doorbell: wakes sleepers and costs the waker a plain load while nobody sleeps.
//!
//! **What it gives.** One thread makes an event visible (a message in a slot, a free lock) and rings.
//! Another thread has polled for the event in vain, goes to sleep and is woken. Threads ring at every event
//! and sleep seldom, so a ring is a compiler fence and a load of a word that stays in the ringer's cache;
//! the sleeper pays for that with a `membarrier` (up to 12 µs) before it sleeps. A doorbell in shared memory
//! works between processes; 64 bytes of zeros are a valid doorbell. A ring wakes all sleepers, since each
//! may wait for another event.
//!
//! The first ring after a sleeper has *armed* the doorbell wakes; those after it find it disarmed and cost
//! a load again, even before the woken thread has a core. Otherwise a sender of many small messages would
//! make a system call for each until then: beside computing threads that was most of its time.
//!
//! ```text
//!   ringer                               sleeper
//!   event = 1      (Release)             found no event for long
//!   light()                              word |= ARMED, seen = word     prepare()
//!   word armed?                          heavy()
//!     word += 1    (Release), disarmed   event?  -> yes: drop the ticket
//!     futex wake                         sleep while word == seen       park()
//!                                        event? -> no: again from prepare()
//! ```
//!
//! **Invariants.**
//!
//! 1. *No lost wake-up.* If the sleeper's check after [`Doorbell::prepare`] misses the event, a ring after
//!    that changes `word`, so the sleeper's futex wait returns. Reason: `light` separates the event's
//!    store from the load of `word`, and `heavy` separates the arming from the check. So if the check
//!    missed the event, its ringer sees the doorbell armed, or sees what came after: another ringer has
//!    disarmed it, and wakes the sleeper.
//! 2. `word` only counts up while it is disarmed by ringers: a sleeper whose `seen` is outdated does not
//!    sleep. It may wrap around, which matters only if exactly 2^31 rings that wake fall between two steps
//!    of a sleeper.
//! 3. A sleeper that leaves without sleeping, or has died with its process, leaves the doorbell armed. The
//!    next ring wakes nobody and disarms it.

use heddle_platform::atomic::Ordering;
use heddle_platform::futex::ALL;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// The bit of the word that says that a sleeper has come since the last ring that woke.
const ARMED: u32 = 1;

/// Wakes sleepers; see the [module](self).
///
/// A thread sleeps until another one has stored its answer and rung:
///
/// ```
/// use heddle_sync::{Doorbell, Scope};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let answer = AtomicU32::new(0);
/// let doorbell = Doorbell::default();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         answer.store(42, Ordering::Release);
///         doorbell.ring(Scope::Process);
///     });
///     doorbell.sleep_until(Scope::Process, || answer.load(Ordering::Acquire) != 0);
/// });
/// assert_eq!(answer.into_inner(), 42);
/// ```
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Doorbell<P: Platform = Native> {
    /// [`ARMED`], and above it the number of rings that woke. It is the futex.
    word: P::AtomicU32,
}

#[cfg(not(loom))]
impl Doorbell {
    /// A doorbell without sleepers, for statics; elsewhere use `default`.
    #[must_use]
    pub const fn new() -> Self {
        use heddle_platform::atomic::AtomicU32;
        Self { word: AtomicU32::new(0) }
    }
}

impl<P: Platform> Doorbell<P> {
    /// Wakes all sleepers. Call it after the store that makes the event visible; that store is at least
    /// Relaxed, and Release if the event carries data. Returns whether the doorbell was armed.
    ///
    /// `scope` is the same for all users of a doorbell: with [`Scope::Machine`] every process must have
    /// called [`register`](heddle_platform::barrier::register).
    #[inline(always)]
    pub fn ring(&self, scope: Scope) -> bool {
        P::light();
        self.wake_if_armed(scope)
    }

    /// Does the same as [`ring`](Self::ring) for the threads of this process, where
    /// [`Platform::is_asymmetric`] has been true before.
    #[inline(always)]
    pub fn ring_if_asymmetric(&self) {
        P::light_if_asymmetric();
        self.wake_if_armed(Scope::Process);
    }

    #[inline(always)]
    fn wake_if_armed(&self, scope: Scope) -> bool {
        let seen = self.word.load(Ordering::Relaxed);
        let is_armed = seen & ARMED != 0;
        if is_armed {
            self.wake(seen, scope);
        }
        is_armed
    }

    #[cold]
    fn wake(&self, seen: u32, scope: Scope) {
        // Release: takes the event along to the sleeper that reads this word. If another ringer comes first,
        // it wakes the sleepers that this one has seen; one that has come since sees this one's event.
        let disarmed =
            self.word.compare_exchange(seen, seen.wrapping_add(1), Ordering::Release, Ordering::Relaxed);
        if disarmed.is_ok() {
            P::wake(&self.word, ALL, scope);
        }
    }

    /// Announces a sleeper. The caller checks for its event once more, and then either drops the ticket or
    /// [parks](DoorbellTicket::park).
    #[must_use = "check for the event once more, then park with the ticket or drop it"]
    pub fn prepare(&self, scope: Scope) -> DoorbellTicket<'_, P> {
        // Acquire: pairs with the Release in wake().
        let seen = self.word.fetch_or(ARMED, Ordering::Acquire) | ARMED;
        P::heavy(scope);
        DoorbellTicket { doorbell: self, seen, scope }
    }

    /// Announces a sleeper, then calls `check`, which says whether there is a reason to stay awake. If there
    /// is none, returns the ticket to [park](DoorbellTicket::park) with.
    ///
    /// `check` sees all reasons: a thread that makes one of them visible rings, and each ring after the
    /// announcement ends the sleep (invariant 1).
    #[must_use = "park with the ticket, if there is one"]
    pub fn prepare_unless(
        &self,
        scope: Scope,
        check: impl FnOnce() -> bool,
    ) -> Option<DoorbellTicket<'_, P>> {
        let ticket = self.prepare(scope);
        if check() { None } else { Some(ticket) }
    }

    /// Sleeps until `came` returns true. The thread that makes it true rings.
    pub fn sleep_until(&self, scope: Scope, mut came: impl FnMut() -> bool) {
        while !came() {
            match self.prepare_unless(scope, &mut came) {
                Some(ticket) => ticket.park(None),
                None => return,
            };
        }
    }

    /// A hint: whether the next ring would wake.
    #[inline]
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.word.load(Ordering::Relaxed) & ARMED != 0
    }
}

/// A sleeper that the doorbell knows of.
#[derive(Debug)]
pub struct DoorbellTicket<'a, P: Platform = Native> {
    doorbell: &'a Doorbell<P>,
    seen: u32,
    scope: Scope,
}

impl<P: Platform> DoorbellTicket<'_, P> {
    /// Sleeps until the doorbell has been rung since [`Doorbell::prepare`], or until the timeout. It may
    /// return early. Returns false if the time ran out.
    pub fn park(self, timeout: Option<Duration>) -> bool {
        let rung = P::wait(&self.doorbell.word, self.seen, timeout, self.scope);
        // Acquire: as in prepare(); the caller looks for its event after this.
        self.doorbell.word.load(Ordering::Acquire);
        rung
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::atomic::AtomicU32;
    use std::thread;

    #[test]
    fn wakes_its_sleepers_where_its_word_wraps() {
        let doorbell: Doorbell = Doorbell { word: AtomicU32::new(u32::MAX - 1) };
        let event = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                doorbell.sleep_until(Scope::Process, || event.load(Ordering::Acquire) != 0);
            });
            while !doorbell.is_armed() {
                thread::yield_now();
            }
            event.store(1, Ordering::Release);
            doorbell.ring(Scope::Process);
        });
    }
}
