//! What a lock promises, and the safe wrapper written once above that promise.

use heddle_platform::Platform;
use heddle_platform::platform::{CellAccess, MemoryCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A lock without data.
///
/// # Safety
///
/// An implementation promises:
///
/// 1. **Exclusion**: between a successful [`acquire`](Self::acquire) or [`try_acquire`](Self::try_acquire)
///    and the [`release`](Self::release) that ends it, no other acquisition succeeds.
/// 2. **Order**: everything done before a release happens before everything done after the next acquisition.
/// 3. **Liveness**: if every holder releases, some waiting `acquire` returns, and a waiter does not occupy a
///    core for good.
///
/// Locks are not recursive: a holder that acquires again waits for ever.
pub unsafe trait RawLock: Send + Sync {
    /// The platform on which it runs.
    type Platform: Platform;

    /// True if [`try_acquire`](Self::try_acquire) fails only because another thread, during the try, is
    /// between the begin of an acquisition that succeeds and the end of its release. False for a lock whose
    /// failing try occupies the lock for a moment: a second try may fail because of the first, so that both
    /// fail although no thread holds the lock. Then a thread whose try failed cannot rely on a holder, and
    /// has to make sure that there is one (`LockQueue` of `heddle-combining` does).
    const TRY_IS_EXACT: bool = false;

    /// What an acquisition hands to its release: the queue node, or `()` for a lock without
    /// nodes. It must not be copied.
    type Token;

    /// Waits until the lock is the caller's.
    fn acquire(&self) -> Self::Token;

    /// Takes the lock if that needs no waiting. It may fail although no thread holds the lock,
    /// but not for ever: if no other thread holds the lock, acquires it or tries to, it succeeds.
    /// See [`TRY_IS_EXACT`](Self::TRY_IS_EXACT).
    #[must_use]
    fn try_acquire(&self) -> Option<Self::Token>;

    /// Gives the lock back.
    ///
    /// # Safety
    ///
    /// The calling thread acquired this lock, which gave it `token`, and has not released it since. The lock
    /// stays in place until `release` has returned: it may touch the lock after the next holder entered, so a
    /// holder must not free the memory the lock lies in while a former holder may still be releasing it.
    unsafe fn release(&self, token: Self::Token);

    /// Returns true if a thread waits for the lock. For the holder the answer is one-sided: it may
    /// overlook a thread, but if it is true, some thread waits now that acquires the lock after this
    /// holder's release (or, if the lock is a [`TimedLock`], gives up). For other callers it is a hint
    /// that may be outdated at once.
    fn has_waiters(&self) -> bool;
}

// SAFETY: the lock in the box keeps the promises.
unsafe impl<L: RawLock> RawLock for Box<L> {
    type Platform = L::Platform;
    type Token = L::Token;

    #[inline]
    fn acquire(&self) -> Self::Token {
        (**self).acquire()
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Token> {
        (**self).try_acquire()
    }

    #[inline]
    unsafe fn release(&self, token: Self::Token) {
        // SAFETY: the caller's promise.
        unsafe { (**self).release(token) };
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        (**self).has_waiters()
    }
}

/// A lock whose waiters may give up.
///
/// # Safety
///
/// The same as [`RawLock`]; and a thread that gave up has left nothing behind that keeps others from
/// entering, and may come again.
///
/// # Examples
///
/// A waiter that gives up after a millisecond, by [`Lock::acquire_until`]:
///
/// ```
/// use heddle_sync::{Lock, Mutex, Native, Platform};
///
/// let place: Lock<Mutex, Option<&str>> = Lock::default();
/// let held = place.acquire();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let deadline_ns = Native::now_ns() + 1_000_000;
///         assert!(place.acquire_until(deadline_ns).is_none(), "the other thread holds it");
///     });
/// });
/// drop(held);
/// assert!(place.acquire_until(Native::now_ns()).is_some(), "a free lock needs no time");
/// ```
pub unsafe trait TimedLock: RawLock {
    /// Waits until the lock is the caller's, or until [`Platform::now_ns`] has reached `deadline_ns`. The
    /// lock may still be handed to a thread whose time is up; then it succeeds.
    #[must_use]
    fn acquire_until(&self, deadline_ns: u64) -> Option<Self::Token>;
}

type CellOf<L, T> = <<L as RawLock>::Platform as Platform>::Cell<T>;
type AccessOf<L, T> = <CellOf<L, T> as MemoryCell<T>>::Access;

/// A value that only the holder of a lock of kind `L` can reach.
///
/// A value under the plain [`Mutex`](crate::Mutex):
///
/// ```
/// use heddle_sync::{Lock, Mutex};
///
/// let total: Lock<Mutex, u64> = Lock::default();
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             for _ in 0..1_000 {
///                 *total.acquire() += 1;
///             }
///         });
///     }
/// });
/// assert_eq!(total.into_inner(), 4_000);
/// ```
pub struct Lock<L: RawLock, T> {
    raw: L,
    value: CellOf<L, T>,
}

impl<L: RawLock + Default, T: Default> Default for Lock<L, T> {
    fn default() -> Self {
        Self::new(L::default(), T::default())
    }
}

// SAFETY: the value is reached only through a guard, and `L` lets one guard exist at a time
// (RawLock, exclusion), each after the former (order). So the value moves between threads but is
// never shared: Send is enough.
unsafe impl<L: RawLock, T: Send> Sync for Lock<L, T> {}
// SAFETY: the owner of the lock owns the value.
unsafe impl<L: RawLock, T: Send> Send for Lock<L, T> {}

impl<L: RawLock, T> Lock<L, T> {
    /// Guards `value` by `raw`.
    pub fn new(raw: L, value: T) -> Self {
        Self { raw, value: MemoryCell::new(value) }
    }

    /// Waits for the lock; the value is the caller's while the guard lives.
    #[inline]
    pub fn acquire(&self) -> Guard<'_, L, T> {
        self.guard(self.raw.acquire())
    }

    /// Returns the guard if that needs no waiting.
    #[inline]
    pub fn try_acquire(&self) -> Option<Guard<'_, L, T>> {
        self.raw.try_acquire().map(|token| self.guard(token))
    }

    /// Returns the guard, unless [`Platform::now_ns`] reaches `deadline_ns` before the lock is the caller's.
    #[inline]
    pub fn acquire_until(&self, deadline_ns: u64) -> Option<Guard<'_, L, T>>
    where
        L: TimedLock,
    {
        self.raw.acquire_until(deadline_ns).map(|token| self.guard(token))
    }

    /// See [`RawLock::has_waiters`].
    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.raw.has_waiters()
    }

    /// The lock itself, for the other functions of its kind.
    pub fn raw(&self) -> &L {
        &self.raw
    }

    /// Ends the lock and returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    #[inline(always)]
    pub(super) fn guard(&self, token: L::Token) -> Guard<'_, L, T> {
        let held = Held { raw: &self.raw, token: ManuallyDrop::new(token), _not_send: PhantomData };
        Guard { value: self.value.access(), _held: held }
    }
}

