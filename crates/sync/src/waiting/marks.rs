//! Waiting for words that other threads or processes change by locked instructions.
//!
//! **What it gives.** A [`Doorbell`](crate::Doorbell) costs its ringer nothing and its sleeper a
//! `membarrier`. Where every change of a word is a locked instruction, which is a full fence, neither
//! is needed: the sleeper leaves a mark beside the word, and the thread that changes the word looks
//! at the marks afterwards.
//!
//! ```text
//!   changer                               sleeper, number n
//!   word = 1       (locked, SeqCst)       marks |= 1 << n   (locked, SeqCst)
//!   marks == 0?    (SeqCst) -> done       seen = spot       (Acquire)
//!     spot of each marked one += 1        word?             (SeqCst) -> yes: stay awake
//!     futex wake                          sleep while spot == seen
//! ```
//!
//! **No lost wake-up.** Both threads write with a locked instruction and then read what the other writes, all
//! sequentially consistent. So the sleeper sees the word or the changer sees the mark. In the second case the
//! changer raises `spot` after the sleeper has set the mark. If that was before the sleeper read `seen`, its
//! Acquire pairs with the changer's Release, and the sleeper sees the word; else its futex wait returns.
//!
//! Zeros are valid, so both types may lie in memory that processes share.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::{Scope, barrier, futex};
use std::time::Duration;

/// Which sleepers wait for a word, one bit each; sleeper `n` has bit `n % 64`.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct WaitMarks(AtomicU64);

impl WaitMarks {
    fn set(&self, sleeper: usize) {
        self.0.fetch_or(bit(sleeper), Ordering::SeqCst);
        barrier::after_locked();
    }

    /// Takes a mark away, when no thread of this sleeper waits any more.
    pub fn clear(&self, sleeper: usize) {
        self.0.fetch_and(!bit(sleeper), Ordering::Relaxed);
    }

    /// Wakes all that are marked, after a sequentially consistent read-modify-write of the word. `spots` has
    /// the places where sleepers 0, 1, .. park.
    #[inline(always)]
    pub fn wake<'a, S>(&self, scope: Scope, spots: impl FnOnce() -> S)
    where
        S: Iterator<Item = &'a ParkingSpot>,
    {
        barrier::after_locked();
        let marks = self.0.load(Ordering::SeqCst);
        if marks != 0 {
            wake_marked(marks, scope, spots());
        }
    }
}

fn bit(sleeper: usize) -> u64 {
    1 << (sleeper % 64)
}

#[cold]
fn wake_marked<'a, S: Iterator<Item = &'a ParkingSpot>>(marks: u64, scope: Scope, spots: S) {
    for (sleeper, spot) in spots.enumerate() {
        if marks & bit(sleeper) != 0 {
            // Release: takes the change of the word along.
            spot.0.fetch_add(1, Ordering::Release);
            futex::wake(&spot.0, futex::ALL, scope);
        }
    }
}

/// Where the threads of one sleeper park.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct ParkingSpot(AtomicU32);

impl ParkingSpot {
    /// Marks sleeper number `sleeper`, whose threads park here. The caller checks the word once more, by a
    /// sequentially consistent load, and then [parks](Ticket::park) or does not.
    #[must_use = "check the word once more, then park"]
    pub fn prepare(&self, marks: &WaitMarks, sleeper: usize) -> Ticket<'_> {
        marks.set(sleeper);
        // Acquire: pairs with the Release of the thread that wakes.
        Ticket { spot: self, seen: self.0.load(Ordering::Acquire) }
    }
}

/// A thread that is about to park.
#[derive(Debug)]
pub struct Ticket<'a> {
    spot: &'a ParkingSpot,
    seen: u32,
}

impl Ticket<'_> {
    /// Sleeps until a change of the word since [`ParkingSpot::prepare`]. It may return early. Returns
    /// false if the time ran out.
    pub fn park(self, timeout: Option<Duration>, scope: Scope) -> bool {
        futex::wait(&self.spot.0, self.seen, timeout, scope)
    }
}
