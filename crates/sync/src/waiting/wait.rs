//! How to wait: spin about a cache-line round trip, then yield while polling, then sleep.
//!
//! The reasons for these three, measured with one thread on each core and with many more threads than cores:
//!
//! - **Spin first.** An answer from another core arrives within a few hundred nanoseconds; a spin shorter
//!   than that, or a yield on every miss, costs several times the latency while cores are free. The spin is a
//!   *time*, not a count of turns, since a turn costs what the caller's poll costs.
//! - **Then yield.** With more threads than cores, the thread that will bring the event usually
//!   is not running. A yield lets it run and costs half a microsecond; a spin without a yield
//!   costs its whole time slice.
//! - **Poll seldom where many do.** A poll takes the word's cache line from the thread that is to change it.
//!   Waiters of one lock therefore poll at intervals in proportion to their number.
//! - **Sleep last.** A wake-up costs the waker 8 µs and the sleeper 30 µs, so a thread sleeps only after
//!   about a hundred fruitless yields; then it costs the other threads nothing.
//!
//! Beside a thread that computes, a yield costs a whole time slice ([`Platform::is_yield_dear`]), and a
//! thread that has slept gets its core back at once. There the spin is twenty times as long, a waiter
//! sleeps after it without a yield, and no thread yields only to be fair. Among many waiters of the same
//! process, which wake each other, it yields all the same. A wait may [begin so](Waiter::sleeping_early).
//!
//! A lock is not an event that comes once: the threads that use it come again and again, and a waiter that
//! polls without a pause takes the lock's cache line from them each time. So a thread that finds a lock taken
//! starts with yields, each followed by one try ([`WaitPolicy::first_tries`]). Only then it joins the
//! waiters, which takes two locked instructions on that line and makes every release check for waiters.
//! Measured as MPI messages under one lock: two threads that issue without a pause went from 8.2 to 11.0
//! million a second, four that exchange messages with four of another process from 13.5 to 14.8.
//!
//! When several threads of the process wait at once (the *crowd*), spinning takes cores from the threads
//! that would make progress; then the spin is a tenth. A thread that always finds its event at once
//! would never yield. In a crowd, [`Waiter::reset`] makes it yield after `forced_yield_ns`, so that the
//! others keep their share.

use heddle_platform::{Native, Platform};
use std::marker::PhantomData;
use std::time::Duration;

/// How many tries and yields a wait has, how long its spin is, and whether it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPolicy {
    /// How many times a thread that finds the lock taken yields and tries again before it joins the waiters,
    /// if the lock's order is not strict. This disturbs the threads inside least.
    pub first_tries: u32,
    /// How long to spin before the first yield if no other thread of this process waits;
    /// in a crowd a tenth of it.
    pub spin_ns: u64,
    /// How many times to yield, polling in between, before sleeping.
    pub yields: u32,
    /// True if the thread sleeps in the end; otherwise it goes on with yields.
    pub park: bool,
    /// How long a thread may go on without a yield while others wait. For a queue lock: how long the running
    /// thread may come again before the waiters; with 0 it never may, and the order is strict.
    pub forced_yield_ns: u64,
}

impl WaitPolicy {
    /// The measured default.
    pub const DEFAULT: Self =
        Self { first_tries: 10, spin_ns: 1_000, yields: 100, park: true, forced_yield_ns: 50_000 };

    /// Queue locks keep their order strictly: no thread comes again before the waiters. With more threads
    /// than cores each acquisition then costs a switch between threads.
    pub const STRICT: Self = Self { forced_yield_ns: 0, ..Self::DEFAULT };

    /// Sleeps at once, without a spin or a yield.
    pub const PARK_AT_ONCE: Self = Self { first_tries: 0, spin_ns: 0, yields: 0, ..Self::DEFAULT };
}

/// The number of yields that a waiter makes before it sleeps if it is not the next.
const YIELDS_APART: u32 = 4;

