//! The thread that was in a critical section last, by which hand-overs are counted.
//!
//! Each thread inside compares itself with the thread before. That takes two loads, and writes nothing if it
//! is the same. Only a new thread looks up where it runs, and stores that. A thread that moves to another
//! core between two of its own entries is taken to be where it ran at the first of them.

use super::row::Row;
use heddle_locks::machine::nearness;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::thread;
use std::ops::Deref;

/// The thread that was in a critical section last, and its hardware thread. Only the thread inside writes the
/// words; the critical section orders its accesses.
#[derive(Debug)]
struct LastHolder {
    row: Row,
    /// The thread's identity; 0 if no thread has been inside yet.
    thread: AtomicU64,
    hardware_thread: AtomicU32,
}

/// A lock, or the state that a critical section guards, with the thread that was inside last. The thread
/// comes first: behind the lock, it cost a message under `per-object` a fifth more time.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tracked<T> {
    last: LastHolder,
    value: T,
}

impl<T> Tracked<T> {
    /// No thread has been inside yet. Hand-overs are counted in `row`.
    pub(crate) fn new(value: T, row: Row) -> Tracked<T> {
        let (thread, hardware_thread) = (AtomicU64::new(0), AtomicU32::new(0));
        Tracked { last: LastHolder { row, thread, hardware_thread }, value }
    }

    /// Returns true if the caller, which is inside, was also the last thread inside.
    #[inline(always)]
    pub(crate) fn was_here_last(&self) -> bool {
        self.last.thread.load(Ordering::Relaxed) == thread::current_id()
    }

    /// Counts a hand-over from the last thread inside to the caller, which is inside now.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(&self) {
        let here = thread::hardware_thread();
        let last = self.last.thread.load(Ordering::Relaxed);
        let there = self.last.hardware_thread.load(Ordering::Relaxed);
        self.last.thread.store(thread::current_id(), Ordering::Relaxed);
        self.last.hardware_thread.store(here as u32, Ordering::Relaxed);
        if last != 0 {
            self.last.row.handed_over(nearness(there as usize, here));
        }
    }

    /// Runs an operation of the thread inside on the state.
    #[inline(always)]
    pub(crate) fn run<R>(&mut self, operation: impl FnOnce(&mut T) -> R) -> R {
        if !self.was_here_last() {
            self.hand_over();
        }
        operation(&mut self.value)
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}
