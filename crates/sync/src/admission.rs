//! Who may enter next: the thread that runs, for a bounded time, and then the one whose turn it is.
//!
//! **Idea.** A queue lock that hands itself from thread to thread pays two cache-line transfers an acquisition when
//! its waiters run, and a switch between threads when they do not, which with more threads than cores is the rule. So
//! only as many threads circulate as keep the lock busy (here: whoever runs), and the others wait apart, in order,
//! and are let in by turns of time. **Sources:** D. Dice: *Malthusian locks*, EuroSys 2017,
//! doi:10.1145/3064176.3064203; D. Dice, A. Kogan: *Avoiding scalability collapse by restricting concurrency*, Euro-Par
//! 2019, doi:10.1007/978-3-030-29400-7_26; and, for the way in which the two sets meet at one word, *Fissile locks*,
//! NETYS 2020, doi:10.1007/978-3-030-67087-0_13. We depart in that turns are of time and not of acquisitions; that the
//! one who *leaves* the lock measures them, since the one who waits may not be running; and that a turn given to a
//! thread that does not come is taken back.
//!
//! The queue itself is not here: it is that of the lock around ([`Fissile`](crate::Fissile)), whose holder is the
//! *head*. Only the head waits for this word.
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | anybody may take it | compare-and-swap to `HELD` |
//! | `HELD` | somebody is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | the head may take it, others only if it does not | compare-and-swap to `HELD` |
//!
//! | `head` | meaning |
//! |---|---|
//! | `NOBODY` | nobody waits for the word |
//! | `COMING` | who was inside as the head has just given the queue to the next, who has perhaps not noticed |
//! | `WAITING` | the head waits, awake |
//! | `ASLEEP` | the head sleeps on `head`, or is about to |
//! | `BEHIND` | the head is inside, and saw others in the queue |
//!
//! **Turns.** A turn begins when a head is `COMING`, or came to wait, and is over after the policy's `forced_yield_ns`
//! (four times that as long as the head is only `COMING`): the next release reserves the word. Releases look at the clock
//! after 1, 2, 4, 8, 16, 32, 48 … of them, so that a turn of long sections ends in time and one of short sections costs
//! little. Whoever finds the word reserved, which as a rule is the thread that reserved it, *stands back*: it spins, yields
//! a little and sleeps, so that the head gets a core, and queues up when the head is inside. If after twenty turns' time
//! the head still has not come, it was stopped, or the system keeps it from running; then who stood back takes the word
//! itself, and the head has another chance after [`PENALTY`] times that time.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. `head` is written only by the holder of the queue, with two exceptions, both by compare-and-swap: a releaser
//!    makes `ASLEEP` `WAITING`, and who finds a reservation for nobody makes `COMING` `NOBODY`.
//! 3. *No lost wake-up*: the head stores `ASLEEP`, passes `heavy`, and looks at `state` before it sleeps; a releaser
//!    stores `state`, passes `light`, and looks at `head`. One of them sees the other. The wake-up changes the word
//!    that is slept on.
//! 4. `RESERVED` locks nobody out: the head takes it; without one (it gave up) an arrival does, at once by way of the
//!    queue or after standing back.
//!
//! **Orderings.** The store to `state` (Release) pairs with the compare-and-swap (Acquire). All else is hints, ordered
//! by the lock where holders write them.

use crate::fault::{Fault, injected};
use crate::wait::{Next, WaitPolicy, Waiter, time_left};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use std::time::Duration;

/// Anybody may take it.
const FREE: u32 = 0;
/// Somebody is inside.
const HELD: u32 = 1;
/// The head may take it.
const RESERVED: u32 = 2;

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

/// How many turns' time a head has for showing itself before the word is reserved for it: about as long as a sleeper
/// takes to be woken.
const WAKING_TURNS: u64 = 4;

/// How many turns' time a head for which the word is reserved has for taking it.
const GRACE: u64 = 20;

/// After how many times that time a head that did not come is let in again.
const PENALTY: u64 = 8;

