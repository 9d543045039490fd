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
    /// A spot whose threads were woken `wakes` times.
    #[cfg(all(test, not(loom)))]
    fn starting_at(wakes: u32) -> ParkingSpot {
        ParkingSpot(AtomicU32::new(wakes))
    }

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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// So long that a thread sleeps for it only if it missed its wake-up.
    const MISSED: Option<Duration> = Some(Duration::from_secs(20));

    #[test]
    fn a_thread_woken_before_it_parks_stays_awake_where_the_counter_wraps() {
        let (marks, spot) = (WaitMarks::default(), ParkingSpot::starting_at(u32::MAX - 1));
        for wake in 0..4 {
            let ticket = spot.prepare(&marks, 0);
            marks.wake(Scope::Process, || std::iter::once(&spot));
            assert!(ticket.park(MISSED, Scope::Process), "wake-up {wake} is missed");
        }
    }

    #[test]
    fn a_sleeper_is_woken_where_the_counter_wraps() {
        const WORDS: u32 = 8;
        let (marks, spot) = (WaitMarks::default(), ParkingSpot::starting_at(u32::MAX - 3));
        let (word, seen) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for expected in 1..=WORDS {
                    loop {
                        let ticket = spot.prepare(&marks, 3);
                        if word.load(Ordering::SeqCst) == expected {
                            break;
                        }
                        assert!(ticket.park(MISSED, Scope::Process), "word {expected} is missed");
                    }
                    seen.store(expected, Ordering::Release);
                }
            });
            for next in 1..=WORDS {
                word.fetch_add(1, Ordering::SeqCst);
                marks.wake(Scope::Process, || std::iter::repeat_n(&spot, 4));
                while seen.load(Ordering::Acquire) != next {
                    std::thread::yield_now();
                }
            }
        });
    }
}
