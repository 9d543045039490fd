//! The head of a lock's queue: the one thread that waits for the lock's word on behalf of all behind it, and
//! how long those who run may pass it.
//!
//! A lock of this family is a word that decides who is inside, and a queue whose holder is the *head*. The
//! word and its states belong to the lock: [`admission`](crate::locks::admission) has one class of threads
//! and so one head, the two-level lock has a head for each of two classes.
//!
//! | `place` | meaning |
//! |---|---|
//! | `NOBODY` | nobody waits for the word |
//! | `COMING` | who was inside as the head has just given the queue to the next, who has perhaps not noticed |
//! | `WAITING` | the head waits, awake |
//! | `ASLEEP` | the head sleeps on `place`, or is about to |
//! | `BEHIND` | the head is inside, and saw others in the queue |
//!
//! **Turns.** A turn begins when a head is `COMING`, or came to wait, and is over after the policy's
//! `forced_yield_ns` (four times that as long as the head is only `COMING`): the next release reserves the
//! word. Releases look at the clock after 1, 2, 4, 8, 16, 32, 48 … of them, so that a turn of long sections
//! ends in time and one of short sections costs little. A thread that finds the word reserved (as a rule the
//! one that reserved it) *stands back*: it spins, yields a little and sleeps, so that the head gets a core,
//! and queues up when the head is inside. If after twenty turns' time the head still has not come, it was
//! stopped, or the system keeps it from running; then who stood back takes the word itself, and the head has
//! another chance after [`PENALTY`] times that time.
//!
//! **Invariants.**
//!
//! 1. `place` is written only by the holder of the queue, with two exceptions, both by compare-and-swap: a
//!    releaser makes `ASLEEP` `WAITING`, and who finds a reservation for nobody makes `COMING` `NOBODY`.
//! 2. *No lost wake-up*: the head stores `ASLEEP`, passes `heavy`, and looks whether it may take the word
//!    before it sleeps; whoever makes it possible stores, passes `light`, and looks at `place`. One of them
//!    sees the other. The wake-up changes the word that is slept on.
//!
//! **Orderings.** All here is hints, ordered by the word and the queue where their holders write them.

use crate::waiting::wait::{Next, WaitPolicy, Waiter, time_left};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use std::time::Duration;

/// Nobody waits for the word.
const NOBODY: u32 = 0;
/// Somebody has been given the queue, and has perhaps not noticed.
const COMING: u32 = 1;
/// The head waits, awake.
const WAITING: u32 = 2;
/// The head sleeps.
const ASLEEP: u32 = 3;
/// The head is inside, and others are in the queue.
const BEHIND: u32 = 4;

/// How many turns' time a head has for showing itself before the word is reserved for it: about as long as a
/// sleeper takes to be woken.
const WAKING_TURNS: u64 = 4;

/// How many turns' time a head for which the word is reserved has for taking it.
const GRACE: u64 = 20;

/// After how many times that time a head that did not come is let in again.
const PENALTY: u64 = 8;

/// How many yields who stands back tries before it leaves its core to the head by sleeping.
const COURTESY: u32 = 10;

/// How many yields the head puts between two looks in the end (it starts with one): some microseconds. Every
/// look takes the word's line from a holder that may be about to come again.
const MOST_PAUSES: u32 = 8;

/// After a number of releases that is a multiple of this, or a smaller power of two, the clock is read.
const CLOCK_EVERY: u32 = 16;

/// One class's head; see the [module](self).
#[derive(Debug)]
pub(crate) struct Head<P: Platform> {
    place: P::AtomicU32,
    /// How many releases this turn has seen.
    releases: P::AtomicU32,
    /// When it began, in ticks; in the future after a reservation that nobody took.
    since: P::AtomicU64,
}

/// What a head finds at its word and its queue.
pub(crate) trait Contest {
    /// Takes the word if the head may.
    fn take(&self) -> bool;

    /// Whether there are others in the queue.
    fn company(&self) -> bool;

    /// How long the head may sleep at most, if it is to look by itself at what nobody would wake it for.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}

/// How a look at a deadline went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Entered,
    TimeIsUp,
    NotYet,
}

impl<P: Platform> Head<P> {
    pub(crate) fn new() -> Self {
        Self {
            place: AtomicInteger::new(NOBODY),
            releases: AtomicInteger::new(0),
            since: AtomicInteger::new(0),
        }
    }

    /// Whether nobody waits or comes.
    #[inline(always)]
    pub(crate) fn is_nobody(&self) -> bool {
        self.place.load(Ordering::Relaxed) == NOBODY
    }

