//! Sections: the places where a model decides who may go on.

use heddle_platform::cell::UnsafeCell;
use heddle_sync::{Biased, Mutex, RawLock};
use std::cell::Cell;
use std::fmt;

/// Why a section is entered. A model may treat the two differently (Amer et al., TOPC 2019, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// To issue an operation.
    Main,
    /// To wait for one.
    Progress,
}

type SectionLock = Biased<Mutex>;

/// State that is reached only through its section.
///
/// The section is a lock, or nothing where the model or the thread level guarantees exclusion otherwise: below
/// `MPI_THREAD_MULTIPLE` by the program's promise, under `global` by the [`CallSection`].
pub struct Guarded<T> {
    lock: Option<SectionLock>,
    state: UnsafeCell<T>,
}

impl<T> fmt::Debug for Guarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("locked", &self.lock.is_some()).finish_non_exhaustive()
    }
}

// SAFETY: the state is touched by one thread at a time (see `Guarded`), so it must be Send, not Sync.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) fn new(state: T, locked: bool) -> Guarded<T> {
        Guarded { lock: locked.then(SectionLock::default), state: UnsafeCell::new(state) }
    }

    /// Runs `operation` on the state. Operations must not enter a section themselves.
    #[inline(always)]
    pub fn with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let _held = self.lock.as_ref().map(Held::acquire);
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        operation(unsafe { &mut *self.state.get() })
    }

    /// Runs `operation` on the state if nobody is in the section; never waits.
    #[inline(always)]
    pub fn try_with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _held = match &self.lock {
            None => None,
            Some(lock) if lock.try_acquire() => Some(Held(lock)),
            Some(_) => return None,
        };
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        Some(operation(unsafe { &mut *self.state.get() }))
    }
}

struct Held<'a>(&'a SectionLock);

impl<'a> Held<'a> {
    #[inline(always)]
    fn acquire(lock: &'a SectionLock) -> Held<'a> {
        lock.acquire();
        Held(lock)
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `Held` exists only while this thread holds the lock.
        unsafe { self.0.release() };
    }
}

thread_local! {
    /// How many MPI calls this thread is inside of: user callbacks may call MPI again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The section that every MPI call enters: a lock under the `global` granularity, nothing otherwise.
#[derive(Debug)]
pub struct CallSection {
    lock: Option<SectionLock>,
}

impl CallSection {
    pub(crate) fn new(locked: bool) -> CallSection {
        CallSection { lock: locked.then(SectionLock::default) }
    }

    /// Enters for the duration of a call.
    #[inline(always)]
    pub fn enter(&self) -> Entered<'_> {
        Entered(self.lock.as_ref().map(enter_recursive))
    }

    /// Runs `wait`, during which this thread needs nothing of the library, outside of the section.
    #[inline(always)]
    pub fn outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        match &self.lock {
            Some(lock) if DEPTH.get() > 0 => {
                // SAFETY: a thread inside a call holds the lock.
                unsafe { lock.release() };
                let result = wait();
                lock.acquire();
                result
            }
            _ => wait(),
        }
    }
}

fn enter_recursive(lock: &SectionLock) -> &SectionLock {
    let depth = DEPTH.get();
    if depth == 0 {
        lock.acquire();
    }
    DEPTH.set(depth + 1);
    lock
}

/// Proof of being inside a call.
#[derive(Debug)]
pub struct Entered<'a>(Option<&'a SectionLock>);

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            let depth = DEPTH.get() - 1;
            DEPTH.set(depth);
            if depth == 0 {
                // SAFETY: the outermost call took the lock.
                unsafe { lock.release() };
            }
        }
    }
}