impl WaitPolicy {
    /// The policy for waiters behind another waiter: their wait is long, and on a core they would only
    /// disturb. If the order is strict, every turn comes soon, and nothing changes. It is the policy for a
    /// lock under a `Fissile` or `TwoLevel` lock (`heddle-locks`).
    #[must_use]
    pub const fn apart(self) -> Self {
        let yields = if self.yields < YIELDS_APART { self.yields } else { YIELDS_APART };
        if self.forced_yield_ns == 0 { self } else { Self { yields, ..self } }
    }
}

impl Default for WaitPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The factor by which the spin is longer if a yield costs a time slice.
const WHERE_YIELDS_ARE_DEAR: u64 = 20;

/// With more waiting threads per core than this, a long yield says nothing about threads that compute.
const MANY_PER_CORE: usize = 2;

/// How many threads of a crowd that polls one word add a yield between two polls of each. A line of memory
/// goes to one core after the other: 44 threads that poll after each yield keep it from the holder.
const CROWD_PER_YIELD: usize = 4;

/// The longest pause of a [`Waiter::backing_off`]: some hundred nanoseconds on today's processors.
const MOST_HINTS: u32 = 16;

/// What to do after a turn of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Poll again, and call [`Waiter::pause`] again if there is nothing.
    Poll,
    /// The wait has taken long: go to sleep, for instance on a [`Doorbell`](crate::Doorbell). This
    /// time `pause` has not waited.
    Park,
}

/// One thread's wait for one event. Making one costs a few stores; the first pause reads the clock.
#[derive(Clone, Debug)]
pub struct Waiter<P = Native> {
    policy: WaitPolicy,
    crowd: usize,
    phase: Phase,
    /// The number of spin hints that the next spinning pause takes, and whether that number doubles.
    hints: u32,
    backs_off: bool,
    sleeps_early: bool,
    /// The time, in ticks, at which the thread was first seen making progress since its
    /// last yield; 0 if it was not.
    busy_since: u64,
    _platform: PhantomData<P>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Fresh,
    Spinning { since: u64, budget: u64 },
    Yielding { times: u32 },
}

impl<P: Platform> Waiter<P> {
    /// Starts a wait. `crowd` is the number of threads of this process that wait now, the caller included.
    #[inline]
    #[must_use]
    pub fn new(policy: &WaitPolicy, crowd: usize) -> Self {
        Self {
            policy: *policy,
            crowd,
            phase: Phase::Fresh,
            hints: 1,
            backs_off: false,
            sleeps_early: false,
            busy_since: 0,
            _platform: PhantomData,
        }
    }

    /// Starts a wait for a word that other threads write meanwhile, such as a contended lock's. Each pause
    /// of the spin is twice as long as the one before, since every poll takes the cache line from the
    /// threads that work with it. And it yields more than once between polls where many wait, so that all of
    /// them together poll at a rate that hardly grows with their number; but when a yield has let another
    /// thread run, it polls.
    #[inline]
    #[must_use]
    pub fn backing_off(policy: &WaitPolicy, crowd: usize) -> Self {
        Self { backs_off: true, ..Self::new(policy, crowd) }
    }

    /// The same wait, which does not yield before it sleeps: it spins for as long as where a yield costs a
    /// time slice, and then sleeps.
    #[must_use]
    pub fn sleeping_early(self) -> Self {
        Self { sleeps_early: true, ..self }
    }

    /// Waits a turn: some nanoseconds of spinning, or one yield. If it returns
    /// [`Next::Park`], it has not waited.
    #[inline]
    pub fn pause(&mut self) -> Next {
        match self.phase {
            Phase::Spinning { since, budget } if P::ticks().wrapping_sub(since) < budget => {
                self.spin();
                Next::Poll
            }
            Phase::Fresh => self.first_pause(),
            Phase::Spinning { .. } => self.yield_turn(0),
            Phase::Yielding { times } => self.yield_turn(times),
        }
    }

