//! One cohort: a queue whose members may give up, and the place of the whole cohort in the queue around it.
//!
//! | `status` | meaning | left by |
//! |---|---|---|
//! | `IDLE` | in no queue (nodes of cohorts only) | the leader of the cohort, which lines it up |
//! | `WAITING` | in the queue; its waiter polls the word | the one before, by a grant; the waiter |
//! | `PARKED` | in the queue; its waiter sleeps on the word | the one before, which wakes it; the waiter |
//! | `ABANDONED` | in the queue, without a waiter | the one before; a new waiter, to `WAITING` |
//! | `REMOVING` | the one before took it off and stands in its place | the same, at its end: `IDLE`, or the block is given back |
//! | `LEAD` | first in the queue, the cohorts around are not taken | the waiter, to `PASSED + 1` |
//! | `PASSED + n` | the cohort has the lock for the n-th time in a row, with all cohorts around it | the next use |
//!
//! `WAKING` is set beside a grant until the granter has done with the word, so that a node may end as soon as
//! its waiter has seen the grant without it.
//!
//! ```text
//!   tail ------------------------------------+
//!                                            v
//!   [PASSED+n]-next->[ABANDONED]-next->[WAITING]-next->null
//!    leader               gets the grant: the leader skips and takes off abandoned nodes
//! ```
//!
//! **Invariants.**
//!
//! 1. *One leader*: a queue with members has exactly one leader: the thread that found it empty, or that was
//!    granted the lead. Only the leader goes up to the cohort around. Only it, or the node that it put in its
//!    place, writes a successor's `status` from outside.
//! 2. Only the thread that found a node in `tail` writes to it from behind (`next`). So once its `next` is
//!    seen set, or `tail` was changed from it to null, no thread will touch it from behind.
//! 3. `ABANDONED` to `WAITING` and `ABANDONED` to `REMOVING` are compare-and-swaps: a node is
//!    revived or removed, not both. Giving up (to `ABANDONED`) and going to sleep (to `PARKED`) too:
//!    no grant is overwritten.
//! 4. Abandoned nodes stand behind a leader, which takes them off as it leaves. So an empty queue has none.
//!
//! **Orderings.** A grant is Release, and read with Acquire. So is `tail` from the thread that empties a
//! queue to the thread that finds it empty: everything that a leader did, also in the cohorts around,
//! happens before the next leader's actions. `next` is Release and Acquire for the initialisation of the
//! node it leads to. To abandon is Release and to remove is Acquire: the waiter's last access comes before
//! the block serves another.

use super::tree::Plan;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Platform, Scope};
use heddle_sync::wait::{Waiter, time_left};
use heddle_sync::{CachePadded, Next, WaitPolicy, node};
use std::fmt;
use std::ptr::{self, NonNull};

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const PARKED: u32 = 2;
const ABANDONED: u32 = 3;
const REMOVING: u32 = 4;
/// The smallest value of a grant.
const LEAD: u32 = 8;
const PASSED: u32 = LEAD;
/// Beside a grant: the granter still uses the word.
const WAKING: u32 = 1 << 31;
/// The largest possible threshold.
const MOST_PASSES: u32 = WAKING - PASSED - 1;

/// A queue's members spin as in a crowd, since they wait at least for a whole turn of the next one.
const CROWD: usize = 2;

/// A member of a queue.
pub(super) struct Node<P: Platform> {
    status: P::AtomicU32,
    next: P::AtomicPtr<Node<P>>,
}

impl<P: Platform> fmt::Debug for Node<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

impl<P: Platform> Node<P> {
    pub(super) fn new() -> Self {
        Self { status: AtomicInteger::new(IDLE), next: AtomicPointer::new(ptr::null_mut()) }
    }

    /// The number of times in a row that the cohort led by this node has had the lock. For the lock's holder.
    fn passes(&self) -> u32 {
        self.status.load(Ordering::Relaxed) - PASSED
    }

    /// Waits for a grant, until the deadline. Returns false if it gave up.
    fn wait(&self, policy: &WaitPolicy, deadline_ns: Option<u64>) -> bool {
        let mut waiter = Waiter::<P>::new(policy, CROWD);
        loop {
            // Acquire: pairs with the Release in grant().
            let status = self.status.load(Ordering::Acquire);
            if status >= LEAD {
                if status & WAKING == 0 {
                    return true;
                }
                P::yield_now();
            } else if is_past::<P>(deadline_ns) {
                if self.abandon(status) {
                    return false;
                }
            } else if waiter.pause() == Next::Park {
                self.park(status, deadline_ns);
            }
        }
    }

