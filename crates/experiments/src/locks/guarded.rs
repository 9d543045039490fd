//! The interface of all contenders: a value, and operations on it that exclude each other.
//!
//! An operation is a closure, so that the same experiment measures a lock (which runs it between acquire and
//! release) and combining (in which another thread may run it).

use std::marker::PhantomData;

use heddle_locks::kinds::{LockSettings, Recipe};
use heddle_sync::{CachePadded, Lock, PriorityLock, RawLock};

/// A value whose operations exclude each other.
pub(crate) trait Guarded<T>: Sync {
    /// Runs an operation on the value and returns its result.
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R;
}

/// A kind of guard.
pub(crate) trait GuardKind: 'static {
    /// A guarded value.
    type Guarded<T: Send + 'static>: Guarded<T>;

    /// Guards `value`.
    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T>;

    /// True if more than one thread may use it at once.
    const SHARED: bool = true;
}

/// Any lock of `heddle-locks`.
#[derive(Debug)]
pub(crate) struct Ours<R>(PhantomData<R>);

impl<R: Recipe> GuardKind for Ours<R> {
    type Guarded<T: Send + 'static> = CachePadded<Lock<R::Lock, T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        CachePadded::new(Lock::new(R::make(&LockSettings::default()), value))
    }
}

impl<L: RawLock, T: Send> Guarded<T> for CachePadded<Lock<L, T>> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        operation(&mut self.acquire())
    }
}

/// A lock of `heddle-locks` with two classes, of which all threads take the low one.
#[derive(Debug)]
pub(crate) struct OursLow<R>(PhantomData<R>);

/// A value that [`OursLow`] guards.
#[derive(Debug)]
pub(crate) struct Low<L: RawLock, T>(CachePadded<Lock<L, T>>);

impl<R: Recipe> GuardKind for OursLow<R>
where
    R::Lock: PriorityLock,
{
    type Guarded<T: Send + 'static> = Low<R::Lock, T>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        Low(Ours::<R>::guard(value))
    }
}

impl<L: PriorityLock, T: Send> Guarded<T> for Low<L, T> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        operation(&mut self.0.acquire_low())
    }
}
