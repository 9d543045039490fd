//! A lock behind a handle: it keeps the token of its acquisition and knows who holds it, which C cannot be asked to.
//!
//! **Invariants.**
//!
//! 1. `token` is accessed only by the thread that holds the lock: between its acquisition and its release.
//! 2. `holder` is the holder's identity while somebody holds the lock. A thread finds its own identity there only if it
//!    holds the lock: it writes it after it has acquired, and takes it away before it releases; a thread with the same
//!    identity that ended while it held the lock leaves it held for ever, as with any mutex.

use crate::error::{Failure, Status};
use crate::kinds;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::two_level::TwoLevel;
use heddle_sync::{CachePadded, Native, Platform, PriorityLock, RawLock, TimedLock};
use std::fmt;

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the lock is the caller's.
    Endless,
    /// Not at all.
    None,
    /// Until the clock shows this.
    Until(u64),
}

/// In which of the two classes to wait; for most kinds they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Goes first.
    High,
    /// Stands back.
    Low,
}

/// A lock of any kind.
pub trait AnyLock: Send + Sync {
    /// Acquires it for the calling thread. `Busy` and `TimedOut` are answers, not failures.
    ///
    /// # Errors
    ///
    /// If the thread holds it already, or if this kind cannot wait for a time.
    fn acquire(&self, class: Class, patience: Patience) -> Result<Status, Failure>;

    /// Releases it.
    ///
    /// # Errors
    ///
    /// If the calling thread does not hold it.
    fn release(&self) -> Result<(), Failure>;

    /// Whether somebody holds it now.
    fn is_held(&self) -> bool;

    /// Whether somebody waits for it now; see [`RawLock::has_waiters`].
    fn has_waiters(&self) -> bool;
}

type AcquireUntil<L> = fn(&L, u64) -> Option<<L as RawLock>::Token>;

/// What a lock can do besides [`RawLock`].
struct Abilities<L: RawLock> {
    until: Option<AcquireUntil<L>>,
    low: Option<LowClass<L>>,
}

struct LowClass<L: RawLock> {
    acquire: fn(&L) -> L::Token,
    try_acquire: fn(&L) -> Option<L::Token>,
    until: Option<AcquireUntil<L>>,
}

/// See the [module](self).
pub struct Held<L: RawLock> {
    lock: CachePadded<L>,
    holder: CachePadded<AtomicU64>,
    token: UnsafeCell<Option<L::Token>>,
    abilities: Abilities<L>,
}

// SAFETY: `token` is accessed by one thread at a time, each after the former (invariant 1, and the lock's order); a lock
// is Sync by its contract, and is released by the thread that acquired it.
unsafe impl<L: RawLock> Sync for Held<L> {}
// SAFETY: as above; a handle that is moved is not held by a call in progress.
unsafe impl<L: RawLock> Send for Held<L> {}

impl<L: RawLock> fmt::Debug for Held<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

impl<L: RawLock> Held<L> {
    fn with(lock: L, abilities: Abilities<L>) -> Self {
        Self {
            lock: CachePadded::new(lock),
            holder: CachePadded::new(AtomicU64::new(0)),
            token: UnsafeCell::new(None),
            abilities,
        }
    }

    /// A lock that can do no more than the contract asks.
    #[must_use]
    pub fn plain(lock: L) -> Self {
        Self::with(lock, Abilities { until: None, low: None })
    }

    /// A lock whose waiters may give up.
    #[must_use]
    pub fn timed(lock: L) -> Self
    where
        L: TimedLock,
    {
        Self::with(lock, Abilities { until: Some(L::acquire_until), low: None })
    }
}

impl<H, L> Held<TwoLevel<H, L>>
where
    H: RawLock,
    L: RawLock<Platform = H::Platform>,
{
    fn two_level(
        lock: TwoLevel<H, L>,
        until: Option<AcquireUntil<TwoLevel<H, L>>>,
        low_until: Option<AcquireUntil<TwoLevel<H, L>>>,
    ) -> Self {
        let low = LowClass {
            acquire: <TwoLevel<H, L> as PriorityLock>::acquire_low,
            try_acquire: <TwoLevel<H, L> as PriorityLock>::try_acquire_low,
            until: low_until,
        };
        Self::with(lock, Abilities { until, low: Some(low) })
    }

    /// A lock with two classes.
    #[must_use]
    pub fn classes(lock: TwoLevel<H, L>) -> Self {
        Self::two_level(lock, None, None)
    }

    /// A lock with two classes whose waiters may give up.
    #[must_use]
    pub fn timed_classes(lock: TwoLevel<H, L>) -> Self
    where
        H: TimedLock,
        L: TimedLock,
    {
        Self::two_level(lock, Some(TwoLevel::acquire_high_until), Some(TwoLevel::acquire_low_until))
    }
}

impl<L: RawLock> Held<L> {
    fn acquire_until(&self, class: Class, deadline_ns: u64) -> Result<Option<L::Token>, Failure> {
        let until = match (class, &self.abilities.low) {
            (Class::Low, Some(low)) => low.until,
            _ => self.abilities.until,
        };
        let Some(until) = until else {
            let can = kinds::names(|kind| kind.is_timed);
            let words = format!("this kind of lock cannot wait for a time; these can: {can}");
            return Err(Failure::new(Status::NotSupported, words));
        };
        Ok(until(&self.lock, deadline_ns))
    }
}

impl<L: RawLock> AnyLock for Held<L> {
    fn acquire(&self, class: Class, patience: Patience) -> Result<Status, Failure> {
        let me = Native::thread_id();
        if self.holder.load(Ordering::Relaxed) == me {
            return match patience {
                Patience::None => Ok(Status::Busy),
                _ => Err(Failure::new(Status::WouldDeadlock, "the calling thread holds the lock already")),
            };
        }
        let low = self.abilities.low.as_ref().filter(|_| class == Class::Low);
        let token = match (patience, low) {
            (Patience::Endless, None) => Some(self.lock.acquire()),
            (Patience::Endless, Some(low)) => Some((low.acquire)(&self.lock)),
            (Patience::None, None) => self.lock.try_acquire(),
            (Patience::None, Some(low)) => (low.try_acquire)(&self.lock),
            (Patience::Until(deadline_ns), _) => self.acquire_until(class, deadline_ns)?,
        };
        let Some(token) = token else {
            return Ok(if patience == Patience::None { Status::Busy } else { Status::TimedOut });
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
