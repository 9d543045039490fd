//! A lock behind a handle: it stores the token of its acquisition and knows its holder, since
//! C cannot keep the token.
//!
//! **Invariants.**
//!
//! 1. `token` is accessed only by the thread that holds the lock: between its acquisition and its release.
//! 2. `holder` is the holder's identity while a thread holds the lock. A thread finds its identity there only
//!    if it holds the lock: it writes it after it has acquired, and clears it before it releases. A thread
//!    that ends while it holds the lock leaves it held for ever, as with any mutex.

use crate::error::{Failure, Status};
use heddle_c_interface::Patience;
use heddle_locks::kinds::{LockName, LockSettings, Recipe};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::{CachePadded, Native, Platform, RawLock};
use std::fmt;

/// The class in which a thread waits; for most kinds the two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitClass {
    /// The class that goes first.
    High,
    /// The class that stands back.
    Low,
}

/// A lock of any kind.
pub trait AnyLock: Send + Sync {
    /// Acquires the lock for the calling thread. `Busy` and `TimedOut` are answers, not failures.
    ///
    /// # Errors
    ///
    /// If the thread holds it already, or if this kind cannot wait for a time.
    fn acquire(&self, class: WaitClass, patience: Patience) -> Result<Status, Failure>;

    /// Releases the lock.
    ///
    /// # Errors
    ///
    /// If the calling thread does not hold it.
    fn release(&self) -> Result<(), Failure>;

    /// Returns true if a thread holds it now.
    fn is_held(&self) -> bool;

    /// Returns true if a thread waits for it now; see [`RawLock::has_waiters`].
    fn has_waiters(&self) -> bool;
}

/// See the [module](self).
pub struct Held<R: Recipe> {
    lock: CachePadded<R::Lock>,
    holder: CachePadded<AtomicU64>,
    token: UnsafeCell<Option<TokenOf<R>>>,
}

type TokenOf<R> = <<R as Recipe>::Lock as RawLock>::Token;

// SAFETY: `token` is accessed by one thread at a time, each after the former (invariant 1, and the lock's
// order); a lock is Sync by its contract, and is released by the thread that acquired it.
unsafe impl<R: Recipe> Sync for Held<R> {}
// SAFETY: a lock that is moved is in no call, so no thread holds it, and `token` is empty.
unsafe impl<R: Recipe> Send for Held<R> {}

impl<R: Recipe> fmt::Debug for Held<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

impl<R: Recipe> Held<R> {
    /// A free lock.
    #[must_use]
    pub fn new(settings: &LockSettings) -> Self {
        Self {
            lock: CachePadded::new(R::make(settings)),
            holder: CachePadded::new(AtomicU64::new(0)),
            token: UnsafeCell::new(None),
        }
    }

    fn acquire_until(&self, class: WaitClass, deadline_ns: u64) -> Result<Option<TokenOf<R>>, Failure> {
        let until = match (class, &R::LOW) {
            (WaitClass::Low, Some(low)) => low.until,
            _ => R::UNTIL,
        };
        let Some(until) = until else {
            let timed: Vec<&str> =
                LockName::all().filter(|lock| lock.is_timed()).map(LockName::name).collect();
            let words = format!("this kind of lock cannot wait for a time; these can: {}", timed.join(", "));
            return Err(Failure::new(Status::NotSupported, words));
        };
        Ok(until(&self.lock, deadline_ns))
    }
}

impl<R: Recipe> AnyLock for Held<R> {
    fn acquire(&self, class: WaitClass, patience: Patience) -> Result<Status, Failure> {
        let me = Native::thread_id();
        if self.holder.load(Ordering::Relaxed) == me {
            return match patience {
                Patience::None => Ok(Status::Busy),
                _ => Err(Failure::new(Status::WouldDeadlock, "the calling thread holds the lock already")),
            };
        }
        let low = R::LOW.filter(|_| class == WaitClass::Low);
        let token = match (patience, low) {
            (Patience::Endless, None) => Some(self.lock.acquire()),
            (Patience::Endless, Some(low)) => Some((low.acquire)(&self.lock)),
            (Patience::None, None) => self.lock.try_acquire(),
            (Patience::None, Some(low)) => (low.try_acquire)(&self.lock),
            (Patience::Until(deadline_ns), _) => self.acquire_until(class, deadline_ns)?,
        };
        let Some(token) = token else {
            return Ok(patience.given_up());
        };
        self.holder.store(me, Ordering::Relaxed);
        // SAFETY: the caller holds the lock (invariant 1).
        self.token.with_mut(|place| unsafe { *place = Some(token) });
        Ok(Status::Ok)
    }

    fn release(&self) -> Result<(), Failure> {
        let not_holder = || Failure::new(Status::NotHolder, "the calling thread does not hold the lock");
        if self.holder.load(Ordering::Relaxed) != Native::thread_id() {
            return Err(not_holder());
        }
        // SAFETY: the caller holds the lock (invariants 1 and 2).
        let token = self.token.with_mut(|place| unsafe { (*place).take() }).ok_or_else(not_holder)?;
        self.holder.store(0, Ordering::Relaxed);
        // SAFETY: the calling thread acquired the lock, which gave it this token.
        unsafe { self.lock.release(token) };
        Ok(())
    }

    fn is_held(&self) -> bool {
        self.holder.load(Ordering::Relaxed) != 0
    }

    fn has_waiters(&self) -> bool {
        self.lock.has_waiters()
    }
}
