//! HMCS: the lock stays near. Queues of cohorts within cohorts, with time-out, behind a door that lets the thread go
//! first which is running.
//!
//! **The idea.** On a machine with several caches, what a lock guards travels with it; so a thread that waits under the
//! same cache should have it before a thread far away, for a bounded number of times. HMCS has an MCS queue for each
//! cohort (core, L3, NUMA node, package) and, above the lowest level, cohorts as members of queues: who leads a cohort
//! queues for it in the cohort around. Releasing it passes the lock within the cohort up to a threshold, then to the
//! cohort next door.
//!
//! **Source.** Chabbi, Fagan, Mellor-Crummey: *High performance locks for multi-level NUMA systems*, PPoPP 2015,
//! doi:10.1145/2688500.2688503; as MPI's lock and with `hwloc`'s tree: Amer et al.: *Lock contention management in
//! multithreaded MPI*, ACM TOPC 5(3), 2019, doi:10.1145/3275443, section 3. Time-out: the aim is that of Chabbi, Amer,
//! Wen, Liu: *An efficient abortable-locking protocol for multi-level NUMA systems*, PPoPP 2017,
//! doi:10.1145/3018743.3018768; the protocol is ours (below).
//!
//! **Where we depart.**
//!
//! 1. *The queue orders who waits, not who holds.* The published lock is handed over with every release, and with more
//!    threads than cores mostly to one that is not running: a context switch an acquisition. Here the lock proper is a
//!    word, the `door`: it is taken by whoever finds it free, and the first of the hierarchical queue, the *next*, waits
//!    for it actively while all others wait, or sleep, in the queue. So the thread itself is the lowest cohort, with a time
//!    (`forced_yield_ns`, the *tenure*) for its threshold: a next that was passed over for that long gets the door
//!    reserved. The new holder passes the place of the next on as it enters, so that waking that thread up overlaps with
//!    its own section. [`Queue`] is the published lock without the door.
//! 2. *Time-out by leaving the node behind.* A waiter that gives up marks its node; the leader before it takes the node
//!    off when it comes to it, and frees it if it was a thread's. If the leader of a cohort gives up, it leaves the
//!    cohort's node marked in the queue around, hands the lead on, and the new leader takes the node up again where it
//!    stands: the cohort keeps its turn. No step waits for another thread, except for one that is between two adjacent
//!    instructions.
//! 3. *The leaf is where the thread runs now*, looked up at each acquisition that queues ([`Platform::hardware_thread`]);
//!    a thread that migrates while it waits keeps its place.
//!
//! ```text
//!   thread --- free? ---------------------------------------------> door -> inside
//!     | no                                                            ^
//!     v                                                               | the next: spins, yields, sleeps
//!   core's queue --leader--> L3's queue --leader--> machine's queue --+
//! ```
//!
//! **Cost.** Uncontended: a compare-and-swap to enter, a store and two loads to leave, one cache line; no node. When it is
//! held: an exchange a level that is not passed on within, up to three lines each, off the holder's way. Space: 384
//! bytes a cohort and lock, and a block of 128 bytes a waiter.
//!
//! **Fairness.** Within a cohort and among cohorts first come, first served; between them by the threshold
//! ([`Tree::with_thresholds`]). The next waits for at most a tenure and a section, then for the former holder's
//! yields; so a waiter's longest wait is about the tenure times the places before it, times the thresholds if other
//! cohorts are busy. Others may be faster than the next while the tenure lasts.
//!
//! **What it needs.** A [`Tree`]; a flat one makes it an MCS lock with a door.
//!
//! **When to choose it.** For a lock that many threads on a large machine want at once, if their order does not matter
//! much: the paper's choice for issuing operations (not for waiting for them). On a machine with one cache
//! [`Mutex`](crate::Mutex) does the same with less.
//!
//! **More threads than cores.** One waiter is awake, the others sleep, and a holder that runs goes on with its tenure:
//! throughput stays that of two threads.
//!
//! **A thread that does not run for 50 ms.** The next: others still enter when they come while the door is free, the
//! former holder waits its yields once a tenure; those in the queue wait until it runs, or their time is up. Another
//! waiter: those behind it in its cohort, and other cohorts' members once it is its turn, wait for it. The holder:
//! everybody waits. [`TimedLock::acquire_until`] gets past all three.

mod cohort;
mod door;
mod queue;
mod tree;

pub use queue::{Queue, Token};
pub use tree::{DEFAULT_THRESHOLD, Tree};

use crate::padded::CachePadded;
use crate::wait::WaitPolicy;
use crate::{RawLock, TimedLock};
use door::Door;
use heddle_platform::{Native, Platform};

/// The lock; see the [module](self).
#[derive(Debug)]
pub struct Hmcs<P: Platform = Native> {
    door: CachePadded<Door<P>>,
    queue: Queue<P>,
    policy: WaitPolicy,
}

impl<P: Platform> Default for Hmcs<P> {
    /// For a machine of which nothing is known.
    fn default() -> Self {
        Self::new(&Tree::flat(), WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Hmcs<P> {
    /// A free lock for the machine that `tree` describes, whose waiters wait by `policy`.
    #[must_use]
    pub fn new(tree: &Tree, policy: WaitPolicy) -> Self {
        let queue = Queue::with_counts(tree, policy, false);
        Self { door: CachePadded::new(Door::new()), queue, policy }
    }

    /// The machine it was made for.
    pub fn tree(&self) -> &Tree {
        self.queue.tree()
    }

    /// Whether it was acquired before the deadline.
    #[cold]
    fn acquire_slow(&self, deadline_ns: Option<u64>) -> bool {
        if self.door.step_aside(&self.policy, deadline_ns) {
            return true;
        }
        let Some(place) = self.queue.enter(deadline_ns) else { return false };
        let entered = self.door.wait_as_next(&self.policy, deadline_ns);
        self.queue.leave(&place);
        entered
    }
}

// SAFETY: exclusion and order by the door's invariant 1 and its orderings; liveness by its invariant 3 for the next, and
// by the queue's for all others, since every next leaves the queue.
unsafe impl<P: Platform> RawLock for Hmcs<P> {
    type Platform = P;
    type Token = ();

    #[inline]
    fn acquire(&self) {
        if !self.door.enter() {
            self.acquire_slow(None);
        }
    }

    #[inline]
    fn try_acquire(&self) -> Option<()> {
        self.door.try_enter().then_some(())
    }

    #[inline]
    unsafe fn release(&self, (): ()) {
        self.door.leave(&self.policy);
    }

    /// Sees the next, who waits at the door, and nobody behind.
    #[inline]
    fn has_waiters(&self) -> bool {
        self.door.has_next()
    }
}

// SAFETY: a next that gives up is no longer the next and has left the queue; for others see Queue.
unsafe impl<P: Platform> TimedLock for Hmcs<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<()> {
        (self.door.enter() || self.acquire_slow(Some(deadline_ns))).then_some(())
    }
}
