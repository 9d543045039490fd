//! HMCS: a lock that stays near. Queues of cohorts within cohorts, whose waiters may give up.
//!
//! **The idea.** On a machine with several caches, the data that a lock guards travels with it. So a thread
//! that waits under the same cache should get it before a thread far away, for a bounded number of times.
//! HMCS has an MCS queue for each cohort (core, L3, NUMA node, package) and, above the lowest level, cohorts
//! as members of queues: the leader of a cohort queues for it in the cohort around. A release passes the lock
//! within the cohort up to a threshold, then to the cohort next door.
//!
//! **Source.** Chabbi, Fagan, Mellor-Crummey: *High performance locks for multi-level NUMA systems*, PPoPP
//! 2015, doi:10.1145/2688500.2688503; as MPI's lock and with `hwloc`'s tree: Amer et al.: *Lock contention
//! management in multithreaded MPI*, ACM TOPC 5(3), 2019, doi:10.1145/3275443, section 3. Time-out: the aim
//! is that of Chabbi, Amer, Wen, Liu: *An efficient abortable-locking protocol for multi-level NUMA systems*,
//! PPoPP 2017, doi:10.1145/3018743.3018768; the protocol is ours (see below).
//!
//! **Where we depart.**
//!
//! 1. *Time-out by leaving the node behind.* A waiter that gives up marks its node; the leader before it
//!    takes the node off when it comes to it, and gives the block back if it was a thread's. If the leader of
//!    a cohort gives up, it leaves the cohort's node marked in the queue around and hands the lead on, and
//!    the new leader takes the node up again where it stands: the cohort keeps its turn. Giving up waits for
//!    no thread; lining up waits at most for a release that is under way.
//! 2. *The leaf is where the thread runs now*, looked up at each acquisition ([`Platform::hardware_thread`]);
//!    a thread that migrates while it waits keeps its place.
//! 3. *Waiters sleep* after the policy's spin and yields, each on its node; only a thread that passes the
//!    lock to a sleeper pays for that.
//!
//! ```text
//!   thread --> core's queue --leader--> L3's queue --leader--> machine's queue --> inside
//! ```
//!
//! **Cost.** Uncontended: an exchange to enter and a compare-and-swap to leave at each level, each on a
//! separate line. Contended: within a cohort the cost of MCS, one line from core to core, and the levels
//! above untouched. Space: 384 bytes a cohort and lock, a block of 128 bytes a waiter or holder.
//!
//! **Fairness.** First come, first served within a cohort, and among the cohorts in another; between the two
//! by the threshold ([`Tree::with_thresholds`]): a cohort passes the lock within at most that many times,
//! then its turn is over. So the longest wait is the number of places before a thread, times the thresholds
//! of the levels where it has company.
//!
//! **What it needs.** A [`Tree`]; a flat one makes it an MCS lock.
//!
//! **Two forms.** [`Hmcs`] is this lock behind a word that the running thread may take again for 50 µs before
//! the next in the queues gets it ([`Fissile`]); this is the form to use. While the lock is free, the word
//! also makes the tree unnecessary. [`StrictHmcs`], or [`Hmcs`] with [`WaitPolicy::STRICT`], always keeps the
//! order; what this page says of order and cost is about that form.
//!
//! **When to choose it.** For a lock that many threads on a large machine want at once: the paper's choice
//! for issuing operations (not for waiting for them). On a machine with one cache it does the same as
//! [`Mcs`](crate::Mcs) at a higher cost.
//!
//! **More threads than cores.** The strict order hands the lock mostly to threads that do not run: a context
//! switch an acquisition, as with every strict queue. The default form pays that once a turn.
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, ten cache lines in the critical section; uncontended
//! nanoseconds, then millions of acquisitions a second; in the last columns the slowest thread's share of
//! the mean over a second):
//!
//! | | alone | 2 threads | 16 threads | 64 threads | share, 16 | share, 64 |
//! |---|---|---|---|---|---|---|
//! | `Hmcs` | 2.6 | 112 | 104 | 92 | 0.87 | 0.67 |
//! | `StrictHmcs` | 9.9 | 10 | 0.2 | 0.06 | | |
//! | best of glibc, `parking_lot`, `std` | 4.5 | 92 | 104 | 93 | 0.82 | 0.88 |
//!
//! **A thread that does not run for 50 ms.** The holder: all threads wait. A waiter: no thread, until the
//! lock is passed to it; then all threads wait, in the default form except arrivals. If it is handed the lead
//! of its cohort without the lock, the threads of its cohort wait. With
//! [`TimedLock::acquire_until`] a waiter gets past both, and after it gave up it delays no thread. A thread
//! that is stopped between its swap and its link keeps the thread before it in its release, and with it all
//! threads.

