//! The queue lock of Mellor-Crummey and Scott with waiters that may give up, and that
//! passes over stopped waiters.
//!
//! **Idea.** The queue is that of [`Mcs`](crate::mcs), but a waiter must be willing to take a
//! hand-over: one compare-and-swap on its node decides between the releaser, which grants, and the waiter,
//! whose time is up. A node whose owner gave up stays in the queue; the releaser that comes to it ends it and
//! goes on to the next. And since a waiter writes into its node when it last polled, the releaser also
//! *passes over* a waiter that has not polled for long: that thread, when it runs again, finds itself out of
//! the queue and joins at its end. **Source:** giving up after M. L. Scott: *Non-blocking timeout in scalable
//! queue-based spin locks*, PODC 2002, doi:10.1145/571825.571830 (MCS-NB-try), in the simpler form in which a
//! release reclaims the nodes; passing over after B. He, W. N. Scherer III, M. L. Scott: *Preemption
//! adaptivity in time-published queue-based spin locks*, HiPC 2005, doi:10.1007/11602569_6; use in MPI: Amer
//! et al., *Lock contention management in multithreaded MPI*, ACM TOPC 2019, section 6.2.
//!
//! | | |
//! |---|---|
//! | uncontended | the same as [`Mcs`](crate::mcs): two locked instructions |
//! | contended | the same, and a clock reading and a locked instruction a hand-over |
//! | space | the same; nodes whose owners gave up stay until the holder leaves, at most [`LEFT_BEHIND`] a lock and one per thread |
//! | fairness | the order of the swaps among the waiters that poll; one that was passed over comes last |
//! | needs | a clock that all processors share, roughly |
//! | choose it | when waiters have deadlines, or threads may be stopped while they wait |
//!
//! **Two forms.** [`AbortableMcs`] is this queue behind a word that the running thread may take again for 50
//! µs before the next in the queue gets it ([`Fissile`]); this is the form to use. [`StrictAbortableMcs`], or
//! [`AbortableMcs`] with [`WaitPolicy::STRICT`], always keeps the order; what this page says of order and
//! cost is about that form.
//!
//! **More threads than cores.** Waiters that yield poll often enough not to be passed over, so
//! the strict order costs a switch an acquisition; in the default form it costs one a turn, as
//! in [`Mcs`](crate::mcs).
//!
//! **When a thread does not run.** A stopped holder blocks all threads. A stopped waiter blocks others no
//! longer than `patience` after its last poll, with two exceptions: the lock was granted to it before, or it
//! sleeps, since a releaser cannot know that a sleeper would not get up. Then it is the holder (in the
//! default form the head, which arrivals go past; see [`Fissile`]). A thread that is stopped between its swap
//! and its store to its predecessor blocks the release of that predecessor. A waiter with a deadline can give
//! up in all these cases, but cannot end that release.
//!
//! **Measured** (like [`Mcs`](crate::mcs)): alone 2.4 ns; two threads 121 million a second, 16 threads
//! 100, 64 threads 85; shares 0.74 and 0.54. In strict order: alone 4.5 ns; two threads 26, 16 threads 0.2,
//! 64 threads 0.05.
//!
//! | `state` of a node | meaning | ends the node |
//! |---|---|---|
//! | `WAITING` | its owner waits, or is a holder that found no thread before it | |
//! | `GRANTED` | its owner is the holder (written by the former holder) | the owner, after its release |
//! | `GAVE_UP` | its owner's time was up (written by the owner) | the releaser that comes to it |
//! | `PASSED` | it is out of the queue (written by the releaser that took it out) | the owner |
//!
//! **Invariants.**
//!
//! 1. Invariant 1 of [`Mcs`](crate::mcs) holds. A node is in the queue from its owner's swap
//!    until a releaser goes on from it; the releaser has seen the node's successor, or has freed the
//!    lock when the node was the last.
//! 2. *Exclusion*: a thread is inside if its swap returned null or its node became `GRANTED`, which the
//!    holder writes to one node and is outside from then on.
//! 3. `state` leaves `WAITING` once, by a compare-and-swap. So each node has one end, by the table.
//! 4. Only holders follow `next`, and a node is not ended before the releaser that goes on from it has read
//!    `next`. After it has written `GRANTED` or `PASSED` a releaser does not touch the node.
//! 5. *No lost wake-up*: every such write is followed by a ring with the node's key.
//! 6. `gave_up` is raised before the node says so and lowered after its end. If the holder sees
//!    `tail != holder` and then `gave_up == 0`, a thread waits, or is just giving up, or has just been
//!    passed over and comes again.
//!
//! **Orderings.** Those of [`Mcs`](crate::mcs); each compare-and-swap on `state` is Release for the
//! earlier writes of its thread, and Acquire where it finds the decision of the other thread.

mod queue;

use crate::doorbells::{Doorbells, key_of};
use crate::fissile::Fissile;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Native, Platform};
use heddle_sync::wait::Waiter;
use heddle_sync::{Next, RawLock, TimedLock, WaitPolicy, node};
use queue::{ASLEEP, GAVE_UP, GRANTED, Node, PASSED, Queue, WAITING};
use std::ptr::NonNull;

