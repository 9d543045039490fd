//! glibc's mutex, and the work without any lock: what can only be had by `unsafe`.
#![allow(unsafe_code)]

use std::fmt;

use heddle_platform::cell::UnsafeCell;
use heddle_sync::CachePadded;

use super::guarded::{GuardKind, Guarded};

/// `pthread_mutex_t` with default attributes.
#[derive(Debug)]
pub(crate) struct Pthread;

impl GuardKind for Pthread {
    type Guarded<T: Send + 'static> = CachePadded<PthreadGuarded<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        CachePadded::new(PthreadGuarded {
            mutex: Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)),
            value: UnsafeCell::new(value),
        })
    }
}

/// A value under a `pthread_mutex_t`.
pub(crate) struct PthreadGuarded<T> {
    /// Boxed: once used, a mutex must not move.
    mutex: Box<UnsafeCell<libc::pthread_mutex_t>>,
    value: UnsafeCell<T>,
}

impl<T> fmt::Debug for PthreadGuarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PthreadGuarded").finish_non_exhaustive()
    }
}

// SAFETY: the value is touched only under the mutex, which is made for several threads.
unsafe impl<T: Send> Sync for PthreadGuarded<T> {}
// SAFETY: no thread has locked it when it is moved (it is borrowed while locked).
unsafe impl<T: Send> Send for PthreadGuarded<T> {}

impl<T: Send> Guarded<T> for CachePadded<PthreadGuarded<T>> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        // SAFETY: initialised, and it does not move while it is used.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        // SAFETY: the mutex is held.
        let result = operation(unsafe { &mut *self.value.get() });
        // SAFETY: locked above by this thread.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
        result
    }
}

/// No lock: the least that a measurement can give. For one thread only.
#[derive(Debug)]
pub(crate) struct Unlocked;

impl GuardKind for Unlocked {
    type Guarded<T: Send + 'static> = CachePadded<UnlockedValue<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        CachePadded::new(UnlockedValue(UnsafeCell::new(value)))
    }

    const SHARED: bool = false;
}

/// A value that one thread at a time uses.
#[derive(Debug)]
pub(crate) struct UnlockedValue<T>(UnsafeCell<T>);

// SAFETY: `GuardKind::SHARED` is false: the experiments let one thread use it.
unsafe impl<T: Send> Sync for UnlockedValue<T> {}

impl<T: Send> Guarded<T> for CachePadded<UnlockedValue<T>> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        // SAFETY: used by one thread at a time (`GuardKind::SHARED`), and operations do not nest.
        operation(unsafe { &mut *self.0.get() })
    }
}
