//! A lock for each object inside of a VNI: granularity `per-object`.

use super::object::{GuardedObject, SectionOf, Sectioning};
use super::order::Entered;
use crate::counters::Row;
use crate::path::Path;
use crate::section::{SectionLock, SectionToken, Sections};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::fmt::{self, Debug};

/// Each object has its lock.
#[derive(Debug)]
pub enum Parted {}

/// An object behind its lock under [`Parted`]. No other object shares its cache lines.
#[repr(align(128))]
pub struct Locked<T> {
    lock: SectionLock,
    row: Row,
    object: UnsafeCell<T>,
}

// SAFETY: the object is touched only by the thread that holds the lock, so it must be Send, not Sync.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T: GuardedObject> Locked<T> {
    pub(crate) fn new(sections: &Sections, object: T) -> Locked<T> {
        let row = Row::of(T::SECTION);
        Locked { lock: sections.lock(row), row, object: UnsafeCell::new(object) }
    }

    /// Runs an operation and leaves the critical section.
    ///
    /// # Safety
    /// The calling thread is in the critical section by the entry that gave it `token`.
    #[inline(always)]
    unsafe fn run_inside<R>(&self, token: SectionToken, operation: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the lock keeps other threads out, and by the order of the critical sections a
        // thread enters each one once.
        let result = operation(unsafe { &mut *self.object.get() });
        // SAFETY: the caller entered by this token.
        unsafe { self.lock.leave(token) };
        result
    }
}

impl<T: GuardedObject> Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(T::SECTION.name()).field("lock", &self.lock).finish_non_exhaustive()
    }
}

impl<T: GuardedObject> SectionOf<T> for Locked<T> {
    #[inline]
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _order = Entered::new::<T>();
        let token = self.lock.enter(path, self.row);
        // SAFETY: the token is that of the entry above.
        unsafe { self.run_inside(token, operation) }
    }

    fn count_poll(&self) {
        self.row.only_polled();
    }

    #[inline]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let token = self.lock.try_enter(path, self.row)?;
        let _order = Entered::new::<T>();
        // SAFETY: the token is that of the entry above.
        Some(unsafe { self.run_inside(token, operation) })
    }
}

/// The number of objects of a kind that are found by a key, where each has a critical
/// section: a power of two.
pub(super) const SHARDS: usize = 64;

/// The number of a key's object.
#[inline(always)]
pub(super) fn shard_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SHARDS.trailing_zeros())) as usize
}

impl Sectioning for Parted {
    const PARTED: bool = true;

    type Section<T: GuardedObject> = Locked<T>;
    type Channel<T: GuardedObject> = Locked<T>;
    type Shard<T: GuardedObject> = Locked<T>;
    type Shards<T: GuardedObject> = Box<[Locked<T>]>;

    fn guard<T: GuardedObject>(sections: &Sections, object: T) -> Locked<T> {
        Locked::new(sections, object)
    }

    fn guard_channel<T: GuardedObject>(sections: &Sections, channel: T) -> Locked<T> {
        Locked::new(sections, channel)
    }

    fn shards<T: GuardedObject>(
        sections: &Sections,
        mut make: impl FnMut() -> T,
        _left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T> {
        (0..SHARDS).map(|_| Parted::guard(sections, make())).collect()
    }

    #[inline]
    fn shard<T: GuardedObject>(shards: &Self::Shards<T>, key: u64) -> &Locked<T> {
        &shards[shard_of(key)]
    }

    fn each<T: GuardedObject>(shards: &Self::Shards<T>) -> impl Iterator<Item = &Locked<T>> {
        shards.iter()
    }

    #[inline]
    fn change(number: &AtomicUsize, by: isize) {
        // Wraps for a negative change. Relaxed: readers take the number as a hint.
        number.fetch_add(by as usize, Ordering::Relaxed);
    }
}
