//! The door: a word that anybody takes while it is free, and that one waiter, the next by the queue, waits for.
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `FREE` | anybody may take it | compare-and-swap to `HELD` |
//! | `HELD` | somebody is inside | the holder's store of `FREE` or `RESERVED` |
//! | `RESERVED` | the next may take it; the last holder only when it would sleep otherwise; anybody if there is no next | compare-and-swap to `HELD` |
//!
//! | `next` | meaning |
//! |---|---|
//! | `NOBODY` | nobody waits |
//! | `AWAKE` | one waits, and looks at `state` before it sleeps |
//! | `ASLEEP` | one waits and has to be woken: the futex |
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: only the thread whose compare-and-swap made `state` `HELD` changes it again.
//! 2. At most one thread is the next: the one that holds the queue. It alone writes `AWAKE` and `NOBODY` from
//!    nothing, and `ASLEEP`; others only make `AWAKE` of `ASLEEP`.
//! 3. *No lost wake-up*: the next writes `ASLEEP`, passes `heavy`, and looks at `state` before it sleeps; a holder writes
//!    `state`, passes `light`, and looks at `next`. So either the next sees that the door is open, or the holder
//!    sees it asleep and wakes it. If others got in between, that holds for the last of them.
//! 4. *Patience ends*: a holder that leaves while there is a next, and finds that this next has been passed over for the
//!    tenure (`forced_yield_ns`), leaves `RESERVED`.
//!
//! **Orderings.** Taking is Acquire and pairs with the Release of the leaving store. `next` carries nothing. The rest is
//! written by holders and by the next as hints: a lost update makes a tenure longer or shorter.

use super::cohort::{is_past, time_left};
use crate::fault::{Fault, injected};
use crate::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};

const FREE: u32 = 0;
const HELD: u32 = 1;
const RESERVED: u32 = 2;

const NOBODY: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;

/// The door; see the [module](self).
#[derive(Debug)]
pub(super) struct Door<P: Platform> {
    state: P::AtomicU32,
    next: P::AtomicU32,
    /// How many times the present next was passed over.
    passes: P::AtomicU32,
    /// When that was first noticed, in ticks.
    passed_since: P::AtomicU64,
    /// The thread that left the door `RESERVED`.
    reserved_by: P::AtomicU64,
}

