//! Sleeping until another process, or thread, changes a word in shared memory: an event count.
//!
//! Beside the word stands an [`Event`]. A thread that finds the word wanting says there that it is about to
//! sleep, checks the word once more, and sleeps. A thread that changes the word, by a locked instruction or a
//! sequentially consistent store, then looks at the event; only if somebody sleeps does it enter the kernel,
//! once for all that sleep.
//!
//! | bits | meaning |
//! |---|---|
//! | 0 | threads sleep, or are about to |
//! | 1 to 31 | how often sleepers were woken |
//!
//! **No lost wake-up.** Changer and sleeper both write and then read what the other writes, all sequentially
//! consistent. So the sleeper's check sees the change, or the changer sees the bit. In the second case the
//! changer, or another one that has changed a word since, takes the bit away and counts: a sleeper that comes
//! to the kernel after that finds another number than it has noted, and does not sleep.
//!
//! **Once for each sleep.** The waker takes the bit away, and not the sleeper. Else every change would enter
//! the kernel until the sleeper has got a core: a time slice, if there are more processes than cores.
//!
//! Zeros are valid, so an event may lie in memory that processes share.

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{Scope, barrier, futex};
use std::time::Duration;

/// Threads sleep.
const ASLEEP: u32 = 1;

/// Where threads sleep that wait for a word.
///
/// Consumers sleep until there is a ticket, and each takes one:
///
/// ```
/// use heddle_sync::{Event, Scope};
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// let tickets = AtomicU32::new(0);
/// let event = Event::default();
/// let take = || tickets.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             while !take() {
///                 let ticket = event.prepare();
///                 if tickets.load(SeqCst) == 0 {
///                     ticket.sleep(None, Scope::Process);
///                 }
///             }
///         });
///     }
///     for _ in 0..2 {
///         tickets.fetch_add(1, SeqCst);
///         event.wake(Scope::Process);
///     }
/// });
/// assert_eq!(tickets.into_inner(), 0);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Event(AtomicU32);

impl Event {
    /// Says that the caller is about to sleep. It checks the word once more, by a sequentially consistent
    /// load, and then [sleeps](EventTicket::sleep) or does not.
    #[must_use = "check the word once more, then sleep"]
    pub fn prepare(&self) -> EventTicket<'_> {
        let before = self.0.fetch_or(ASLEEP, Ordering::SeqCst);
        barrier::after_locked();
        EventTicket { event: self, seen: before | ASLEEP }
    }

    /// Wakes all that sleep, after a change of the word.
    #[inline(always)]
    pub fn wake(&self, scope: Scope) {
        barrier::after_locked();
        let seen = self.0.load(Ordering::SeqCst);
        if seen & ASLEEP != 0 {
            self.wake_all(seen, scope);
        }
    }

    #[cold]
    fn wake_all(&self, seen: u32, scope: Scope) {
        // Adding 1 takes the bit away and counts. If it fails, another thread wakes those that sleep.
        let next = seen.wrapping_add(1);
        if self.0.compare_exchange(seen, next, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
            futex::wake(&self.0, futex::ALL, scope);
        }
    }
}

/// A thread that is about to sleep.
#[derive(Debug)]
pub struct EventTicket<'a> {
    event: &'a Event,
    seen: u32,
}

impl EventTicket<'_> {
    /// Sleeps until a [`wake`](Event::wake) since [`Event::prepare`]. It may return early. Returns false if
    /// the time ran out.
    pub fn sleep(self, timeout: Option<Duration>, scope: Scope) -> bool {
        futex::wait(&self.event.0, self.seen, timeout, scope)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// So long that a thread sleeps for it only if it missed its wake-up.
    const MISSED: Option<Duration> = Some(Duration::from_secs(20));

    /// An event whose counter wraps at the second wake-up.
    fn before_the_wrap() -> Event {
        Event(AtomicU32::new(u32::MAX - 3))
    }

    #[test]
    fn a_thread_woken_before_it_sleeps_stays_awake_where_the_counter_wraps() {
        let event = before_the_wrap();
        for wake in 0..4 {
            let ticket = event.prepare();
            event.wake(Scope::Process);
            assert!(ticket.sleep(MISSED, Scope::Process), "wake-up {wake} is missed");
        }
        assert!(event.0.load(Ordering::Relaxed) < 8, "it has wrapped");
    }

    #[test]
    fn a_sleeper_is_woken_where_the_counter_wraps() {
        const WORDS: u32 = 8;
        let event = before_the_wrap();
        let (word, seen) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for expected in 1..=WORDS {
                    loop {
                        let ticket = event.prepare();
                        if word.load(Ordering::SeqCst) == expected {
                            break;
                        }
                        assert!(ticket.sleep(MISSED, Scope::Process), "word {expected} is missed");
                    }
                    seen.store(expected, Ordering::Release);
                }
            });
            for next in 1..=WORDS {
                word.fetch_add(1, Ordering::SeqCst);
                event.wake(Scope::Process);
                while seen.load(Ordering::Acquire) != next {
                    std::thread::yield_now();
                }
            }
        });
    }
}
