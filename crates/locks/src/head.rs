//! The head of a lock's queue: the one thread that waits for the lock's word on behalf of all behind it, and
//! the time for which running threads may pass it.
//!
//! A lock of this family is a word that decides which thread is inside, and a queue whose holder is the
//! *head*. The word and its states belong to the lock: [`admission`](crate::admission) has one class
//! of threads and so one head, the two-level lock has a head for each of two classes.
//!
//! | `state` | meaning |
//! |---|---|
//! | `NOBODY` | no thread waits for the word |
//! | `COMING` | the last head, which was inside, has just given the queue to the next thread, which may not have noticed |
//! | `WAITING` | the head waits, awake |
//! | `ASLEEP` | the head sleeps on `state`, or is about to |
//! | `BEHIND` | the head is inside, and saw others in the queue |
//!
//! **Turns.** A turn begins when a head is `COMING`, or came to wait, and is over after the policy's
//! `forced_yield_ns` (four times that while the head is only `COMING`): the next release reserves the word.
//! Releases read the clock after 1, 2, 4, 8, 16, 32, 48 … of them, so that a turn of long critical sections
//! ends in time and one of short sections costs little. A thread that finds the word reserved (as a rule the
//! one that reserved it) *stands back*: it spins, yields a little and sleeps, so that the head gets a core,
//! and queues up when the head is inside. If after twenty turns' time the head still has not come, it was
//! stopped, or the system keeps it from running; then the thread that stood back takes the word itself, and
//! the head has another chance after [`PENALTY`] times that time.
//!
//! **Invariants.**
//!
//! 1. `state` is written only by the holder of the queue, with two exceptions, both by
//!    compare-and-swap: a releaser makes `ASLEEP` `WAITING`, and a thread that finds a reservation
//!    without a head makes `COMING` `NOBODY`.
//! 2. *No lost wake-up*: the head stores `ASLEEP`, passes `heavy`, and checks whether it may take the word
//!    before it sleeps; a thread that makes it possible stores, passes `light`, and checks `state`. One of
//!    them sees the other. The wake-up changes the word that the head sleeps on.
//!
//! **Orderings.** All words here are hints; the word and the queue order them where their holders write them.

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use heddle_sync::wait::{Waiter, time_left};
use heddle_sync::{Next, WaitPolicy};
use std::time::Duration;

/// No thread waits for the word.
const NOBODY: u32 = 0;
/// A thread has been given the queue, and may not have noticed.
const COMING: u32 = 1;
/// The head waits, awake.
const WAITING: u32 = 2;
/// The head sleeps.
const ASLEEP: u32 = 3;
/// The head is inside, and others are in the queue.
const BEHIND: u32 = 4;

/// The number of turns' times in which a head has to appear before the word is reserved for it: about the
/// time in which a sleeper wakes.
const WAKING_TURNS: u64 = 4;

/// The number of turns' times in which a head has to take a word that is reserved for it.
const GRACE: u64 = 20;

/// A head that did not come is let in again after this multiple of that time.
const PENALTY: u64 = 8;

/// The number of yields of a thread that stands back, before it sleeps to leave its core to the head.
const COURTESY: u32 = 10;

/// The largest number of yields that the head puts between two polls (it starts with one): some microseconds.
/// Every poll takes the word's line from a holder that may be about to come again.
const MOST_PAUSES: u32 = 8;

/// Releases read the clock if their number is a multiple of this, or a smaller power of two.
const CLOCK_EVERY: u32 = 16;

/// One class's head; see the [module](self).
#[derive(Debug)]
pub(crate) struct Head<P: Platform> {
    state: P::AtomicU32,
    /// The number of releases in this turn.
    releases: P::AtomicU32,
    /// The time in ticks when it began; in the future after a reservation that no thread took.
    since: P::AtomicU64,
}

/// The word and the queue, as a head sees them.
pub(crate) trait Contest {
    /// Takes the word if the head may.
    fn take(&self) -> bool;

    /// Returns true if there are others in the queue.
    fn company(&self) -> bool;

    /// How long the head may sleep at most, if it has to poll for something without a wake-up.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}

/// The outcome of a poll with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Poll {
    Entered,
    TimeIsUp,
    NotYet,
}