/// The number of abandoned nodes that may lie in the queue of a lock while waiters still add theirs.
/// Under a holder that stays long there may be more; then waiters with deadlines poll from time to time
/// instead of joining the queue.
pub const LEFT_BEHIND: u32 = if cfg!(loom) { 1 } else { 64 };

/// How long a waiter need not have polled to be passed over, unless told otherwise: several times what a
/// yield to dozens of others takes.
pub const PATIENCE_NS: u64 = 200_000;

/// What an acquisition hands to its release.
#[derive(Debug)]
pub struct Token<P: Platform>(NonNull<Node<P>>);

// SAFETY: a token is an address, and the data there is atomic.
unsafe impl<P: Platform> Send for Token<P> {}

/// The lock; see the [module](self).
#[derive(Debug)]
pub struct StrictAbortableMcs<P: Platform = Native> {
    queue: Queue<P>,
    doorbells: Doorbells<P>,
    policy: WaitPolicy,
    patience_ns: Option<u64>,
}

/// The outcome of a wait in the queue.
enum End {
    Granted,
    PassedOver,
    TimeIsUp,
}

/// [`StrictAbortableMcs`] behind a word that a running thread may take again for a while: see [`Fissile`].
///
/// A waiter that leaves the queue when its time is up:
///
/// ```
/// use heddle_locks::AbortableMcs;
/// use heddle_sync::{Lock, Native, Platform};
///
/// let lock: Lock<AbortableMcs, u32> = Lock::default();
/// let held = lock.acquire();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert!(lock.acquire_until(Native::now_ns() + 100_000).is_none()));
/// });
/// drop(held);
/// *lock.acquire() += 1;
/// assert_eq!(lock.into_inner(), 1);
/// ```
pub type AbortableMcs<P = Native> = Fissile<StrictAbortableMcs<P>>;

