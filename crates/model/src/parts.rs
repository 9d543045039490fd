//! The sections inside a VNI: one for each object, or none because what encloses them all is enough.
//!
//! The engine says what is protected: an [`Object`] is a kind of state with a name of its own, and each object of it is
//! reached only through its section, [`SectionOf::with`]. How is decided by the [`Sectioning`]:
//!
//! | | a section is | used under |
//! |---|---|---|
//! | [`Whole`] | nothing: the thread has the VNI to itself already | all other granularities, and below `MPI_THREAD_MULTIPLE` |
//! | [`Parted`] | a lock of its own, by the model's arbitration and bias | `per-object` |
//! | [`LockFree`](crate::LockFree) | the same, or one that nobody waits for: operations are left to whoever is inside | `lock-free` |
//!
//! Code that enters sections is generic over it and exists once for each, so that what is nothing costs nothing.
//!
//! **Order.** A thread that is in a section enters only sections of a higher [`LEVEL`](Object::LEVEL), so no circle of
//! threads can wait for each other; and under [`Whole`] no object is reached through two references at once. Debug builds
//! check it, under both.

use crate::counters::{Row, Section};
use crate::guarded::Sections;
use crate::section::{Path, SectionLock};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::fmt::{self, Debug};

/// State that a section guards.
pub trait Object: Send + 'static {
    /// What it is called, and where it is counted.
    const SECTION: Section;
    /// Its place in the order in which sections are entered.
    const LEVEL: u32;
}

/// A section, with what it guards.
pub trait SectionOf<T> {
    /// Runs `operation` inside.
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R;

    /// As [`with`](Self::with) on the main path, for an operation that creates, completes and frees nothing.
    fn look<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        self.with(Path::Main, operation)
    }

    /// Runs `operation` inside if nobody else is; never waits.
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R>;

    /// As [`with`](Self::with); or, where the section is one that nobody waits for and somebody is inside, leaves to that
    /// thread what `later` makes, which runs inside soon. Only one of the two is called, with `given`; `later` also says
    /// what is to be returned.
    #[inline(always)]
    fn with_or_leave<C, R, L: FnOnce(&mut T) + Send + 'static>(
        &self,
        path: Path,
        given: C,
        operation: impl FnOnce(&mut T, C) -> R,
        later: impl FnOnce(C) -> (L, R),
    ) -> R {
        let _ = later;
        self.with(
            path,
            #[inline(always)]
            |object| operation(object, given),
        )
    }
}

/// How the parts of a VNI are guarded.
pub trait Sectioning: Debug + 'static {
    /// Whether several threads can be in a VNI at once.
    const PARTED: bool;

    /// The section of one object.
    type Section<T: Object>: SectionOf<T> + Debug;
    /// The section of an object that is found by a key.
    type Shard<T: Object>: SectionOf<T> + Debug;
    /// The sections of all objects of such a kind.
    type Shards<T: Object>: Debug;

    /// Puts an object behind its section.
    fn guard<T: Object>(sections: &Sections, object: T) -> Self::Section<T>;

    /// Makes the objects of a kind, as many as are worth having. `left` is called when some operations were left that nobody
    /// runs, until somebody enters that section or [serves](Self::serve_left) them.
    fn shards<T: Object>(
        sections: &Sections,
        make: impl FnMut() -> T,
        left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T>;

    /// The object of a key, always the same one.
    fn shard<T: Object>(shards: &Self::Shards<T>, key: u64) -> &Self::Shard<T>;

    /// Runs the operations that were left; whether there were any.
    #[inline(always)]
    fn serve_left<T: Object>(_shards: &Self::Shards<T>) -> bool {
        false
    }

    /// Changes a number that is written by whoever is in one of several sections, and read by anybody.
    fn change(number: &AtomicUsize, by: isize);
}

/// Nothing inside of the VNI has a section: its own, or the call's, or the program's promise guards all of it.
#[derive(Debug)]
pub enum Whole {}

/// Each object has a lock of its own.
#[derive(Debug)]
pub enum Parted {}

/// The section of an object to which one thread at a time can come, since the VNI is [`Whole`]. It is not `Sync`: shared
/// references to it stay inside of what encloses it.
pub struct Enclosed<T>(UnsafeCell<T>);

/// The section of an object under [`Parted`], in cache lines of its own.
#[repr(align(128))]
pub struct Locked<T> {
    lock: SectionLock,
    row: Row,
    object: UnsafeCell<T>,
}

// SAFETY: the object is touched only by the thread that holds the lock, so it must be Send, not Sync.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T: Object> Locked<T> {
    pub(crate) fn new(sections: &Sections, object: T) -> Locked<T> {
        Locked { lock: sections.lock(), row: Row::of(T::SECTION), object: UnsafeCell::new(object) }
    }
}

impl<T: Object> Debug for Enclosed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(T::SECTION.name()).finish_non_exhaustive()
    }
}

