//! Waiting for a number of events with one wake-up, by the thread that completes the last one.
//!
//! **What it gives.** A thread that waits for n operations sleeps until all of them are done, however many
//! threads complete them, and only that thread is woken: it never tries a lock in vain, and the cost is O(1)
//! whatever the number of waiters. An event costs its completer one atomic subtraction; the last one adds a
//! system call only if the waiter sleeps.
//!
//! **Source.** The *synchronization counter* of Amer et al., *Lock Contention Management in
//! Multithreaded MPI*, ACM TOPC 5(3), 2019, doi:10.1145/3275443, section 6.1, and reference 13 there
//! (Dang, Seo, Amer, Balaji: *Advanced thread synchronization for multithreaded MPI implementations*,
//! CCGrid 2017, pages 314-324). There the waiter sleeps on a condition variable of the critical section;
//! here on the counter itself.
//!
//! The state is one word, which is also the futex:
//!
//! | bits | meaning | set by | cleared by |
//! |---|---|---|---|
//! | all but the low two | events that are still to come | [`new`](SyncCounter::new), [`expect`](SyncCounter::expect) | [`signal`](SyncCounter::signal), one each |
//! | `NUDGED` | the waiter shall get up before its events are there | [`nudge`](SyncCounter::nudge) | the waiter |
//! | `ASLEEP` | the waiter sleeps or is about to | the waiter | the waiter if events are missing; else the last signaller |
//!
//! **Invariants.**
//!
//! 1. *Exactly one wake-up.* One signal takes the number to zero. It wakes the waiter if it finds `ASLEEP` in
//!    the same atomic step; no other signal wakes it.
//! 2. *No lost wake-up.* `ASLEEP` is set by compare-and-swap against a number that is not zero, and
//!    the waiter sleeps only while the word is the one it set. So either the last signal comes
//!    before, and the waiter sees zero; or it comes after, and finds `ASLEEP`, and its wake-up comes
//!    after its change of the word.
//! 3. *No thread touches a counter that is gone.* A signal's last access is its subtraction, except for the
//!    last signal of a sleeping waiter: that one clears `ASLEEP` after its wake-up, and the waiter waits
//!    for that. So when [`is_done`](SyncCounter::is_done) is true, all signals have left, and a counter may
//!    live on its waiter's stack.
//!
//! **Orderings.** A signal is Release and Acquire: the waiter's Acquire of the last one makes the earlier
//! writes of all signallers visible.
//!
//! **Liveness.** A signaller that does not run delays only the waiter for its event; if it is stopped
//! between its wake-up and its last access, the waiter yields until it is done. A waiter that does not
//! run delays no other thread.

use crate::waiting::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

const ASLEEP: u32 = 1;
const NUDGED: u32 = 2;
const EVENT: u32 = 4;

/// The largest number of events that a counter can wait for at a time.
pub const MOST_EVENTS: u32 = u32::MAX / EVENT;

/// Counts down to its waiter's wake-up; see the [module](self).
///
/// A thread waits for three others with one wake-up:
///
/// ```
/// use heddle_sync::{SyncCounter, WaitPolicy};
///
/// let done = SyncCounter::new(3);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| done.signal());
///     }
///     done.wait(&WaitPolicy::DEFAULT);
///     assert_eq!(done.missing(), 0);
/// });
/// ```
#[derive(Debug)]
pub struct SyncCounter<P: Platform = Native> {
    word: P::AtomicU32,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// All events are there.
    Done,
    /// Another thread [nudged](SyncCounter::nudge) the waiter; events are missing.
    Nudged,
    /// The time ran out; events are missing.
    TimedOut,
}

impl<P: Platform> SyncCounter<P> {
    /// A counter that waits for `events` events, at most [`MOST_EVENTS`].
    #[must_use]
    pub fn new(events: u32) -> Self {
        debug_assert!(events <= MOST_EVENTS);
        Self { word: P::AtomicU32::new(events * EVENT) }
    }

    /// Adds `events` to the events that are to come. The waiter calls it, before the operation can complete;
    /// it may call it on a counter that is done, to use it again.
    #[inline]
    pub fn expect(&self, events: u32) {
        let before = self.word.fetch_add(events * EVENT, Ordering::Relaxed);
        debug_assert!(before / EVENT + events <= MOST_EVENTS && before & ASLEEP == 0);
    }

    /// Signals an event. Returns whether it was the last; after that the counter may be gone.
    #[inline]
    pub fn signal(&self) -> bool {
        // Release: publishes what the event brought. Acquire: sees what the earlier ones brought.
        let before = self.word.fetch_sub(EVENT, Ordering::AcqRel);
        debug_assert!(before >= EVENT, "more events than were expected");
        let last = before / EVENT == 1;
        if last && before & ASLEEP != 0 {
            self.wake_done();
        }
        last
    }

