//! No critical sections inside of a VNI: one thread at a time has all of it.

use super::apart::Apart;
use super::object::{GuardedObject, SectionOf, Sectioning};
use super::order::Entered;
use crate::path::Path;
use crate::section::Sections;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::fmt::{self, Debug};

/// Nothing inside of the VNI has a critical section: that of the VNI or of the call, or the program's
/// promise, guards all of it. Only its channels may be [`Apart`].
#[derive(Debug)]
pub enum Whole {}

/// The critical section of an object that only one thread at a time can reach, since the VNI is [`Whole`]. It
/// is not `Sync`: shared references to it stay inside of the enclosing critical section.
pub struct Enclosed<T>(UnsafeCell<T>);

impl<T: GuardedObject> Debug for Enclosed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(T::SECTION.name()).finish_non_exhaustive()
    }
}

impl<T: GuardedObject> SectionOf<T> for Enclosed<T> {
    #[inline(always)]
    fn with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _order = Entered::new::<T>();
        // SAFETY: one thread at a time comes here, and by the order of the critical sections it has no other
        // reference to the object.
        operation(unsafe { &mut *self.0.get() })
    }

    #[inline(always)]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        Some(self.with(path, operation))
    }
}

impl Sectioning for Whole {
    const PARTED: bool = false;

    type Section<T: GuardedObject> = Enclosed<T>;
    type Channel<T: GuardedObject> = Apart<T>;
    type Shard<T: GuardedObject> = Enclosed<T>;
    type Shards<T: GuardedObject> = Enclosed<T>;

    fn guard<T: GuardedObject>(_sections: &Sections, object: T) -> Enclosed<T> {
        Enclosed(UnsafeCell::new(object))
    }

    fn guard_channel<T: GuardedObject>(sections: &Sections, channel: T) -> Apart<T> {
        Apart::new(sections, channel)
    }

    fn shards<T: GuardedObject>(
        sections: &Sections,
        mut make: impl FnMut() -> T,
        _left: impl Fn() + Send + Sync + 'static,
    ) -> Enclosed<T> {
        Whole::guard(sections, make())
    }

    #[inline(always)]
    fn shard<T: GuardedObject>(shards: &Enclosed<T>, _key: u64) -> &Enclosed<T> {
        shards
    }

    fn each<T: GuardedObject>(shards: &Enclosed<T>) -> impl Iterator<Item = &Enclosed<T>> {
        std::iter::once(shards)
    }

    #[inline(always)]
    fn change(number: &AtomicUsize, by: isize) {
        // Relaxed, and a load and a store: one thread at a time writes it, and other
        // threads need only a hint.
        number.store(number.load(Ordering::Relaxed).wrapping_add_signed(by), Ordering::Relaxed);
    }
}