impl<P: Platform> Door<P> {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicInteger::new(FREE),
            next: AtomicInteger::new(NOBODY),
            passes: AtomicInteger::new(0),
            passed_since: AtomicInteger::new(0),
            reserved_by: AtomicInteger::new(0),
        }
    }

    #[inline(always)]
    fn take(&self, from: u32) -> bool {
        // Acquire: pairs with the Release in leave().
        self.state.compare_exchange(from, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Goes in if the door is open, without looking first: for who expects it to be.
    #[inline(always)]
    pub(super) fn enter(&self) -> bool {
        self.take(FREE)
    }

    /// Goes in if that needs no waiting.
    #[inline]
    pub(super) fn try_enter(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            FREE => self.take(FREE),
            // Reserved for one who gave up.
            RESERVED if self.next.load(Ordering::Relaxed) == NOBODY => self.take(RESERVED),
            _ => false,
        }
    }

    /// Goes out.
    #[inline(always)]
    pub(super) fn leave(&self, policy: &WaitPolicy) {
        let left_behind =
            if self.next.load(Ordering::Relaxed) == NOBODY { FREE } else { self.pass_over(policy) };
        let order = if injected(Fault::HmcsRelaxedRelease) { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with the Acquire in take().
        self.state.store(left_behind, order);
        if !injected(Fault::HmcsWithoutLight) {
            P::light();
        }
        if self.next.load(Ordering::Relaxed) == ASLEEP {
            self.wake_next();
        }
    }

    /// Whether somebody waits who will come in or give up.
    #[inline(always)]
    pub(super) fn has_next(&self) -> bool {
        self.next.load(Ordering::Relaxed) != NOBODY
    }

    #[cold]
    fn wake_next(&self) {
        // Not a store: the next may have got up by itself, and another may be in its place.
        let woken = self.next.compare_exchange(ASLEEP, AWAKE, Ordering::Relaxed, Ordering::Relaxed);
        if woken.is_ok() {
            P::wake(&self.next, 1, Scope::Process);
        }
    }

    /// What a holder that somebody waits for leaves behind.
    #[cold]
    fn pass_over(&self, policy: &WaitPolicy) -> u32 {
        let passes = self.passes.load(Ordering::Relaxed).wrapping_add(1);
        self.passes.store(passes, Ordering::Relaxed);
        // Reading the clock would be half the cost of a short section: seldom once they are many, so that a tenure of
        // long sections is still noticed early.
        if !(passes.is_power_of_two() || passes.is_multiple_of(16)) {
            return FREE;
        }
        let now = P::ticks();
        if passes == 1 {
            self.passed_since.store(now, Ordering::Relaxed);
            return FREE;
        }
        let passed_over = now.wrapping_sub(self.passed_since.load(Ordering::Relaxed));
        if passed_over < P::ns_to_ticks(policy.forced_yield_ns) {
            return FREE;
        }
        self.passes.store(0, Ordering::Relaxed);
        self.reserved_by.store(P::thread_id(), Ordering::Relaxed);
        RESERVED
    }

    /// If the caller has reserved the door for the next: waits until the next is in, or the caller's patience ends. True
    /// if the caller is in.
    pub(super) fn step_aside(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> bool {
        if self.state.load(Ordering::Relaxed) != RESERVED
            || self.reserved_by.load(Ordering::Relaxed) != P::thread_id()
        {
            return false;
        }
        let mut waiter = Waiter::<P>::backing_off(policy, 1);
        let is_for_next = || self.has_next() && self.state.load(Ordering::Relaxed) == RESERVED;
        while is_for_next() && !is_past::<P>(deadline_ns) {
            // By a policy that never sleeps patience has no end.
            if waiter.pause() == Next::Park {
                return self.take(RESERVED);
            }
        }
        false
    }

    /// Waits for the door as the next, until the deadline. False if it gave up.
    ///
    /// Only for who holds the queue (invariant 2).
    pub(super) fn wait_as_next(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> bool {
        self.passes.store(0, Ordering::Relaxed);
        self.next.store(AWAKE, Ordering::Relaxed);
        let entered = self.wait(policy, deadline_ns);
        // A swap, since a holder may be about to make AWAKE of ASLEEP.
        self.next.swap(NOBODY, Ordering::Relaxed);
        entered
    }

    fn take_as_next(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            HELD => false,
            open => self.take(open),
        }
    }

    fn wait(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> bool {
        let mut waiter = Waiter::<P>::backing_off(policy, 1);
        loop {
            if self.take_as_next() {
                return true;
            }
            if is_past::<P>(deadline_ns) {
                return false;
            }
            if waiter.pause() == Next::Park {
                if self.sleep(deadline_ns) {
                    return true;
                }
                waiter.reset();
            }
        }
    }

    /// Sleeps until a holder has left or the time is up. True if it found the door open on the way and went in.
    #[cold]
    fn sleep(&self, deadline_ns: Option<u64>) -> bool {
        self.next.store(ASLEEP, Ordering::Relaxed);
        if !injected(Fault::HmcsWithoutHeavy) {
            P::heavy(Scope::Process);
        }
        if !injected(Fault::HmcsWithoutSecondLook) && self.take_as_next() {
            return true;
        }
        while self.next.load(Ordering::Relaxed) == ASLEEP && !is_past::<P>(deadline_ns) {
            P::wait(&self.next, ASLEEP, time_left::<P>(deadline_ns), Scope::Process);
        }
        self.next.swap(AWAKE, Ordering::Relaxed);
        false
    }
}