    #[cold]
    fn wake_done(&self) {
        P::wake(&self.word, 1, Scope::Process);
        // Release: the same as the subtraction, which this covers. The last access (invariant 3).
        self.word.fetch_and(!ASLEEP, Ordering::Release);
    }

    /// Makes the waiter get up although events are missing; see [`Wake::Nudged`]. The caller knows that the
    /// counter is alive. It has no effect on a waiter whose events are all there.
    pub fn nudge(&self) {
        // Release: the waiter sees what the nudger did before.
        let before = self.word.fetch_or(NUDGED, Ordering::Release);
        if before & ASLEEP != 0 && before >= EVENT {
            P::wake(&self.word, 1, Scope::Process);
        }
    }

    /// Returns true if all events are there, and all signallers have left the counter.
    #[inline]
    #[must_use]
    pub fn is_done(&self) -> bool {
        // Acquire: pairs with signal().
        self.word.load(Ordering::Acquire) & !NUDGED == 0
    }

    /// The number of missing events; it may be outdated at once.
    #[must_use]
    pub fn missing(&self) -> u32 {
        self.word.load(Ordering::Relaxed) / EVENT
    }

    /// Waits until all events are there. One thread waits at a time.
    #[inline]
    pub fn wait(&self, policy: &WaitPolicy) {
        while self.wait_until(policy, None) != Wake::Done {}
    }

    /// Waits until all events are there, a thread nudges the waiter, or [`Platform::now_ns`] has reached
    /// `deadline_ns`. One thread waits at a time.
    #[inline]
    pub fn wait_until(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> Wake {
        if self.is_done() { Wake::Done } else { self.wait_slow(policy, deadline_ns) }
    }

    #[cold]
    fn wait_slow(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> Wake {
        let mut waiter = Waiter::<P>::new(policy, 1);
        loop {
            // Acquire: pairs with signal() and nudge().
            let word = self.word.load(Ordering::Acquire);
            if word & !NUDGED == 0 {
                return Wake::Done;
            }
            if word >= EVENT {
                if word & NUDGED != 0 {
                    self.word.fetch_and(!NUDGED, Ordering::Relaxed);
                    return Wake::Nudged;
                }
                if deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                    return Wake::TimedOut;
                }
            }
            if waiter.pause() == Next::Park {
                if word >= EVENT {
                    self.sleep(deadline_ns);
                } else {
                    // The last signaller is about to leave (invariant 3).
                    P::yield_now();
                }
            }
        }
    }

    /// Sleeps until the last event, a nudge, the deadline, or for no reason; then gets up.
    fn sleep(&self, deadline_ns: Option<u64>) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word < EVENT || word & NUDGED != 0 {
                return;
            }
            match self.replace(word, word | ASLEEP) {
                Ok(asleep) => word = asleep,
                Err(now) => {
                    word = now;
                    continue;
                }
            }
            break;
        }
        // Events that come meanwhile change the word, but wake no thread: only a change
        // before the sleep ends it.
        while word >= EVENT && word & NUDGED == 0 {
            let timeout = deadline_ns.map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(P::now_ns())));
            let in_time = P::wait(&self.word, word, timeout, Scope::Process);
            word = self.word.load(Ordering::Relaxed);
            if !in_time {
                break;
            }
        }
        // Gets up, unless the last event is there: then its signaller clears the mark (invariant 3).
        while word >= EVENT {
            match self.replace(word, word & !ASLEEP) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    fn replace(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).map(|_| to)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

    #[test]
    fn counts_down() {
        let counter = SyncCounter::<Native>::new(2);
        assert!(!counter.signal() && !counter.is_done());
        assert_eq!(counter.missing(), 1);
        assert!(counter.signal() && counter.is_done());
        counter.wait(&POLICY);
        counter.expect(1);
        assert!(!counter.is_done() && counter.signal() && counter.is_done());
    }

    #[test]
    fn time_runs_out_and_leaves_the_counter_usable() {
        let counter = SyncCounter::<Native>::new(1);
        let deadline_ns = Native::now_ns() + 2_000_000;
        assert_eq!(counter.wait_until(&POLICY, Some(deadline_ns)), Wake::TimedOut);
        assert!(Native::now_ns() >= deadline_ns);
        counter.signal();
        assert_eq!(counter.wait_until(&POLICY, Some(0)), Wake::Done);
    }

    #[test]
    fn a_nudge_gets_the_waiter_up_once() {
        let counter = SyncCounter::<Native>::new(1);
        counter.nudge();
        assert_eq!(counter.wait_until(&POLICY, None), Wake::Nudged);
        assert_eq!(counter.wait_until(&POLICY, Some(0)), Wake::TimedOut);
        counter.nudge();
        counter.signal();
        assert_eq!(counter.wait_until(&POLICY, None), Wake::Done);
    }
}
