//! What a lock with two classes promises, and the safe wrapper's share in it.

use crate::locks::raw_lock::{Guard, Lock, RawLock};

/// A lock with a second class of acquisitions that stand back for the first, which are those of [`RawLock`].
///
/// # Safety
///
/// As [`RawLock`], for acquisitions of both classes together.
pub unsafe trait PriorityLock: RawLock {
    /// Waits until the lock is the caller's, behind those that acquire it otherwise.
    fn acquire_low(&self) -> Self::Token;

    /// As [`try_acquire`](RawLock::try_acquire), for the low class.
    #[must_use]
    fn try_acquire_low(&self) -> Option<Self::Token>;
}

impl<L: PriorityLock, T> Lock<L, T> {
    /// Waits for the lock in the low class; see [`PriorityLock`].
    #[inline]
    pub fn acquire_low(&self) -> Guard<'_, L, T> {
        self.guard(self.raw().acquire_low())
    }

    /// The guard if that needs no waiting.
    #[inline]
    pub fn try_acquire_low(&self) -> Option<Guard<'_, L, T>> {
        self.raw().try_acquire_low().map(|token| self.guard(token))
    }
}
