//! A test-and-set lock that is released by a plain store, with sleeping waiters and bounded unfairness.
//!
//! **What it gives.** Uncontended: one compare-and-swap to enter, a plain store and two plain loads to leave
//! (a locked instruction less than a futex mutex, whose release must exchange). Contended: the first arrival
//! enters. A thread that finds the lock taken, and nobody waiting, yields and tries again a few times before
//! it counts as a waiter; a waiter spins, yields and sleeps by its [`WaitPolicy`]. At most one waiter at a
//! time is being woken, and as a rule only when no waiter is awake: an awake waiter will either enter or
//! check again before it sleeps, so waking a second one would only cost. Space: the word that is polled, and
//! what holders and waiters note, on cache lines apart; no node for each thread.
//!
//! **Fairness.** Arrivals may overtake waiters. That keeps a lock fast when threads outnumber cores: a strict
//! queue would hand it to a thread that is not running. But one thread must not re-acquire it for ever. A
//! holder that releases while others wait starts a *tenure*. Once this holder alone has released the lock for
//! `forced_yield_ns`, it leaves the lock *reserved*: only a waiter may take it, and the former holder may not
//! until it has waited its whole spin and all its yields. If the waiters are running, one enters within a
//! cache-line round trip; if they are not, the former holder's yields let them run; if even the yields do not
//! help (because the waiters are in another core's run queue), the former holder goes on. It goes on after
//! its spin if its yields would let only computing threads run ([`Platform::is_yield_dear`]). So a waiter
//! that is awake gets its turn after a tenure at most, or the former holder pays that many yields in each
//! tenure. A sleeper would sleep on while others keep coming and being awake, so every 256th release that
//! passes sleepers over wakes one.
//!
//! **When a thread does not run.** A stopped holder blocks all threads; a waiter with a deadline gives up. A
//! stopped waiter, wherever it stops, keeps no awake thread and no arrival from the lock. Sleepers rely on it
//! while it counts as awake: they sleep on until it runs, or until the 256th release.
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | any thread may take it | compare-and-swap to `HELD` |
//! | `HELD` | a thread is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | a waiter may take it, the last holder only when it would sleep otherwise | compare-and-swap to `HELD` |
//!
//! `waiters` counts the threads in the slow path: those *awake* (spinning, yielding) and those *asleep*. It
//! also holds the *permit*: a releaser took one sleeper off `asleep`, and the first sleeper that comes may
//! use the permit to get up. The word is also the futex that sleepers sleep on.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. Threads in the slow path = awake + asleep + permit. A thread that went to sleep gets up by using the
//!    permit or by taking itself off `asleep`; one of the two is always possible, and is one atomic step.
//! 3. *No thread sleeps for ever*: if `state` is not `HELD` and a thread is in the slow path, then an awake
//!    waiter will check `state` again, or a permit is there, or a releaser is still between its store and its
//!    check of `waiters`. Reason: a waiter that goes from awake to asleep checks `state` afterwards
//!    (separated by `heavy`), and the releaser checks `waiters` after its store (separated by `light`). If
//!    the waiter's check misses the store, the releaser sees it asleep, and gives a permit unless there is
//!    one or a waiter is awake, for which the same holds. A thread that enters becomes a releaser. And a
//!    thread that gives up while others sleep checks `state` after it has left (separated by `heavy`) and
//!    wakes one if a releaser relied on it.
//!
//! **Orderings.** The compare-and-swap is Acquire and pairs with the Release of the releasing store: that is
//! promise 2 of [`RawLock`]. `waiters` carries nothing: a woken thread checks `state`. The holder writes
//! `last_holder` and the tenure, so the lock orders them; waiters read `last_holder` as a hint, Relaxed.

use crate::waiting::wait::{Next, WaitPolicy, Waiter, time_left, try_again};
use crate::{CachePadded, RawLock, TimedLock};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// Any thread may take it.
const FREE: u32 = 0;
/// A thread is inside.
const HELD: u32 = 1;
/// A waiter may take it, before the last holder.
const RESERVED: u32 = 2;

/// One sleeper in `waiters`: the low 15 bits.
const ASLEEP: u32 = 1;
/// One of the sleepers may get up.
const PERMIT: u32 = 1 << 15;
/// One waiter awake in `waiters`: the high half.
const AWAKE: u32 = 1 << 16;

const fn awake(waiters: u32) -> u32 {
    waiters / AWAKE
}

/// Returns true if a releaser that sees this has to wake a sleeper (invariant 3).
const fn all_asleep(waiters: u32) -> bool {
    waiters != 0 && waiters < PERMIT
}

const fn asleep(waiters: u32) -> u32 {
    waiters & (PERMIT - 1)
}