    /// Whether the head is there, and outside.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        matches!(self.place.load(Ordering::Relaxed), WAITING | ASLEEP)
    }

    /// As [`RawLock::has_waiters`](crate::RawLock::has_waiters). A thread that is only `COMING` may have
    /// given up.
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        !matches!(self.place.load(Ordering::Relaxed), NOBODY | COMING)
    }

    /// As long as `word` is `reserved` for the head, leaves the core to it. True if the head did not come,
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
                // Perhaps it gave up in the queue, and nobody is to stand back for it again.
                self.forget();
                return true;
            }
            let absent = waiter.has_yielded() && self.place.load(Ordering::Relaxed) == COMING;
            if absent && policy.park || waiter.pause() == Next::Park {
                // By yields alone the system need not leave the core to the head.
                let left = Duration::from_nanos(P::ticks_to_ns(grace.saturating_sub(waited)));
                P::wait(word, reserved, Some(left), Scope::Process);
                gave_way = true;
            }
            gave_way |= waiter.has_yielded();
        }
        false
    }

    /// Nobody is coming. True if somebody was thought to be.
    pub(crate) fn forget(&self) -> bool {
        self.place.compare_exchange(COMING, NOBODY, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Waits for the word as the holder of the queue; false if the deadline came first.
    pub(crate) fn compete(
        &self,
        policy: &WaitPolicy,
        deadline_ns: Option<u64>,
        contest: &impl Contest,
    ) -> bool {
        // Not a look and a store: loom (0.7) does not explore what others read before a thread that reads and
        // then writes.
        if self.place.compare_exchange(COMING, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.begin_turn(P::ticks());
            self.place.store(WAITING, Ordering::Relaxed);
        }
        let mut waiter = Waiter::<P>::backing_off(policy, 1 + usize::from(contest.company()));
        let mut pauses = 1;
        let entered = loop {
            match Self::look(deadline_ns, contest) {
                Look::Entered => break true,
                Look::TimeIsUp => break false,
                Look::NotYet => {}
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
        self.place.store(if behind { BEHIND } else { NOBODY }, Ordering::Relaxed);
        entered
    }

    fn look(deadline_ns: Option<u64>, contest: &impl Contest) -> Look {
        if contest.take() {
            Look::Entered
        } else if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
            Look::TimeIsUp
        } else {
            Look::NotYet
        }
    }

    /// Sleeps once; true if the word was taken on the way.
    #[cold]
    fn sleep(&self, deadline_ns: Option<u64>, contest: &impl Contest) -> bool {
        self.place.store(ASLEEP, Ordering::Relaxed);
        P::heavy(Scope::Process);
        let entered = contest.take();
        let timeout = [time_left::<P>(deadline_ns), contest.longest_sleep()].into_iter().flatten().min();
        if !entered && timeout != Some(Duration::ZERO) {
            P::wait(&self.place, ASLEEP, timeout, Scope::Process);
        }
        // A swap: after it no releaser can find `ASLEEP` any more.
        self.place.swap(WAITING, Ordering::Relaxed);
        entered
    }

    /// The caller holds the queue and will now give it away; `company` says whether to somebody.
    pub(crate) fn hand_on(&self, company: bool) {
        if company {
            self.begin_turn(P::ticks());
        }
        self.place.store(if company { COMING } else { NOBODY }, Ordering::Relaxed);
    }

    fn begin_turn(&self, at_ticks: u64) {
        self.since.store(at_ticks, Ordering::Relaxed);
        self.releases.store(0, Ordering::Relaxed);
    }

    /// Counts a release while somebody waits.
    #[cold]
    pub(crate) fn turn_is_over(&self, policy: &WaitPolicy) -> bool {
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(1);
        self.releases.store(releases, Ordering::Relaxed);
        if !releases.is_multiple_of(CLOCK_EVERY) && !releases.is_power_of_two() {
            return false;
        }
        let since = self.since.load(Ordering::Relaxed);
        // A head that is not there yet has most likely just been woken: until it comes somebody may as well
        // go on.
        let turns = if self.place.load(Ordering::Relaxed) == COMING { WAKING_TURNS } else { 1 };
        // Signed: it may lie in the future.
        P::ticks().wrapping_sub(since).cast_signed()
            >= turn_ticks::<P>(policy).saturating_mul(turns).cast_signed()
    }

    /// Wakes the head if it sleeps, after a store that it should see and `light`. True if nobody waits or
    /// comes.
    #[inline(always)]
    pub(crate) fn rouse(&self) -> bool {
        let place = self.place.load(Ordering::Relaxed);
        if place == ASLEEP {
            self.wake();
        }
        place == NOBODY
    }

    /// Once for each sleep, however many releases there are until the sleeper runs.
    #[cold]
    fn wake(&self) {
        if self.place.compare_exchange(ASLEEP, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            P::wake(&self.place, 1, Scope::Process);
        }
    }
}

fn turn_ticks<P: Platform>(policy: &WaitPolicy) -> u64 {
    P::ns_to_ticks(policy.forced_yield_ns)
}