    /// Starts the wait anew, because the event came or there is another reason to poll on: the next
    /// pause begins with a spin. In a crowd, it yields if the thread has made progress for
    /// `forced_yield_ns` without ever yielding.
    #[inline]
    pub fn reset(&mut self) {
        self.phase = Phase::Fresh;
        self.hints = 1;
        if self.is_crowded() {
            self.yield_if_due();
        }
    }

    /// Sets the number of threads of this process that wait now, the caller included.
    #[inline]
    pub fn set_crowd(&mut self, crowd: usize) {
        self.crowd = crowd;
    }

    /// Returns true if this wait has lasted longer than its spin.
    #[inline]
    #[must_use]
    pub fn has_yielded(&self) -> bool {
        matches!(self.phase, Phase::Yielding { .. })
    }

    fn first_pause(&mut self) -> Next {
        let spin_ns = if self.is_crowded() { self.policy.spin_ns / 10 } else { self.policy.spin_ns };
        if spin_ns == 0 {
            return self.yield_turn(0);
        }
        let spin_ns = if self.is_yield_dear() { spin_ns * WHERE_YIELDS_ARE_DEAR } else { spin_ns };
        self.phase = Phase::Spinning { since: P::ticks(), budget: P::ns_to_ticks(spin_ns) };
        self.spin();
        Next::Poll
    }

    /// Returns true if the next pause is a yield, or the advice to sleep.
    #[inline]
    pub(crate) fn spin_is_over(&self) -> bool {
        match self.phase {
            Phase::Fresh => false,
            Phase::Spinning { since, budget } => P::ticks().wrapping_sub(since) >= budget,
            Phase::Yielding { .. } => true,
        }
    }

    #[inline]
    fn is_crowded(&self) -> bool {
        self.crowd > 1
    }

    #[inline]
    fn is_yield_dear(&self) -> bool {
        self.sleeps_early || P::is_yield_dear()
    }

    /// Returns true if so many threads of this process wait that the one which ran instead was probably
    /// one of them, and that sleeps of all of them would take longer than its time slice.
    fn is_among_many(&self) -> bool {
        self.crowd > MANY_PER_CORE * P::cores()
    }

    #[inline]
    fn spin(&mut self) {
        for _ in 0..self.hints {
            P::spin_hint();
        }
        if self.backs_off {
            self.hints = (self.hints * 2).min(MOST_HINTS);
        }
    }

    fn yield_turn(&mut self, times: u32) -> Next {
        if self.policy.park && (times >= self.policy.yields || self.is_yield_dear() && !self.is_among_many())
        {
            return Next::Park;
        }
        self.phase = Phase::Yielding { times: times.saturating_add(1) };
        self.busy_since = 0;
        self.give_way();
        Next::Poll
    }

    fn give_way(&self) {
        let more = if self.backs_off { self.crowd / CROWD_PER_YIELD } else { 0 };
        if (0..more).all(|_| P::yield_in_vain()) {
            P::yield_now();
        }
    }

    fn yield_if_due(&mut self) {
        let now = P::ticks();
        if self.busy_since == 0 {
            self.busy_since = now;
        } else if now.wrapping_sub(self.busy_since) >= P::ns_to_ticks(self.policy.forced_yield_ns) {
            self.busy_since = 0;
            if !self.is_yield_dear() {
                P::yield_now();
            }
        }
    }
}

/// Yields and makes another attempt, at most `times` times, and not where a yield costs a time slice.
pub fn try_again<P: Platform, T>(times: u32, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..times {
        if P::is_yield_dear() {
            return None;
        }
        P::yield_now();
        let done = attempt();
        if done.is_some() {
            return done;
        }
    }
    None
}

/// The time until [`Platform::now_ns`] reaches the deadline; `None` without one.
pub fn time_left<P: Platform>(deadline_ns: Option<u64>) -> Option<Duration> {
    deadline_ns.map(|deadline| Duration::from_nanos(deadline.saturating_sub(P::now_ns())))
}