impl<P: Platform> Head<P> {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicInteger::new(NOBODY),
            releases: AtomicInteger::new(0),
            since: AtomicInteger::new(0),
        }
    }

    /// Returns true if no thread waits or comes.
    #[inline(always)]
    pub(crate) fn is_nobody(&self) -> bool {
        self.state.load(Ordering::Relaxed) == NOBODY
    }

    /// Returns true if there is a head that waits outside.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        matches!(self.state.load(Ordering::Relaxed), WAITING | ASLEEP)
    }

    /// See [`RawLock::has_waiters`](heddle_sync::RawLock::has_waiters). A thread that is only
    /// `COMING` may have given up.
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        !matches!(self.state.load(Ordering::Relaxed), NOBODY | COMING)
    }

    /// Leaves the core to the head while `word` is `reserved` for it. Returns true if the head did not come,
    /// and the caller may take the word instead.
    #[cold]
    pub(crate) fn stand_back(
        &self,
        word: &P::AtomicU32,
        reserved: u32,
        policy: &WaitPolicy,
        deadline_ns: Option<u64>,
    ) -> bool {
        let courtesy = WaitPolicy { yields: policy.yields.min(COURTESY), ..*policy };
        let mut waiter = Waiter::<P>::backing_off(&courtesy, 2);
        let (since, grace) = (P::ticks(), turn_ticks::<P>(policy).saturating_mul(GRACE));
        let mut gave_way = false;
        while word.load(Ordering::Relaxed) == reserved {
            if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
                return false;
            }
            let waited = P::ticks().wrapping_sub(since);
            if gave_way && waited >= grace {
                self.begin_turn(P::ticks().wrapping_add(grace.saturating_mul(PENALTY)));
                // It may have given up in the queue; no other thread should stand back for it again.
                self.forget();
                return true;
            }
            let absent = waiter.has_yielded() && self.state.load(Ordering::Relaxed) == COMING;
            if absent && policy.park || waiter.pause() == Next::Park {
                // The system may ignore yields; sleeping leaves the core to the head for certain.
                let left = Duration::from_nanos(P::ticks_to_ns(grace.saturating_sub(waited)));
                P::wait(word, reserved, Some(left), Scope::Process);
                gave_way = true;
            }
            gave_way |= waiter.has_yielded();
        }
        false
    }

    /// Forgets a thread that is said to be coming. Returns true if there was one.
    pub(crate) fn forget(&self) -> bool {
        self.state.compare_exchange(COMING, NOBODY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Waits for the word as the holder of the queue; returns false if the deadline came first.
    pub(crate) fn compete(
        &self,
        policy: &WaitPolicy,
        deadline_ns: Option<u64>,
        contest: &impl Contest,
    ) -> bool {
        // A compare-and-swap, not a load and a store: loom (0.7) does not explore what others read before a
        // thread that reads and then writes.
        if self.state.compare_exchange(COMING, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.begin_turn(P::ticks());
            self.state.store(WAITING, Ordering::Relaxed);
        }
        let mut waiter = Waiter::<P>::backing_off(policy, 1 + usize::from(contest.company()));
        let mut pauses = 1;
        let entered = loop {
            match Self::poll(deadline_ns, contest) {
                Poll::Entered => break true,
                Poll::TimeIsUp => break false,
                Poll::NotYet => {}
            }
            if (0..pauses).any(|_| waiter.pause() == Next::Park) {
                if self.sleep(deadline_ns, contest) {
                    break true;
                }
                waiter.reset();
            }
            if waiter.has_yielded() {
                pauses = (pauses * 2).min(MOST_PAUSES);
            }
        };
        let behind = entered && contest.company();
        self.state.store(if behind { BEHIND } else { NOBODY }, Ordering::Relaxed);
        entered
    }

    fn poll(deadline_ns: Option<u64>, contest: &impl Contest) -> Poll {
        if contest.take() {
            Poll::Entered
        } else if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
            Poll::TimeIsUp
        } else {
            Poll::NotYet
        }
    }

    /// Sleeps once; returns true if the word was taken meanwhile.
    #[cold]
    fn sleep(&self, deadline_ns: Option<u64>, contest: &impl Contest) -> bool {
        self.state.store(ASLEEP, Ordering::Relaxed);
        P::heavy(Scope::Process);
        let entered = contest.take();
        let timeout = [time_left::<P>(deadline_ns), contest.longest_sleep()].into_iter().flatten().min();
        if !entered && timeout != Some(Duration::ZERO) {
            P::wait(&self.state, ASLEEP, timeout, Scope::Process);
        }
        // A swap: after it no releaser can find `ASLEEP` any more.
        self.state.swap(WAITING, Ordering::Relaxed);
        entered
    }

    /// The caller holds the queue and will now give it away; `company` says whether a thread waits there.
    pub(crate) fn hand_on(&self, company: bool) {
        if company {
            self.begin_turn(P::ticks());
        }
        self.state.store(if company { COMING } else { NOBODY }, Ordering::Relaxed);
    }

    fn begin_turn(&self, at_ticks: u64) {
        self.since.store(at_ticks, Ordering::Relaxed);
        self.releases.store(0, Ordering::Relaxed);
    }

    /// Counts a release while a head waits or comes. Returns whether its turn has come.
    #[cold]
    pub(crate) fn turn_is_over(&self, policy: &WaitPolicy) -> bool {
        if policy.forced_yield_ns == 0 {
            return true;
        }
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(1);
        self.releases.store(releases, Ordering::Relaxed);
        if !releases.is_multiple_of(CLOCK_EVERY) && !releases.is_power_of_two() {
            return false;
        }
        let since = self.since.load(Ordering::Relaxed);
        // A head that is not there yet has most likely just been woken: until it comes,
        // other threads may go on.
        let turns = if self.state.load(Ordering::Relaxed) == COMING { WAKING_TURNS } else { 1 };
        // Signed: it may lie in the future.
        P::ticks().wrapping_sub(since).cast_signed()
            >= turn_ticks::<P>(policy).saturating_mul(turns).cast_signed()
    }

    /// Wakes the head if it sleeps, after a store that it should see and `light`. Returns true if
    /// no thread waits or comes.
    #[inline(always)]
    pub(crate) fn rouse(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if state == ASLEEP {
            self.wake();
        }
        state == NOBODY
    }

    /// Wakes the head once for each sleep, however many releases there are until it runs.
    #[cold]
    fn wake(&self) {
        if self.state.compare_exchange(ASLEEP, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            P::wake(&self.state, 1, Scope::Process);
        }
    }
}

fn turn_ticks<P: Platform>(policy: &WaitPolicy) -> u64 {
    P::ns_to_ticks(policy.forced_yield_ns)
}
