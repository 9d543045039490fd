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
type Token = <SectionLock as RawLock>::Token;

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

    /// Runs `operation` on the state. Operations must not enter a section themselves, and must not panic: the section
    /// would stay closed.
    #[inline(always)]
    pub fn with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> R {
        let held = self.lock.as_ref().map(|lock| (lock, lock.acquire()));
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        let result = operation(unsafe { &mut *self.state.get() });
        if let Some((lock, token)) = held {
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        }
        result
    }

    /// Runs `operation` on the state if nobody is in the section; never waits.
    #[inline(always)]
    pub fn try_with<R>(&self, _path: Path, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        let held = match &self.lock {
            Some(lock) => Some((lock, lock.try_acquire()?)),
            None => None,
        };
        // SAFETY: the section is held, or exclusion is guaranteed otherwise.
        let result = operation(unsafe { &mut *self.state.get() });
        if let Some((lock, token)) = held {
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        }
        Some(result)
    }
}

thread_local! {
    /// How many MPI calls this thread is inside of: user callbacks may call MPI again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// With what the call section was acquired, while this thread holds it.
    static TOKEN: Cell<Option<Token>> = const { Cell::new(None) };
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

    /// Whether there is a lock: a call that waits keeps the others out as long as it stays inside.
    #[inline(always)]
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Runs the body of a call inside. Calls may be nested: user callbacks may call MPI again.
    #[inline(always)]
    pub fn inside<R>(&self, body: impl FnOnce() -> R) -> R {
        if let Some(lock) = &self.lock {
            enter(lock);
        }
        let result = body();
        if let Some(lock) = &self.lock {
            leave(lock);
        }
        result
    }

    /// Runs `wait`, during which this thread needs nothing of the library, outside of the section.
    #[inline(always)]
    pub fn outside<R>(&self, wait: impl FnOnce() -> R) -> R {
        match &self.lock {
            Some(lock) if DEPTH.get() > 0 => {
                release(lock);
                let result = wait();
                TOKEN.set(Some(lock.acquire()));
                result
            }
            _ => wait(),
        }
    }
}

fn enter(lock: &SectionLock) {
    let depth = DEPTH.get();
    if depth == 0 {
        TOKEN.set(Some(lock.acquire()));
    }
    DEPTH.set(depth + 1);
}

fn leave(lock: &SectionLock) {
    let depth = DEPTH.get() - 1;
    DEPTH.set(depth);
    if depth == 0 {
        release(lock);
    }
}

fn release(lock: &SectionLock) {
    let token = TOKEN.take().expect("a thread inside a call holds the lock");
    // SAFETY: the token stands for this thread's acquisition.
    unsafe { lock.release(token) };
}