    /// Gives up, unless `status` is outdated.
    fn abandon(&self, status: u32) -> bool {
        // Release: the waiter's accesses come before the removal (grant()).
        self.status.compare_exchange(status, ABANDONED, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Sleeps until the node changes, or the time is up.
    #[cold]
    fn park(&self, status: u32, deadline_ns: Option<u64>) {
        if status == PARKED || self.lie_down() {
            P::wait(&self.status, PARKED, time_left::<P>(deadline_ns), Scope::Process);
        }
    }

    fn lie_down(&self) -> bool {
        self.change(WAITING, PARKED, Ordering::Relaxed)
    }

    fn change(&self, from: u32, to: u32, order: Ordering) -> bool {
        self.status.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    /// Gives the node's waiter `grant`, or takes the node over and returns false if it is abandoned.
    fn grant(&self, grant: u32) -> bool {
        loop {
            match self.status.load(Ordering::Relaxed) {
                WAITING if self.change(WAITING, grant, Ordering::Release) => return true,
                PARKED if self.change(PARKED, grant | WAKING, Ordering::Relaxed) => {
                    P::wake(&self.status, 1, Scope::Process);
                    self.status.store(grant, Ordering::Release);
                    return true;
                }
                // Acquire: pairs with the Release in abandon().
                ABANDONED if self.change(ABANDONED, REMOVING, Ordering::Acquire) => return false,
                _ => {}
            }
        }
    }
}

/// The outcome of lining up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// First in this cohort: the caller still has to take the cohorts around.
    Leads,
    /// The lock was passed on within the cohort, with all cohorts around it.
    Owns,
    /// The time is up. The node stays in the queue and is not the caller's any more.
    Abandoned,
    /// The time is up. The node is in no queue, or was there before.
    GaveUp,
}

/// A cohort; see the [module](self).
pub(super) struct Cohort<P: Platform> {
    members: Members,
    tail: P::AtomicPtr<Node<P>>,
    /// The number of waiters in this queue.
    waiting: P::AtomicU32,
    pub(super) parent: Option<usize>,
    threshold: u32,
    /// This cohort's node in its parent's queue.
    node: CachePadded<Node<P>>,
}

impl<P: Platform> Cohort<P> {
    pub(super) fn new(plan: &Plan, members: Members) -> Self {
        Self {
            members,
            tail: AtomicPointer::new(ptr::null_mut()),
            waiting: AtomicInteger::new(0),
            parent: plan.parent,
            threshold: plan.threshold.min(MOST_PASSES),
            node: CachePadded::new(Node::new()),
        }
    }

    /// This cohort's node in its parent's queue, for its leader.
    pub(super) fn node(&self) -> *mut Node<P> {
        ptr::from_ref::<Node<P>>(&self.node).cast_mut()
    }

    /// Waits in this cohort's queue by `node`, until the deadline.
    ///
    /// # Safety
    ///
    /// `node` is alive, and only the caller uses it: it is the thread's, or that of a
    /// cohort which the caller leads.
    pub(super) unsafe fn line_up(
        &self,
        node: *mut Node<P>,
        policy: &WaitPolicy,
        deadline_ns: Option<u64>,
    ) -> Outcome {
        // SAFETY: alive by the caller's promise; shared from now on.
        let mine = unsafe { &*node };
        if !revive(mine) {
            while mine.status.load(Ordering::Acquire) == REMOVING {
                if is_past::<P>(deadline_ns) {
                    return Outcome::GaveUp;
                }
                P::yield_now();
            }
            mine.status.store(WAITING, Ordering::Relaxed);
            mine.next.store(ptr::null_mut(), Ordering::Relaxed);
            // Acquire: pairs with the Release in hand_on(), if that emptied the queue. Release: the stores
            // above.
            let before = self.tail.swap(node, Ordering::AcqRel);
            if before.is_null() {
                mine.status.store(PASSED + 1, Ordering::Relaxed);
                return Outcome::Leads;
            }
            // SAFETY: alive until its `next` is set, which this does (invariant 2).
            unsafe { &*before }.next.store(node, Ordering::Release);
        }
        if !self.wait(mine, policy, deadline_ns) {
            return Outcome::Abandoned;
        }
        if mine.status.load(Ordering::Relaxed) == LEAD {
            mine.status.store(PASSED + 1, Ordering::Relaxed);
            return Outcome::Leads;
        }
        Outcome::Owns
    }

    fn wait(&self, node: &Node<P>, policy: &WaitPolicy, deadline_ns: Option<u64>) -> bool {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let granted = node.wait(policy, deadline_ns);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        granted
    }

    /// Returns true if a thread waits here, as [`heddle_sync::RawLock::has_waiters`] says; the holder
    /// is not counted any more.
    pub(super) fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// A hint: whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.tail.load(Ordering::Relaxed).is_null()
    }

    /// Passes the lock on to a thread of this cohort, unless the cohort has had it `threshold`
    /// times or no waiter is known. `node` is the leader's node; after a failure it is the node
    /// that stands in its place.
    ///
    /// # Safety
    ///
    /// The caller holds the lock and leads this cohort by `node`, a node that is alive.
    pub(super) unsafe fn pass(&self, node: &mut *mut Node<P>) -> bool {
        // SAFETY: alive by the caller's promise.
        let passes = unsafe { &**node }.passes();
        if passes >= self.threshold {
            return false;
        }
        let leader = *node;
        loop {
            // SAFETY: the leader's node, or taken over by a failed grant() below and so the caller's.
            let next = unsafe { &**node }.next.load(Ordering::Acquire);
            if next.is_null() {
                return false;
            }
            let passed = {
                // SAFETY: in the queue behind the caller, and only the caller ends it (invariant 1).
                unsafe { &*next }.grant(PASSED + passes + 1)
            };
            if *node != leader {
                // SAFETY: taken over, and its `next` was set (invariant 2).
                unsafe { self.retire(*node) };
            }
            if passed {
                return true;
            }
            *node = next;
        }
    }

    /// Gives the lead of this cohort to the next waiter, or leaves the queue empty.
    ///
    /// # Safety
    ///
    /// The caller leads this cohort by `leader`, and `node` stands in its place: the same node, or the one
    /// that [`pass`](Self::pass) left. The caller holds no cohort around through this one.
    pub(super) unsafe fn hand_on(&self, leader: *mut Node<P>, mut node: *mut Node<P>) {
        loop {
            // SAFETY: the leader's node, or taken over and so the caller's.
            let next = unsafe { self.next_or_end(&*node, node) };
            let done = next.is_null() || {
                // SAFETY: in the queue behind the caller, and only the caller ends it (invariant 1).
                unsafe { &*next }.grant(LEAD)
            };
            if node != leader {
                // SAFETY: taken over, and out of the queue (invariant 2).
                unsafe { self.retire(node) };
            }
            if done {
                return;
            }
            node = next;
        }
    }

    /// The node after `node`, or null if there is none: then the queue is empty now.
    fn next_or_end(&self, node: &Node<P>, address: *mut Node<P>) -> *mut Node<P> {
        let next = node.next.load(Ordering::Acquire);
        if !next.is_null() {
            return next;
        }
        // Release: pairs with the Acquire in line_up().
        let end = self.tail.compare_exchange(address, ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
        if end.is_ok() {
            return ptr::null_mut();
        }
        // A thread is between its two steps of lining up.
        loop {
            let next = node.next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            P::yield_now();
        }
    }

    /// Ends a node that was taken over.
    ///
    /// # Safety
    ///
    /// The caller made its `status` `REMOVING`, and no thread will touch it from
    /// behind any more (invariant 2).
    unsafe fn retire(&self, node: *mut Node<P>) {
        match self.members {
            Members::Threads => {
                if let Some(node) = NonNull::new(node) {
                    // SAFETY: a waiter took it and abandoned it to the caller; it is out of the queue.
                    unsafe { node::give::<P, _>(node) };
                }
            }
            Members::Cohorts => {
                // SAFETY: it lives as long as the lock. Release: the reading of `next`
                // comes before the next use.
                unsafe { &*node }.status.store(IDLE, Ordering::Release);
            }
        }
    }
}

/// Where the nodes of a queue come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Threads have nodes in blocks; the thread that takes one over gives it back.
    Threads,
    /// Cohorts have nodes that live as long as the lock.
    Cohorts,
}

/// Makes an abandoned node the caller's again. Returns false if it is not in a
/// queue, or will soon not be.
fn revive<P: Platform>(node: &Node<P>) -> bool {
    if node.status.load(Ordering::Relaxed) != ABANDONED {
        return false;
    }
    node.change(ABANDONED, WAITING, Ordering::Relaxed)
}

/// Returns true if the time is up.
fn is_past<P: Platform>(deadline_ns: Option<u64>) -> bool {
    deadline_ns.is_some_and(|deadline| P::now_ns() >= deadline)
}