/// How many yields who stands back tries before it leaves its core to the head by sleeping.
const COURTESY: u32 = 10;

/// How many yields the head puts between two looks in the end (it starts with one): some microseconds. Every look
/// takes the word's line from a holder that may be about to come again.
const MOST_PAUSES: u32 = 8;

/// After a number of releases that is a multiple of this, or a smaller power of two, the clock is read.
const CLOCK_EVERY: u32 = 16;

/// The word; see the [module](self).
#[derive(Debug)]
pub(crate) struct Admission<P: Platform> {
    state: P::AtomicU32,
    head: P::AtomicU32,
    /// How many releases this turn has seen.
    releases: P::AtomicU32,
    /// When it began, in ticks; in the future after a reservation that nobody took.
    since: P::AtomicU64,
    pub(crate) policy: WaitPolicy,
}

/// How a look at a deadline went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Entered,
    TimeIsUp,
    NotYet,
}

impl<P: Platform> Admission<P> {
    pub(crate) fn new(policy: WaitPolicy) -> Self {
        Self {
            state: AtomicInteger::new(FREE),
            head: AtomicInteger::new(NOBODY),
            releases: AtomicInteger::new(0),
            since: AtomicInteger::new(0),
            policy,
        }
    }

    /// Whether nobody may come again before those who wait: then the word is not used at all.
    #[inline(always)]
    pub(crate) fn is_strict(&self) -> bool {
        self.policy.forced_yield_ns == 0
    }

    /// Takes the word if anybody may.
    #[inline(always)]
    pub(crate) fn take(&self) -> bool {
        self.take_from(FREE)
    }

    #[inline(always)]
    fn take_from(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether a try may succeed for anybody, and if not, for who holds the queue.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE
    }

    #[inline(always)]
    pub(crate) fn is_reserved(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RESERVED
    }