/// The number of releases that may leave the lock to awake waiters before one wakes a sleeper all the same. A
/// wake-up costs as much as some hundred short critical sections. (Small in models, so that they reach it.)
const PASSES: u32 = if cfg!(loom) { 2 } else { 256 };

/// The lock; see the [module](self). At most 32,767 threads may wait for it at once.
#[derive(Debug)]
pub struct Mutex<P: Platform = Native> {
    /// On a line of its own: with the notes on the line that waiters poll, 44 threads got a fifth less done.
    state: CachePadded<P::AtomicU32>,
    waiters: P::AtomicU32,
    /// Counts releases that passed sleepers over; a count lost in a race does no harm.
    passes: P::AtomicU32,
    /// The thread that has the tenure, or 0.
    last_holder: P::AtomicU64,
    /// The time in ticks when that tenure began.
    tenure_since: P::AtomicU64,
    /// The number of releases by that thread since then.
    tenure_releases: P::AtomicU32,
    policy: WaitPolicy,
}

impl<P: Platform> Default for Mutex<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Mutex<P> {
    /// A free lock whose waiters wait by `policy`.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self {
            state: CachePadded::new(P::AtomicU32::new(FREE)),
            waiters: P::AtomicU32::new(0),
            passes: P::AtomicU32::new(0),
            last_holder: P::AtomicU64::new(0),
            tenure_since: P::AtomicU64::new(0),
            tenure_releases: P::AtomicU32::new(0),
            policy,
        }
    }

    #[inline(always)]
    fn take(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in release().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits for the lock; returns false if the deadline came first.
    #[cold]
    fn acquire_slow(&self, deadline_ns: Option<u64>) -> bool {
        let comes_first = deadline_ns.is_none() && self.crowd() == 0;
        let tries = if comes_first { self.policy.first_tries } else { 0 };
        if try_again::<P, ()>(tries, || self.try_acquire()).is_some() {
            return true;
        }
        self.waiters.fetch_add(AWAKE, Ordering::Relaxed);
        let mut waiter = Waiter::<P>::backing_off(&self.policy, 1);
        let me = P::thread_id();
        let entered = loop {
            match self.state.load(Ordering::Relaxed) {
                FREE if self.take(FREE) => break true,
                RESERVED if self.may_take_reserved(me, &waiter) && self.take(RESERVED) => break true,
                _ => {}
            }
            if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
                break false;
            }
            // Those that came before may have had their turn meanwhile.
            waiter.set_crowd(self.crowd());
            if waiter.pause() == Next::Park {
                if self.sleep(deadline_ns) {
                    break true;
                }
                waiter.reset();
            }
        };
        let waiters = self.waiters.fetch_sub(AWAKE, Ordering::Relaxed);
        if !entered && asleep(waiters) != 0 {
            self.leave_sleepers();
        }
        entered
    }

    /// The number of waiters that are awake.
    fn crowd(&self) -> usize {
        awake(self.waiters.load(Ordering::Relaxed)) as usize
    }

    /// Returns true if this waiter may take a reserved lock: it is not the last holder, or
    /// it has waited long enough.
    fn may_take_reserved(&self, me: u64, waiter: &Waiter<P>) -> bool {
        self.last_holder.load(Ordering::Relaxed) != me || waiter.spin_is_over() && P::is_yield_dear()
    }

    /// Called after a waiter gave up: a releaser that saw it awake may have woken none of
    /// the sleepers (invariant 3).
    fn leave_sleepers(&self) {
        P::heavy(Scope::Process);
        if self.state.load(Ordering::Relaxed) != HELD {
            self.wake_one(self.waiters.load(Ordering::Relaxed));
        }
    }

    /// Goes from awake to asleep and back. Returns true if the lock was found free on the way and taken.
    fn sleep(&self, deadline_ns: Option<u64>) -> bool {
        self.waiters.fetch_add(ASLEEP.wrapping_sub(AWAKE), Ordering::Relaxed);
        P::heavy(Scope::Process);
        if self.take_before_sleep() {
            self.rise();
            return true;
        }
        let mut waiters = self.waiters.load(Ordering::Relaxed);
        loop {
            if waiters & PERMIT == 0 {
                let timeout = time_left::<P>(deadline_ns);
                if timeout == Some(Duration::ZERO) {
                    self.rise();
                    return false;
                }
                P::wait(&self.waiters, waiters, timeout, Scope::Process);
                waiters = self.waiters.load(Ordering::Relaxed);
            } else if self.replace_waiters(&mut waiters, |waiters| waiters - PERMIT + AWAKE) {
                return false;
            }
        }
    }

    /// The second check of invariant 3. A thread that is about to sleep may take a reserved lock even
    /// if it was the last holder.
    fn take_before_sleep(&self) -> bool {
        self.take(FREE) || self.take(RESERVED)
    }

    /// Gets up without having been woken (invariant 2).
    fn rise(&self) {
        let mut waiters = self.waiters.load(Ordering::Relaxed);
        while !self.replace_waiters(&mut waiters, |waiters| {
            // The permit first: another sleeper that used it would only find the lock held.
            let place = if waiters & PERMIT != 0 { PERMIT } else { ASLEEP };
            waiters - place + AWAKE
        }) {}
    }

    /// Wakes a sleeper if no awake waiter can take the lock, or if it is a sleeper's turn.
    #[cold]
    fn wake_one(&self, mut waiters: u32) {
        let passes = self.passes.load(Ordering::Relaxed).wrapping_add(1);
        let due = passes.is_multiple_of(PASSES);
        if !all_asleep(waiters) {
            self.passes.store(passes, Ordering::Relaxed);
        }
        while all_asleep(waiters) || due && asleep(waiters) != 0 && waiters & PERMIT == 0 {
            if self.replace_waiters(&mut waiters, |waiters| waiters - ASLEEP + PERMIT) {
                P::wake(&self.waiters, 1, Scope::Process);
                return;
            }
        }
    }

    /// Makes one attempt; if `waiters` was outdated, it is up to date afterwards.
    fn replace_waiters(&self, waiters: &mut u32, change: impl FnOnce(u32) -> u32) -> bool {
        let outcome =
            self.waiters.compare_exchange(*waiters, change(*waiters), Ordering::Relaxed, Ordering::Relaxed);
        outcome.map_err(|now| *waiters = now).is_ok()
    }

    /// The state that a holder with waiters leaves behind: [`RESERVED`] when its tenure is over.
    #[cold]
    fn state_after_tenure(&self, waiters: u32) -> u32 {
        let me = P::thread_id();
        if self.last_holder.load(Ordering::Relaxed) != me {
            self.last_holder.store(me, Ordering::Relaxed);
            self.tenure_since.store(P::ticks(), Ordering::Relaxed);
            self.tenure_releases.store(0, Ordering::Relaxed);
            return FREE;
        }
        let releases = self.tenure_releases.load(Ordering::Relaxed).wrapping_add(1);
        self.tenure_releases.store(releases, Ordering::Relaxed);
        // Reading the clock costs half of a short critical section. So it is read seldom once the
        // releases are many; a tenure of long sections still ends early. And only an awake waiter
        // can use a reservation soon.
        let reads_clock = releases.is_power_of_two() || releases.is_multiple_of(16);
        if !reads_clock || awake(waiters) == 0 {
            return FREE;
        }
        let now = P::ticks();
        let served = now.wrapping_sub(self.tenure_since.load(Ordering::Relaxed));
        if served < P::ns_to_ticks(self.policy.forced_yield_ns) {
            return FREE;
        }
        self.tenure_since.store(now, Ordering::Relaxed);
        RESERVED
    }
}

