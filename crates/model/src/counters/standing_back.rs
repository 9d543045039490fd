//! A thread that polls stands back from threads that wait to issue an operation.
//!
//! A waiting thread that only tries a lock is in no queue, so it gets in between threads that wait for the
//! lock, whenever that is free for a moment. Most polls find nothing, while each thread that waits has an
//! operation to issue. So a poll is left out, and counted as refused, while such threads wait; and it does
//! not touch the line of the lock, for which they wait.
//!
//! Threads that issue without a pause would keep a waiting thread out for ever. So a thread leaves out at
//! most [`MOST_LEFT_OUT`] polls in a row; the next one tries the lock like a thread that issues.
//!
//! Where there are more threads than cores, a thread that waits to issue often has none, and nobody would use
//! the lock meanwhile. There polls do not stand back.

use super::cores;
use super::registry::live_threads;
use super::row::Row;
use heddle_platform::atomic::{AtomicU32, Ordering};
use std::cell::Cell;

/// The largest number of polls that a thread leaves out in a row.
const MOST_LEFT_OUT: u32 = 16;

/// Returns true if there are no more threads that count than cores for them now.
pub fn each_thread_has_core() -> bool {
    live_threads() <= cores_for_threads()
}

/// Returns true if there are more threads that count than so many for each core. The number of cores is what
/// was found when a thread came or went last: it takes a few instructions.
#[inline]
pub fn are_more_per_core_than(threads: u32) -> bool {
    live_threads() > cores::last().saturating_mul(threads)
}

/// The number of cores for the threads that count now: those that other processes leave, or this one's share.
pub fn cores_for_threads() -> u32 {
    cores::beside(live_threads())
}

thread_local! {
    /// The number of polls that the thread has left out since its last one.
    static LEFT_OUT: Cell<u32> = const { Cell::new(0) };
}

/// The number of threads that wait for a lock to issue an operation.
#[derive(Debug)]
pub(crate) struct Issuers {
    waiting: AtomicU32,
    /// True if polls stand back from them.
    polls_stand_back: bool,
    /// The row in which polls that are left out are counted.
    row: Row,
}

impl Issuers {
    pub(crate) fn new(polls_stand_back: bool, row: Row) -> Issuers {
        Issuers { waiting: AtomicU32::new(0), polls_stand_back, row }
    }

    /// Runs `wait`, by which the caller waits for the lock.
    pub(crate) fn wait<R>(&self, wait: impl FnOnce() -> R) -> R {
        // Relaxed, here and below: a hint.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let acquired = wait();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        acquired
    }

    /// Returns true if a poll is to be left out, and counts it then.
    #[inline]
    pub(crate) fn come_first(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0 && self.come_first_on(cores::last())
    }

    /// Does the same as [`come_first`](Self::come_first) with so many cores, when threads wait.
    #[cold]
    fn come_first_on(&self, cores: u32) -> bool {
        let is_left_out = self.polls_stand_back && live_threads() <= cores && leave_out();
        if is_left_out {
            self.row.left_out();
        }
        is_left_out
    }
}

/// Counts a poll that is left out; returns false if that would be one too many.
fn leave_out() -> bool {
    let left_out = LEFT_OUT.get();
    let is_left_out = left_out < MOST_LEFT_OUT;
    LEFT_OUT.set(if is_left_out { left_out + 1 } else { 0 });
    is_left_out
}

/// The number of polls that the calling thread has left out since its last one.
#[cfg(test)]
pub(crate) fn left_out() -> u32 {
    LEFT_OUT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_stands_back_from_threads_that_wait_but_not_for_ever() {
        let issuers = Issuers::new(true, Row::without_section());
        assert!((0..100).all(|_| !issuers.come_first()), "nobody waits");
        issuers.wait(|| {
            for _ in 0..3 {
                let left_out = (0..).take_while(|_| issuers.come_first()).count();
                assert_eq!(left_out, MOST_LEFT_OUT as usize);
            }
        });
        assert!(!issuers.come_first(), "nobody waits any more");
    }

    #[test]
    fn no_poll_stands_back_where_a_thread_has_no_core() {
        // This thread counts something, so it is a live one.
        crate::counters::count(crate::counters::CountedEvent::Work, 1);
        let issuers = Issuers::new(true, Row::without_section());
        assert!(issuers.come_first_on(u32::MAX));
        assert!((0..100).all(|_| !issuers.come_first_on(0)));
    }
}