    /// Takes the word for the holder of the queue.
    pub(crate) fn take_as_head(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            HELD => false,
            RESERVED if injected(Fault::AdmissionReservationUnknown) => false,
            free_or_reserved => self.take_from(free_or_reserved),
        }
    }

    /// As long as the word is reserved, waits for the head to take it. True if the caller has taken the word: the head
    /// did not come.
    #[cold]
    pub(crate) fn stand_back(&self, deadline_ns: Option<u64>) -> bool {
        let policy = WaitPolicy { yields: self.policy.yields.min(COURTESY), ..self.policy };
        let mut waiter = Waiter::<P>::backing_off(&policy, 2);
        let (since, grace) = (P::ticks(), self.turn_ticks().saturating_mul(GRACE));
        let mut gave_way = false;
        while self.is_reserved() {
            if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
                return false;
            }
            let waited = P::ticks().wrapping_sub(since);
            if gave_way && waited >= grace {
                return self.take_back(grace);
            }
            let absent = waiter.has_yielded() && self.head.load(Ordering::Relaxed) == COMING;
            if absent && self.policy.park || waiter.pause() == Next::Park {
                // By yields alone the system need not leave the core to the head.
                let left = Duration::from_nanos(P::ticks_to_ns(grace.saturating_sub(waited)));
                P::wait(&self.state, RESERVED, Some(left), Scope::Process);
                gave_way = true;
            }
            gave_way |= waiter.has_yielded();
        }
        self.is_free() && self.take()
    }

    /// Takes a reserved word whose head did not come.
    fn take_back(&self, grace: u64) -> bool {
        self.begin_turn(P::ticks().wrapping_add(grace.saturating_mul(PENALTY)));
        // Perhaps it gave up in the queue, and nobody is to stand back for it again.
        let _ = self.head.compare_exchange(COMING, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
        self.take_from(RESERVED)
    }

    /// Waits for the word as the holder of the queue; false if the deadline came first. `company` says whether there are
    /// others in the queue.
    pub(crate) fn compete(&self, deadline_ns: Option<u64>, company: impl Fn() -> bool) -> bool {
        if self.head.load(Ordering::Relaxed) != COMING {
            self.begin_turn(P::ticks());
        }
        self.head.store(WAITING, Ordering::Relaxed);
        let mut waiter = Waiter::<P>::backing_off(&self.policy, 1 + usize::from(company()));
        let mut pauses = 1;
        let entered = loop {
            match self.look(deadline_ns) {
                Look::Entered => break true,
                Look::TimeIsUp => break false,
                Look::NotYet => {}
            }
            if (0..pauses).any(|_| waiter.pause() == Next::Park) {
                if self.sleep(deadline_ns) {
                    break true;
                }
                waiter.reset();
            }
            if waiter.has_yielded() {
                pauses = (pauses * 2).min(MOST_PAUSES);
            }
        };
        let behind = entered && company();
        self.head.store(if behind { BEHIND } else { NOBODY }, Ordering::Relaxed);
        entered
    }

    fn look(&self, deadline_ns: Option<u64>) -> Look {
        if self.take_as_head() {
            Look::Entered
        } else if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
            Look::TimeIsUp
        } else {
            Look::NotYet
        }
    }

    /// Sleeps once; true if the word was taken on the way.
    #[cold]
    fn sleep(&self, deadline_ns: Option<u64>) -> bool {
        self.head.store(ASLEEP, Ordering::Relaxed);
        if !injected(Fault::AdmissionWithoutHeavy) {
            P::heavy(Scope::Process);
        }
        let entered = !injected(Fault::AdmissionWithoutSecondLook) && self.take_as_head();
        let time_left = time_left::<P>(deadline_ns);
        if !entered && time_left != Some(Duration::ZERO) {
            P::wait(&self.head, ASLEEP, time_left, Scope::Process);
        }
        // A swap: after it no releaser can find `ASLEEP` any more.
        self.head.swap(WAITING, Ordering::Relaxed);
        entered
    }

    /// The caller is inside as the head and will now give the queue away; `company` says whether to somebody.
    pub(crate) fn hand_on(&self, company: bool) {
        if company {
            self.begin_turn(P::ticks());
        }
        self.head.store(if company { COMING } else { NOBODY }, Ordering::Relaxed);
    }

    fn begin_turn(&self, at_ticks: u64) {
        self.since.store(at_ticks, Ordering::Relaxed);
        self.releases.store(0, Ordering::Relaxed);
    }

    fn turn_ticks(&self) -> u64 {
        P::ns_to_ticks(self.policy.forced_yield_ns)
    }

    /// Sets the word free, for the head alone if its turn has come.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        let somebody = self.head.load(Ordering::Relaxed) != NOBODY;
        let left = if somebody && self.turn_is_over() { RESERVED } else { FREE };
        let order =
            if injected(Fault::AdmissionRelaxedRelease) { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in take_from().
        self.state.store(left, order);
        if !injected(Fault::AdmissionWithoutLight) {
            P::light();
        }
        if self.head.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Counts a release while somebody waits.
    #[cold]
    fn turn_is_over(&self) -> bool {
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(1);
        self.releases.store(releases, Ordering::Relaxed);
        if !releases.is_multiple_of(CLOCK_EVERY) && !releases.is_power_of_two() {
            return false;
        }
        let since = self.since.load(Ordering::Relaxed);
        // A head that is not there yet has most likely just been woken: until it comes somebody may as well go on.
        let turns = if self.head.load(Ordering::Relaxed) == COMING { WAKING_TURNS } else { 1 };
        // Signed: it may lie in the future.
        P::ticks().wrapping_sub(since).cast_signed() >= self.turn_ticks().saturating_mul(turns).cast_signed()
    }

    /// Once for each sleep, however many releases there are until the sleeper runs.
    #[cold]
    fn wake(&self) {
        if self.head.compare_exchange(ASLEEP, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            P::wake(&self.head, 1, Scope::Process);
        }
    }

    /// As [`RawLock::has_waiters`](crate::RawLock::has_waiters). Who is only `COMING` may have given up.
    #[inline]
    pub(crate) fn has_waiters(&self) -> bool {
        !matches!(self.head.load(Ordering::Relaxed), NOBODY | COMING)
    }
}
