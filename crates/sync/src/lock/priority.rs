//! The contract of a lock with two classes, and the functions that it adds to the safe wrapper.

use crate::lock::raw_lock::{Guard, Lock, RawLock};

/// A lock with a second class of acquisitions that stand back for the first. Those of the first
/// class are [`RawLock`]'s.
///
/// # Safety
///
/// The same as [`RawLock`], for acquisitions of both classes together.
pub unsafe trait PriorityLock: RawLock {
    /// Waits until the lock is the caller's, behind the acquisitions of the other class.
    fn acquire_low(&self) -> Self::Token;

    /// Tries the lock in the low class: see [`try_acquire`](RawLock::try_acquire).
    #[must_use]
    fn try_acquire_low(&self) -> Option<Self::Token>;
}

impl<L: PriorityLock, T> Lock<L, T> {
    /// Waits for the lock in the low class; see [`PriorityLock`].
    #[inline]
    pub fn acquire_low(&self) -> Guard<'_, L, T> {
        self.guard(self.raw().acquire_low())
    }

    /// Returns the guard if that needs no waiting.
    #[inline]
    pub fn try_acquire_low(&self) -> Option<Guard<'_, L, T>> {
        self.raw().try_acquire_low().map(|token| self.guard(token))
    }
}