mod cohort;
mod thresholds;
mod tree;

pub use thresholds::{MOST_LEVELS, NoThresholds, Thresholds};
pub use tree::{DEFAULT_THRESHOLD, Tree};

use crate::fissile::Fissile;
use cohort::{Cohort, Members, Node, Outcome};
use heddle_platform::{Native, Platform};
use heddle_sync::{CachePadded, RawLock, TimedLock, WaitPolicy, node};
use std::fmt;
use std::ptr::NonNull;

/// The lock; see the [module](self).
pub struct StrictHmcs<P: Platform = Native> {
    tree: Tree,
    /// In the order of the tree's description.
    cohorts: Box<[CachePadded<Cohort<P>>]>,
    policy: WaitPolicy,
}

/// [`StrictHmcs`] behind a word that a running thread may take again for a while: see [`Fissile`].
pub type Hmcs<P = Native> = Fissile<StrictHmcs<P>>;

impl<P: Platform> Default for StrictHmcs<P> {
    /// A lock for a machine of which nothing is known.
    fn default() -> Self {
        Self::new(&Tree::flat(), WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> fmt::Debug for StrictHmcs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hmcs").field("tree", &self.tree).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// An acquisition of an [`Hmcs`]: the place of the thread in it.
#[derive(Debug)]
pub struct Token<P: Platform = Native> {
    node: NonNull<Node<P>>,
    leaf: usize,
}

impl<P: Platform> StrictHmcs<P> {
    /// A free lock for the machine that `tree` describes.
    #[must_use]
    pub fn new(tree: &Tree, policy: WaitPolicy) -> Self {
        let plans = tree.cohorts();
        let mut members = vec![Members::Threads; plans.len()];
        for parent in plans.iter().filter_map(|plan| plan.parent) {
            members[parent] = Members::Cohorts;
        }
        let cohorts = plans
            .iter()
            .zip(members)
            .map(|(plan, members)| CachePadded::new(Cohort::new(plan, members)))
            .collect();
        Self { tree: tree.clone(), cohorts, policy }
    }

    /// The machine that the lock was made for.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Waits for the lock from where the thread runs now.
    #[inline]
    fn enter(&self, deadline_ns: Option<u64>) -> Option<Token<P>> {
        let leaf = self.tree.leaf(P::hardware_thread());
        let node = node::take::<P, _>(Node::new());
        // SAFETY: a new node, which only this thread has.
        match unsafe { self.line_up(leaf, node.as_ptr(), deadline_ns) } {
            Outcome::Leads | Outcome::Owns => Some(Token { node, leaf }),
            Outcome::Abandoned => None,
            Outcome::GaveUp => {
                // SAFETY: made above, in no queue.
                unsafe { node::give::<P, _>(node) };
                None
            }
        }
    }

    /// Takes the cohort `number` and those around it.
    ///
    /// # Safety
    ///
    /// As for [`Cohort::line_up`].
    unsafe fn line_up(&self, number: usize, node: *mut Node<P>, deadline_ns: Option<u64>) -> Outcome {
        let cohort = &self.cohorts[number];
        // SAFETY: the caller's promise is the same.
        let outcome = unsafe { cohort.line_up(node, &self.policy, deadline_ns) };
        let (Outcome::Leads, Some(parent)) = (outcome, cohort.parent) else { return outcome };
        // SAFETY: the caller leads the cohort, so only the caller uses its node.
        match unsafe { self.line_up(parent, cohort.node(), deadline_ns) } {
            Outcome::Leads | Outcome::Owns => outcome,
            Outcome::Abandoned | Outcome::GaveUp => {
                // SAFETY: the caller leads by `node`, and holds no cohort around.
                unsafe { cohort.hand_on(node, node) };
                Outcome::GaveUp
            }
        }
    }

    fn leave(&self, token: &Token<P>) {
        // SAFETY: the token's owner holds the lock from that leaf by that node.
        unsafe { self.hand_over(token.leaf, token.node.as_ptr()) };
        // SAFETY: made by enter(), and out of the queue.
        unsafe { node::give::<P, _>(token.node) };
    }

    /// Gives up the cohort `number`: to a member if there is one and it is still the cohort's turn, otherwise
    /// together with the cohorts around.
    ///
    /// # Safety
    ///
    /// The caller holds the lock and leads the cohort by `leader`.
    unsafe fn hand_over(&self, number: usize, leader: *mut Node<P>) {
        let cohort = &self.cohorts[number];
        let mut node = leader;
        let Some(parent) = cohort.parent else {
            // SAFETY: the caller leads by `leader`, which `node` stands for; there is no cohort around.
            return unsafe { cohort.hand_on(leader, node) };
        };
        // SAFETY: the caller holds the lock and leads the cohort by `node`.
        if unsafe { cohort.pass(&mut node) } {
            return;
        }
        // SAFETY: by leading this cohort the caller leads its parent by the cohort's node.
        unsafe { self.hand_over(parent, cohort.node()) };
        // SAFETY: the caller has given up the cohorts around.
        unsafe { cohort.hand_on(leader, node) };
    }
}

impl<P: Platform> Default for Hmcs<P> {
    /// A lock for a machine of which nothing is known.
    fn default() -> Self {
        Self::new(&Tree::flat(), WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Hmcs<P> {
    /// A free lock for the machine that `tree` describes, whose waiters wait by `policy`, which also says how
    /// strict their order is.
    #[must_use]
    pub fn new(tree: &Tree, policy: WaitPolicy) -> Self {
        Self::over(StrictHmcs::new(tree, policy.apart()), policy)
    }

    /// The machine that the lock was made for.
    pub fn tree(&self) -> &Tree {
        self.under().tree()
    }
}

// SAFETY: exclusion and order by the cohorts' invariants: only one thread at a time owns the top cohort or
// was passed the lock by its owner. Liveness: every leader that leaves grants or empties.
unsafe impl<P: Platform> RawLock for StrictHmcs<P> {
    type Platform = P;
    type Token = Token<P>;

    fn acquire(&self) -> Token<P> {
        self.enter(None).unwrap_or_else(|| unreachable!("only a deadline makes it give up"))
    }

    fn try_acquire(&self) -> Option<Token<P>> {
        let leaf = self.tree.leaf(P::hardware_thread());
        let mut upwards = std::iter::successors(Some(leaf), |number| self.cohorts[*number].parent);
        // With a time that is always up, it lines up in no queue with members, unless one came this moment.
        upwards.all(|number| self.cohorts[number].is_empty()).then(|| self.enter(Some(0))).flatten()
    }

    unsafe fn release(&self, token: Token<P>) {
        self.leave(&token);
    }

    fn has_waiters(&self) -> bool {
        self.cohorts.iter().any(|cohort| cohort.has_waiters())
    }
}

// SAFETY: a thread that gives up leaves an abandoned node behind, which the leader before it takes
// off, or hands on a lead.
unsafe impl<P: Platform> TimedLock for StrictHmcs<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<P>> {
        self.enter(Some(deadline_ns))
    }
}
