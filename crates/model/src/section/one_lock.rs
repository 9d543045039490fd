//! State in the one critical section of `brief-global`, where the request pool or the reference counts are
//! in it, too.
//!
//! A thread that is inside for a VNI also takes requests and counts references, whose state the same critical
//! section guards (Balaji et al., IJHPCA 2010, section 4). A mark of the thread says that it is inside, so
//! it runs an operation on such state at once, without another entry and without another count.
//!
//! Invariant: a thread's mark is set exactly while it holds the lock, of which a process has one.

use super::lock::{SectionLock, SectionToken};
use crate::counters::Row;
use crate::path::Path;
use heddle_platform::cell::UnsafeCell;
use std::cell::Cell;

thread_local! {
    /// True while the thread is inside.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// State in the critical section of the process.
pub(super) struct OneLock<T> {
    lock: SectionLock,
    /// True if a thread that is inside may run an operation on this state, too.
    nests: bool,
    state: UnsafeCell<T>,
}

// SAFETY: the state is touched by one thread at a time, which holds the lock; so it must be Send, not Sync.
unsafe impl<T: Send> Sync for OneLock<T> {}

impl<T> OneLock<T> {
    /// State behind the lock of the process. `nests` is true for state that a thread inside uses, on which no
    /// operation runs another one.
    pub(super) fn new(lock: SectionLock, nests: bool, state: T) -> OneLock<T> {
        OneLock { lock, nests, state: UnsafeCell::new(state) }
    }

    /// Runs the operation inside; waits until it can enter.
    pub(super) fn run<R>(&self, path: Path, row: Row, operation: impl FnOnce(&mut T) -> R) -> R {
        let result = self.run_by(operation, |lock| Some(lock.enter(path, row)));
        result.unwrap_or_else(|| unreachable!("an entry that waits succeeds"))
    }

    /// Runs the operation if the thread can enter at once.
    pub(super) fn try_run<R>(&self, path: Path, row: Row, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.run_by(operation, |lock| lock.try_enter(path, row))
    }

    /// Does the same as [`try_run`](Self::try_run) on the progress path, but counts only a failure.
    pub(super) fn try_poll<R>(&self, row: Row, operation: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.run_by(operation, |lock| lock.try_enter_uncounted(Path::Progress, row))
    }

    /// Does the same as [`run`](Self::run), but gives up after `patience_ns`.
    pub(super) fn run_within<R>(
        &self,
        path: Path,
        patience_ns: u64,
        row: Row,
        operation: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        self.run_by(operation, |lock| lock.enter_within(path, patience_ns, row))
    }

    fn run_by<R>(
        &self,
        operation: impl FnOnce(&mut T) -> R,
        enter: impl FnOnce(&SectionLock) -> Option<SectionToken>,
    ) -> Option<R> {
        if self.nests && INSIDE.get() {
            // SAFETY: the mark says that this thread holds the lock, and no operation on this state is
            // running, for such an operation runs no other.
            return Some(operation(unsafe { &mut *self.state.get() }));
        }
        let token = enter(&self.lock)?;
        INSIDE.set(true);
        // SAFETY: this thread holds the lock.
        let result = operation(unsafe { &mut *self.state.get() });
        INSIDE.set(false);
        // SAFETY: this thread is inside by the entry that gave it this token.
        unsafe { self.lock.leave(token) };
        Some(result)
    }
}
