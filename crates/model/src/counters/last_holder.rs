//! The thread that was in a critical section last, by which hand-overs are counted.
//!
//! Each thread inside compares itself with the thread before. That takes two loads, and writes nothing if it
//! is the same. Only a new thread looks up where it runs, and stores that. A thread that moves to another
//! core between two of its own entries is taken to be where it ran at the first of them.

use super::row::Row;
use super::standing_back::Issuers;
use heddle_locks::kinds::LastHolder;
use heddle_locks::machine::nearness;
use heddle_platform::atomic::Ordering;
use heddle_platform::thread;
use heddle_sync::CachePadded;
use std::ops::Deref;

/// Returns true if the caller, which is inside, was also the last thread inside.
#[inline(always)]
pub(crate) fn was_here_last(last: &LastHolder) -> bool {
    last.thread.load(Ordering::Relaxed) == thread::current_id()
}

/// A hand-over that is noted, and not counted yet.
#[must_use]
pub(crate) struct HandOver {
    /// The hardware thread of the last thread inside, unless this one is the first.
    from: Option<u32>,
    to: u32,
}

impl HandOver {
    /// Notes a hand-over from the last thread inside to the caller, which is inside now.
    #[inline(always)]
    pub(crate) fn note(last: &LastHolder) -> HandOver {
        let to = thread::hardware_thread() as u32;
        let is_first = last.thread.load(Ordering::Relaxed) == 0;
        let from = (!is_first).then(|| last.hardware_thread.load(Ordering::Relaxed));
        last.thread.store(thread::current_id(), Ordering::Relaxed);
        last.hardware_thread.store(to, Ordering::Relaxed);
        last.hand_overs.store(last.hand_overs.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
        HandOver { from, to }
    }

    /// Counts it. That takes longer, so a thread does it after it has left.
    pub(crate) fn count(self, row: Row) {
        if let Some(from) = self.from {
            row.handed_over(nearness(from as usize, self.to as usize));
        }
    }
}

/// A lock with the row in which its hand-overs, and the polls left out, are counted. Its own words say who
/// held it last.
#[derive(Debug)]
pub(crate) struct LockAndRow<L> {
    pub(crate) row: Row,
    /// On a line of their own: polls read it all the time.
    pub(crate) issuers: CachePadded<Issuers>,
    lock: L,
}

impl<L> LockAndRow<L> {
    pub(crate) fn new(lock: L, row: Row, polls_stand_back: bool) -> LockAndRow<L> {
        LockAndRow { row, issuers: CachePadded::new(Issuers::new(polls_stand_back, row)), lock }
    }
}

impl<L> Deref for LockAndRow<L> {
    type Target = L;

    #[inline(always)]
    fn deref(&self) -> &L {
        &self.lock
    }
}

/// The state that a critical section without a lock of its own guards, with the thread that was inside last.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tracked<T> {
    last: LastHolder,
    row: Row,
    value: T,
}

impl<T> Tracked<T> {
    /// No thread has been inside yet. Hand-overs are counted in `row`.
    pub(crate) fn new(value: T, row: Row) -> Tracked<T> {
        Tracked { last: LastHolder::default(), row, value }
    }

    /// Runs an operation of the thread inside on the state.
    #[inline(always)]
    pub(crate) fn run<R>(&mut self, operation: impl FnOnce(&mut T) -> R) -> R {
        if !was_here_last(&self.last) {
            self.hand_over();
        }
        operation(&mut self.value)
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&self) {
        HandOver::note(&self.last).count(self.row);
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}