impl<L: RawLock, T> fmt::Debug for Lock<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

/// A held lock, and its value. Dropping it releases the lock.
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct Guard<'a, L: RawLock, T> {
    // Fields are dropped in this order: the access ends, then the lock is released.
    value: AccessOf<L, T>,
    _held: Held<'a, L>,
}

impl<L: RawLock, T> Deref for Guard<'_, L, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard borrows the lock (alive) and holds it (exclusive).
        unsafe { self.value.deref() }
    }
}

impl<L: RawLock, T> DerefMut for Guard<'_, L, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard borrows the lock (alive) and holds it (exclusive), and the guard
        // is borrowed exclusively.
        unsafe { self.value.deref() }
    }
}

impl<L: RawLock, T: fmt::Debug> fmt::Debug for Guard<'_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// One acquisition; dropping it releases the lock. Not `Send`: the thread that acquired a lock releases it.
struct Held<'a, L: RawLock> {
    raw: &'a L,
    token: ManuallyDrop<L::Token>,
    _not_send: PhantomData<*const ()>,
}

impl<L: RawLock> Drop for Held<'_, L> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: taken once, when its only owner is dropped.
        let token = unsafe { ManuallyDrop::take(&mut self.token) };
        // SAFETY: made by an acquisition of this thread (not Send), ended once.
        unsafe { self.raw.release(token) };
    }
}
