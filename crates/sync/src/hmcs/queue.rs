//! The hierarchical queue itself: the lock of the paper, which every release hands over.

use super::cohort::{Cohort, Members, Node, Outcome, give, take};
use super::tree::Tree;
use crate::fault::{Fault, injected};
use crate::padded::CachePadded;
use crate::wait::WaitPolicy;
use crate::{RawLock, TimedLock};
use heddle_platform::{Native, Platform};
use std::fmt;

/// HMCS as published, with time-out: first come, first served within each cohort, and never taken by somebody who has
/// not queued.
///
/// [`Hmcs`](super::Hmcs) is the lock to use: it lets a thread that runs go before one that does not, which is worth
/// more than any order when threads outnumber cores. This one is for those who need the order, and to compare with.
/// See the [module](super) for how it works; its waiters wait by the policy (`forced_yield_ns` means nothing here). A
/// waiter that does not run holds up everybody behind it once it is its turn, however long that takes.
pub struct Queue<P: Platform = Native> {
    tree: Tree,
    /// As in the tree's description.
    cohorts: Box<[CachePadded<Cohort<P>>]>,
    policy: WaitPolicy,
}

impl<P: Platform> fmt::Debug for Queue<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("tree", &self.tree)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// An acquisition of a [`Queue`]: the thread's place in it.
#[derive(Debug)]
pub struct Token<P: Platform = Native> {
    node: *mut Node<P>,
    leaf: usize,
}

impl<P: Platform> Queue<P> {
    /// A free lock for the machine that `tree` describes.
    #[must_use]
    pub fn new(tree: &Tree, policy: WaitPolicy) -> Self {
        Self::with_counts(tree, policy, true)
    }

    /// As [`new`](Self::new); without counts `has_waiters` overlooks everybody.
    pub(super) fn with_counts(tree: &Tree, policy: WaitPolicy, counts: bool) -> Self {
        let plans = tree.cohorts();
        let mut members = vec![Members::Threads; plans.len()];
        for parent in plans.iter().filter_map(|plan| plan.parent) {
            members[parent] = Members::Cohorts;
        }
        let cohorts = plans
            .iter()
            .zip(members)
            .map(|(plan, members)| CachePadded::new(Cohort::new(plan, members, counts)))
            .collect();
        Self { tree: tree.clone(), cohorts, policy }
    }

    /// The machine it was made for.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Waits for the lock from where the thread runs now.
    #[inline]
    pub(super) fn enter(&self, deadline_ns: Option<u64>) -> Option<Token<P>> {
        let leaf = self.tree.leaf(P::hardware_thread());
        let node = take::<P>();
        // SAFETY: a new node, which is this thread's.
        match unsafe { self.line_up(leaf, node, deadline_ns) } {
            Outcome::Leads | Outcome::Owns => Some(Token { node, leaf }),
            Outcome::Abandoned => None,
            Outcome::GaveUp => {
                // SAFETY: made above, in no queue.
                unsafe { give(node) };
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
        // SAFETY: as promised.
        let outcome = unsafe { cohort.line_up(node, &self.policy, deadline_ns) };
        let (Outcome::Leads, Some(parent)) = (outcome, cohort.parent) else { return outcome };
        // SAFETY: the caller leads the cohort, so its node is the caller's to use.
        match unsafe { self.line_up(parent, cohort.node(), deadline_ns) } {
            Outcome::Leads | Outcome::Owns => outcome,
            Outcome::Abandoned | Outcome::GaveUp => {
                // SAFETY: the caller leads by `node`, and holds nothing around.
                unsafe { cohort.hand_on(node, node) };
                Outcome::GaveUp
            }
        }
    }

    pub(super) fn leave(&self, token: &Token<P>) {
        // SAFETY: the token's owner holds the lock from that leaf by that node.
        unsafe { self.hand_over(token.leaf, token.node) };
        // SAFETY: made by enter(), and out of the queue.
        unsafe { give(token.node) };
    }

    /// Gives up the cohort `number`, to a member if there is one and it is still the cohort's turn, and if not, those
    /// around it too.
    ///
    /// # Safety
    ///
    /// The caller holds the lock and leads the cohort by `leader`.
    unsafe fn hand_over(&self, number: usize, leader: *mut Node<P>) {
        let cohort = &self.cohorts[number];
        let mut place = leader;
        let Some(parent) = cohort.parent else {
            // SAFETY: as promised; there is nothing around.
            return unsafe { cohort.hand_on(leader, place) };
        };
        // SAFETY: as promised.
        if unsafe { cohort.pass(&mut place) } {
            return;
        }
        if injected(Fault::HmcsEarlyHandOn) {
            // SAFETY: wrong on purpose: the next leader takes up the cohort's node while we still need it.
            unsafe { cohort.hand_on(leader, place) };
            // SAFETY: as below.
            return unsafe { self.hand_over(parent, cohort.node()) };
        }
        // SAFETY: by leading this cohort the caller leads its parent by the cohort's node.
        unsafe { self.hand_over(parent, cohort.node()) };
        // SAFETY: those around are given up.
        unsafe { cohort.hand_on(leader, place) };
    }
}

// SAFETY: exclusion and order by the cohorts' invariants: who owns the top cohort, or was passed the lock by an owner,
// is one thread at a time. Liveness: every leader that leaves grants or empties.
unsafe impl<P: Platform> RawLock for Queue<P> {
    type Platform = P;
    type Token = Token<P>;

    fn acquire(&self) -> Token<P> {
        self.enter(None).unwrap_or_else(|| unreachable!("only a deadline makes it give up"))
    }

    fn try_acquire(&self) -> Option<Token<P>> {
        let leaf = self.tree.leaf(P::hardware_thread());
        let mut way_up = std::iter::successors(Some(leaf), |number| self.cohorts[*number].parent);
        // A time that is always up: it is lined up in no queue that has somebody, unless he came this moment.
        way_up.all(|number| self.cohorts[number].is_empty()).then(|| self.enter(Some(0))).flatten()
    }

    unsafe fn release(&self, token: Token<P>) {
        self.leave(&token);
    }

    fn has_waiters(&self) -> bool {
        self.cohorts.iter().any(|cohort| cohort.has_waiters())
    }
}

// SAFETY: who gives up leaves an abandoned node behind, which the leader before it takes off, or hands on a lead.
unsafe impl<P: Platform> TimedLock for Queue<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<P>> {
        self.enter(Some(deadline_ns))
    }
}