// SAFETY: exclusion by invariant 1, order by the Acquire and Release on `state`, liveness by invariant 3.
unsafe impl<P: Platform> RawLock for Mutex<P> {
    type Platform = P;
    const TRY_IS_EXACT: bool = true;
    type Token = ();

    #[inline]
    fn acquire(&self) {
        if !self.take(FREE) {
            let _ = self.acquire_slow(None);
        }
    }

    #[inline]
    fn try_acquire(&self) -> Option<()> {
        let taken = match self.state.load(Ordering::Relaxed) {
            FREE => self.take(FREE),
            // The waiter for which it was reserved may have given up.
            RESERVED => self.waiters.load(Ordering::Relaxed) == 0 && self.take(RESERVED),
            _ => false,
        };
        taken.then_some(())
    }

    #[inline]
    unsafe fn release(&self, (): ()) {
        let waiters = self.waiters.load(Ordering::Relaxed);
        let left_behind = if waiters == 0 { FREE } else { self.state_after_tenure(waiters) };
        // Release: pairs with the Acquire in take().
        self.state.store(left_behind, Ordering::Release);
        P::light();
        let waiters = self.waiters.load(Ordering::Relaxed);
        if asleep(waiters) != 0 {
            self.wake_one(waiters);
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.waiters.load(Ordering::Relaxed) != 0
    }
}

// SAFETY: a thread that gives up leaves `waiters`, and hands on a wake-up that it may have
// stood for (invariant 3).
unsafe impl<P: Platform> TimedLock for Mutex<P> {
    #[inline]
    fn acquire_until(&self, deadline_ns: u64) -> Option<()> {
        (self.take(FREE) || self.acquire_slow(Some(deadline_ns))).then_some(())
    }
}