impl<T: Object> Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(T::SECTION.name()).field("lock", &self.lock).finish_non_exhaustive()
    }
}

impl<T: Object> SectionOf<T> for Enclosed<T> {
    #[inline(always)]
    fn with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _order = order::Entered::new::<T>();
        // SAFETY: one thread at a time comes here, and by the order of the sections it has no other reference to the object.
        operation(unsafe { &mut *self.0.get() })
    }

    #[inline(always)]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        Some(self.with(path, operation))
    }
}

impl<T: Object> SectionOf<T> for Locked<T> {
    #[inline]
    fn with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _order = order::Entered::new::<T>();
        let token = self.lock.enter(path, self.row);
        // SAFETY: the lock is held.
        let result = operation(unsafe { &mut *self.object.get() });
        // SAFETY: entered above.
        unsafe { self.lock.leave(token) };
        result
    }

    fn look<R>(&self, operation: impl FnOnce(&mut T) -> R) -> R {
        let result = self.with(Path::Main, operation);
        self.row.only_looked();
        result
    }

    #[inline]
    fn try_with<R>(&self, path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let token = self.lock.try_enter(path, self.row)?;
        let _order = order::Entered::new::<T>();
        // SAFETY: the lock is held.
        let result = operation(unsafe { &mut *self.object.get() });
        // SAFETY: entered above.
        unsafe { self.lock.leave(token) };
        Some(result)
    }
}

impl Sectioning for Whole {
    const PARTED: bool = false;

    type Section<T: Object> = Enclosed<T>;
    type Shard<T: Object> = Enclosed<T>;
    type Shards<T: Object> = Enclosed<T>;

    fn guard<T: Object>(_sections: &Sections, object: T) -> Enclosed<T> {
        Enclosed(UnsafeCell::new(object))
    }

    fn shards<T: Object>(
        sections: &Sections,
        mut make: impl FnMut() -> T,
        _left: impl Fn() + Send + Sync + 'static,
    ) -> Enclosed<T> {
        Whole::guard(sections, make())
    }

    #[inline(always)]
    fn shard<T: Object>(shards: &Enclosed<T>, _key: u64) -> &Enclosed<T> {
        shards
    }

    #[inline(always)]
    fn change(number: &AtomicUsize, by: isize) {
        // Relaxed, and a load and a store: one thread at a time writes it, and others ask for a hint.
        number.store(number.load(Ordering::Relaxed).wrapping_add_signed(by), Ordering::Relaxed);
    }
}

/// How many objects of a kind there are by key where each has a section: a power of two.
pub(crate) const SHARDS: usize = 64;

/// The number of a key's object.
#[inline(always)]
pub(crate) fn shard_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SHARDS.trailing_zeros())) as usize
}

impl Sectioning for Parted {
    const PARTED: bool = true;

    type Section<T: Object> = Locked<T>;
    type Shard<T: Object> = Locked<T>;
    type Shards<T: Object> = Box<[Locked<T>]>;

    fn guard<T: Object>(sections: &Sections, object: T) -> Locked<T> {
        Locked::new(sections, object)
    }

    fn shards<T: Object>(
        sections: &Sections,
        mut make: impl FnMut() -> T,
        _left: impl Fn() + Send + Sync + 'static,
    ) -> Self::Shards<T> {
        (0..SHARDS).map(|_| Parted::guard(sections, make())).collect()
    }

    #[inline]
    fn shard<T: Object>(shards: &Self::Shards<T>, key: u64) -> &Locked<T> {
        &shards[shard_of(key)]
    }

    #[inline]
    fn change(number: &AtomicUsize, by: isize) {
        // Wraps for a negative change. Relaxed: a hint.
        number.fetch_add(by as usize, Ordering::Relaxed);
    }
}

/// The check of the order of sections, in debug builds.
pub(crate) mod order {
    #[cfg(debug_assertions)]
    use std::cell::Cell;

    #[cfg(debug_assertions)]
    thread_local! {
        /// A bit for the level of each section that this thread is in.
        static INSIDE: Cell<u32> = const { Cell::new(0) };
    }

    /// This thread is in a section, until this is dropped.
    pub(crate) struct Entered {
        #[cfg(debug_assertions)]
        before: u32,
    }

    impl Entered {
        #[cfg(debug_assertions)]
        pub(crate) fn new<T: super::Object>() -> Entered {
            let before = INSIDE.get();
            assert!(
                before >> T::LEVEL == 0,
                "the section \"{}\" (level {}) is entered inside of sections {before:#b}",
                T::SECTION.name(),
                T::LEVEL
            );
            INSIDE.set(before | 1 << T::LEVEL);
            Entered { before }
        }

        #[cfg(not(debug_assertions))]
        #[inline(always)]
        pub(crate) fn new<T: super::Object>() -> Entered {
            Entered {}
        }
    }

    #[cfg(debug_assertions)]
    impl Drop for Entered {
        fn drop(&mut self) {
            INSIDE.set(self.before);
        }
    }
}