impl<P: Platform> Default for StrictAbortableMcs<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> StrictAbortableMcs<P> {
    /// A free lock whose waiters wait by `policy`, and that passes over those that have not
    /// polled for [`PATIENCE_NS`].
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self::with_patience(policy, Some(PATIENCE_NS))
    }

    /// A free lock with another patience, or with `None` one that passes over no waiter.
    #[must_use]
    pub fn with_patience(policy: WaitPolicy, patience_ns: Option<u64>) -> Self {
        Self { queue: Queue::default(), doorbells: Doorbells::default(), policy, patience_ns }
    }

    /// Waits once in the queue. Unless the lock was granted, the node is no longer the caller's.
    #[inline(always)]
    fn queue_up(&self, node: NonNull<Node<P>>, deadline_ns: Option<u64>) -> End {
        match self.queue.join(node) {
            None => End::Granted,
            Some(predecessor) => self.wait_behind(predecessor, node, deadline_ns),
        }
    }

    #[cold]
    fn wait_behind(
        &self,
        predecessor: NonNull<Node<P>>,
        node: NonNull<Node<P>>,
        deadline_ns: Option<u64>,
    ) -> End {
        // SAFETY: this thread's node, which a releaser ends only after GAVE_UP (invariant 3).
        let mine = unsafe { node.as_ref() };
        mine.seen.store(P::ticks(), Ordering::Relaxed);
        self.queue.link(predecessor, node);
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        // Acquire: pairs with the Release in offer() and dismiss().
        let decided = || mine.state.load(Ordering::Acquire) != WAITING;
        while !decided() && deadline_ns.is_none_or(|deadline| P::now_ns() < deadline) {
            mine.seen.store(P::ticks(), Ordering::Relaxed);
            if waiter.pause() == Next::Park {
                mine.seen.store(ASLEEP, Ordering::Relaxed);
                self.doorbells.sleep(key_of::<P, _>(node), deadline_ns, decided);
            }
        }
        if !decided() && self.gives_up(mine) {
            return End::TimeIsUp;
        }
        if mine.state.load(Ordering::Acquire) == GRANTED {
            return End::Granted;
        }
        // SAFETY: PASSED: out of the queue, so no other thread touches it (invariant 4).
        unsafe { node::give::<P, _>(node) };
        End::PassedOver
    }

    fn gives_up(&self, node: &Node<P>) -> bool {
        self.queue.gave_up.fetch_add(1, Ordering::Relaxed);
        // Release: the releaser that finds it ends the node.
        let given_up =
            node.state.compare_exchange(WAITING, GAVE_UP, Ordering::Release, Ordering::Relaxed).is_ok();
        if !given_up {
            self.queue.gave_up.fetch_sub(1, Ordering::Relaxed);
        }
        given_up
    }

    #[inline(always)]
    fn entered(&self, node: NonNull<Node<P>>) -> Token<P> {
        self.queue.holder.store(node.as_ptr(), Ordering::Relaxed);
        Token(node)
    }

    /// Returns true if the owner has not polled for longer than the lock's patience.
    fn is_lost(&self, node: &Node<P>) -> bool {
        let Some(patience_ns) = self.patience_ns else { return false };
        let seen = node.seen.load(Ordering::Relaxed);
        // Signed: another processor's counter may be ahead.
        let ago = P::ticks().wrapping_sub(seen).cast_signed();
        seen != ASLEEP && ago > P::ns_to_ticks(patience_ns).cast_signed()
    }

    /// Grants the lock to the node's owner unless it gave up.
    fn offer(&self, node: NonNull<Node<P>>) -> bool {
        let key = key_of::<P, _>(node);
        // SAFETY: in the queue, of which this thread is the holder (invariant 4).
        let state = unsafe { &node.as_ref().state };
        // Release: pairs with the Acquire in wait_behind(). Acquire on failure: with the Release in
        // gives_up().
        let taken = state.compare_exchange(WAITING, GRANTED, Ordering::Release, Ordering::Acquire).is_ok();
        if taken {
            self.doorbells.ring(key);
        }
        taken
    }

    /// Ends the use of a node that is out of the queue. Its owner did not poll (`lost`), or
    /// gave up, or is this thread.
    fn dismiss(&self, node: NonNull<Node<P>>, lost: bool) {
        let key = key_of::<P, _>(node);
        // SAFETY: not ended yet: this function decides which thread ends it (invariant 3).
        let state = unsafe { &node.as_ref().state };
        // The orderings pair as in offer(): with wait_behind() and gives_up().
        if lost && state.compare_exchange(WAITING, PASSED, Ordering::Release, Ordering::Acquire).is_ok() {
            self.doorbells.ring(key);
            return;
        }
        let gave_up = state.load(Ordering::Relaxed) == GAVE_UP;
        // SAFETY: by the table this thread ends it.
        unsafe { node::give::<P, _>(node) };
        if gave_up {
            self.queue.gave_up.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[cold]
    fn hand_over(&self, node: NonNull<Node<P>>) {
        let (mut leaver, mut lost) = (node, false);
        loop {
            let next = self.queue.leave(leaver, &self.policy);
            self.dismiss(leaver, lost);
            let Some(next) = next else { return };
            // SAFETY: in the queue, of which this thread is the holder (invariant 4).
            lost = self.is_lost(unsafe { next.as_ref() });
            if !lost && self.offer(next) {
                return;
            }
            leaver = next;
        }
    }

    /// Polls from time to time instead of joining the queue.
    #[cold]
    fn poll_until(&self, deadline_ns: u64) -> Option<Token<P>> {
        let mut waiter = Waiter::<P>::backing_off(&WaitPolicy { park: false, ..self.policy }, 2);
        loop {
            if let Some(token) = self.try_acquire() {
                return Some(token);
            }
            if P::now_ns() >= deadline_ns || waiter.pause() == Next::Park {
                return None;
            }
        }
    }
}

impl<P: Platform> Default for AbortableMcs<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> AbortableMcs<P> {
    /// A free lock whose waiters wait by `policy`, which also says how strict their order is, and that passes
    /// over those that have not polled for [`PATIENCE_NS`].
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self::with_patience(policy, Some(PATIENCE_NS))
    }

    /// A free lock with another patience, or with `None` one that passes over no waiter.
    #[must_use]
    pub fn with_patience(policy: WaitPolicy, patience_ns: Option<u64>) -> Self {
        Self::over(StrictAbortableMcs::with_patience(policy.apart(), patience_ns), policy)
    }
}

// SAFETY: exclusion by invariant 2, order by the pairs named above, liveness by invariants 4 and 5.
unsafe impl<P: Platform> RawLock for StrictAbortableMcs<P> {
    type Platform = P;
    const TRY_IS_EXACT: bool = true;
    type Token = Token<P>;

    #[inline]
    fn acquire(&self) -> Token<P> {
        loop {
            let node = Node::new();
            if let End::Granted = self.queue_up(node, None) {
                return self.entered(node);
            }
        }
    }

    #[inline]
    fn try_acquire(&self) -> Option<Token<P>> {
        self.queue.try_join().map(|node| self.entered(node))
    }

    #[inline]
    unsafe fn release(&self, Token(node): Token<P>) {
        if self.queue.free_if_alone(node) {
            // SAFETY: no thread joined behind it, and none will.
            unsafe { node::give::<P, _>(node) };
        } else {
            self.hand_over(node);
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // In this order: invariant 6.
        self.queue.somebody_behind() && self.queue.gave_up.load(Ordering::Relaxed) == 0
    }
}

// SAFETY: a thread that gave up has left a node that the release takes out of the queue (invariants 1 and 3).
unsafe impl<P: Platform> TimedLock for StrictAbortableMcs<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<P>> {
        loop {
            if self.queue.gave_up.load(Ordering::Relaxed) >= LEFT_BEHIND || P::now_ns() >= deadline_ns {
                return self.poll_until(deadline_ns);
            }
            let node = Node::new();
            match self.queue_up(node, Some(deadline_ns)) {
                End::Granted => return Some(self.entered(node)),
                End::TimeIsUp => return None,
                End::PassedOver => {}
            }
        }
    }
}
