//! The queue lock of Craig, Landin and Hagersten: strictly first come, first served, released by a plain
//! store.
//!
//! **Idea.** A thread that wants the lock swaps its node into `tail` and gets its predecessor's node, which
//! it polls until the predecessor, in its release, writes there that it has left. The predecessor's node then
//! belongs to the thread that waited for it, and serves its next acquisition. A waiter that gives up writes
//! into its node for which node it waited, and its successor waits for that one instead. **Source:** T. S.
//! Craig: *Building FIFO and priority-queuing spin locks from atomic swap*, TR 93-02-02, University of
//! Washington, 1993; P. Magnusson, A. Landin, E. Hagersten: *Queue locks on cache coherent multiprocessors*,
//! IPPS 1994, doi:10.1109/IPPS.1994.288305; giving up as in M. L. Scott, W. N. Scherer III: *Scalable
//! queue-based spin locks with timeout*, PPoPP 2001, doi:10.1145/379539.379566. We depart from them as
//! [`Mcs`](crate::mcs) does, and in a simpler way of giving up: only the waiter itself decides whether
//! it has the lock, so no compare-and-swap and no handshake are needed.
//!
//! | | |
//! |---|---|
//! | uncontended | one swap to enter, plain stores to leave: one locked instruction |
//! | contended | one swap, two lines moved in a hand-over: the predecessor's node, and `tail` |
//! | space | the lock with its [`Doorbells`] and one node; a node of two words for each waiter or holder, and at most one for each |
//! | | thread that gave up, until the next arrival or release comes to it |
//! | fairness | strict: the order of the swaps on `tail` |
//! | needs | memory of the node is read by another processor than wrote it first: coherent caches |
//! | choose it | where [`Mcs`](crate::mcs) fits, and releases must be cheap or waiters give up |
//!
//! **Two forms.** [`Clh`] is this queue behind a word that the running thread may take again for 50 µs before
//! the next in the queue gets it ([`Fissile`]); this is the form to use. [`StrictClh`], or [`Clh`] with
//! [`WaitPolicy::STRICT`], always keeps the order; what this page says of order and cost is about that form.
//!
//! **More threads than cores**: the same as [`Mcs`](crate::mcs).
//!
//! **When a thread does not run.** A stopped holder blocks all threads, a stopped waiter those behind it once
//! its turn has come. No release ever waits, and a thread that is stopped between its swap and its first poll
//! blocks no thread before it. A waiter behind a stopped one can give up ([`TimedLock`]); it cannot overtake,
//! but in the default form arrivals do.
//!
//! **Measured** (as [`Mcs`](crate::mcs)): alone 2.2 ns; two threads 132 million a second, 16 threads
//! 105, 64 threads 73; shares 0.73 and 0.54. In strict order: alone 2.75 ns; two threads 14, 16 threads 0.2,
//! 64 threads 0.06.
//!
//! | `state` of a node | meaning | next |
//! |---|---|---|
//! | `BUSY` | its owner waits or is inside | any of the others, written by the owner |
//! | `LEFT` | its owner was inside and left: the thread that waits for this node is inside | none: the successor ends the node |
//! | `GAVE_UP` | its owner waits no more; `predecessor` says for which node it waited | none: the successor ends the node |
//!
//! **Invariants.**
//!
//! 1. The nodes form a chain, from `tail` over each one's predecessor to a node in state `LEFT` (no thread is
//!    inside) or that of the holder. Every node but the last in `tail` has exactly one successor: the thread
//!    whose swap returned it, or that found it as the `predecessor` of a node whose owner gave up.
//! 2. *Exclusion*: a thread is inside from the moment it saw its predecessor `LEFT` until it writes `LEFT`.
//!    By 1 only one node has a predecessor that `LEFT`, since the thread that sees it takes that
//!    predecessor out of the chain.
//! 3. A node is accessed by its owner until it writes `LEFT` or `GAVE_UP`, and by its one successor, which
//!    ends it after having seen that. When the lock is dropped, it ends the node in `tail` and the
//!    abandoned nodes before it.
//! 4. *No lost wake-up*: both writes are followed by a ring with the node's key, which is the key that the
//!    successor sleeps on ([`Doorbell`](heddle_sync::Doorbell), invariant 2).
//! 5. `gave_up` is raised before its node says so and lowered after the node was ended. So if the holder sees
//!    that `tail` is not its node and then that `gave_up` is 0, a thread waits, or is just giving up.
//!
//! **Orderings.** The store of `LEFT` (Release) pairs with the successor's load (Acquire); so does the
//! store of `GAVE_UP`, for `predecessor` and for the end of the node. The swap is AcqRel, since it
//! publishes the node's initial values and must see those of the predecessor's. `holder` and `gave_up` are
//! hints for all threads but the holder.

use crate::doorbells::{Doorbells, key_of};
use crate::fissile::Fissile;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Native, Platform};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, RawLock, TimedLock, WaitPolicy, node};
use std::ptr::{self, NonNull};

/// The owner waits or is inside.
const BUSY: u32 = 0;
/// The owner was inside and left.
const LEFT: u32 = 1;
/// The owner waits no more.
const GAVE_UP: u32 = 2;

/// The place of one thread in the queue.
#[derive(Debug)]
pub struct Node<P: Platform> {
    /// Written before `GAVE_UP`.
    predecessor: P::AtomicPtr<Node<P>>,
    state: P::AtomicU32,
}

/// What an acquisition hands to its release.
#[derive(Debug)]
pub struct Token<P: Platform>(NonNull<Node<P>>);

// SAFETY: a token is an address, and the data there is atomic.
unsafe impl<P: Platform> Send for Token<P> {}

#[derive(Debug)]
struct Ends<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
    /// The holder's node; null, or soon to be written, while no thread is inside.
    holder: P::AtomicPtr<Node<P>>,
    /// The number of nodes in the chain whose owners gave up.
    gave_up: P::AtomicU32,
    /// True if the last wait was longer than a spin; a hint.
    crowded: P::AtomicU32,
}

/// The lock; see the [module](self).
#[derive(Debug)]
pub struct StrictClh<P: Platform = Native> {
    ends: CachePadded<Ends<P>>,
    doorbells: Doorbells<P>,
    policy: WaitPolicy,
}

/// [`StrictClh`] behind a word that a running thread may take again for a while: see [`Fissile`].
pub type Clh<P = Native> = Fissile<StrictClh<P>>;

impl<P: Platform> Default for StrictClh<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> StrictClh<P> {
    /// A free lock whose waiters wait by `policy`.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        let ends = Ends {
            tail: AtomicPointer::new(Self::new_node(LEFT).as_ptr()),
            holder: AtomicPointer::new(ptr::null_mut()),
            gave_up: AtomicInteger::new(0),
            crowded: AtomicInteger::new(0),
        };
        Self { ends: CachePadded::new(ends), doorbells: Doorbells::default(), policy }
    }

    #[inline(always)]
    fn new_node(state: u32) -> NonNull<Node<P>> {
        node::take::<P, _>(Node {
            predecessor: AtomicPointer::new(ptr::null_mut()),
            state: AtomicInteger::new(state),
        })
    }

    #[inline(always)]
    fn join(&self, node: NonNull<Node<P>>) -> NonNull<Node<P>> {
        let predecessor = self.ends.tail.swap(node.as_ptr(), Ordering::AcqRel);
        // SAFETY: `tail` starts with a node and only nodes are swapped in.
        unsafe { NonNull::new_unchecked(predecessor) }
    }

    /// The state of the caller's predecessor.
    #[inline(always)]
    fn state_of(predecessor: NonNull<Node<P>>) -> u32 {
        // SAFETY: only its successor, the caller, ends it (invariant 3).
        let state = unsafe { &predecessor.as_ref().state };
        // Acquire: pairs with the Release in leave_behind().
        state.load(Ordering::Acquire)
    }

    /// Waits in a function apart from acquire(), so that acquire() keeps everything in registers.
    #[cold]
    fn acquire_slow(&self, node: NonNull<Node<P>>, mut predecessor: NonNull<Node<P>>) -> Token<P> {
        let _ = self.wait_behind(&mut predecessor, None);
        self.enter(node, predecessor)
    }

    /// Returns true if the owner of `node` left. It ends nodes whose owners gave up, and moves `node`
    /// on to their predecessors.
    #[inline(always)]
    fn has_left(&self, node: &mut NonNull<Node<P>>) -> bool {
        loop {
            match Self::state_of(*node) {
                LEFT => return true,
                GAVE_UP => self.pass(node),
                _ => return false,
            }
        }
    }

    #[cold]
    fn pass(&self, node: &mut NonNull<Node<P>>) {
        // SAFETY: only its successor, the caller, ends it (invariant 3).
        let before = unsafe { &node.as_ref().predecessor }.load(Ordering::Relaxed);
        // SAFETY: its owner wrote GAVE_UP, this is its only successor (invariant 3).
        unsafe { node::give::<P, _>(*node) };
        self.ends.gave_up.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: written before GAVE_UP, never null.
        *node = unsafe { NonNull::new_unchecked(before) };
    }

    /// Waits for the predecessor to leave; returns false if the deadline came first.
    #[cold]
    fn wait_behind(&self, predecessor: &mut NonNull<Node<P>>, deadline_ns: Option<u64>) -> bool {
        let crowded = self.ends.crowded.load(Ordering::Relaxed);
        let mut waiter = Waiter::<P>::new(&self.policy, crowded as usize + 1);
        // When a predecessor gives up, the thread waits for another node, and so sleeps at another doorbell.
        let entered = loop {
            let now_behind = *predecessor;
            let woken = self.doorbells.wait(key_of::<P, _>(now_behind), &mut waiter, deadline_ns, || {
                self.has_left(predecessor) || *predecessor != now_behind
            });
            if *predecessor == now_behind || !woken {
                break woken;
            }
        };
        let is_crowded = u32::from(waiter.has_yielded());
        if crowded != is_crowded {
            self.ends.crowded.store(is_crowded, Ordering::Relaxed);
        }
        entered
    }

    /// The predecessor has left: its node and the lock are now this thread's.
    #[inline(always)]
    fn enter(&self, node: NonNull<Node<P>>, predecessor: NonNull<Node<P>>) -> Token<P> {
        // SAFETY: its owner wrote LEFT, this is its only successor (invariant 3).
        unsafe { node::give::<P, _>(predecessor) };
        self.ends.holder.store(node.as_ptr(), Ordering::Relaxed);
        Token(node)
    }

    /// Stops waiting behind `predecessor`.
    #[cold]
    fn give_up(&self, node: NonNull<Node<P>>, predecessor: NonNull<Node<P>>) {
        self.ends.gave_up.fetch_add(1, Ordering::Relaxed);
        // SAFETY: this thread's node.
        let link = unsafe { &node.as_ref().predecessor };
        link.store(predecessor.as_ptr(), Ordering::Relaxed);
        self.leave_behind(node, GAVE_UP);
    }

    /// Ends the owner's use of its node.
    #[inline(always)]
    fn leave_behind(&self, node: NonNull<Node<P>>, last_state: u32) {
        let key = key_of::<P, _>(node);
        // SAFETY: this thread's node until the store, and its successor's from then on.
        let state = unsafe { &node.as_ref().state };
        // Release: pairs with the Acquire in has_left().
        state.store(last_state, Ordering::Release);
        self.doorbells.ring(key);
    }
}

impl<P: Platform> Default for Clh<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> Clh<P> {
    /// A free lock whose waiters wait by `policy`, which also says how strict their order is.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        Self::over(StrictClh::new(policy.apart()), policy)
    }
}

// SAFETY: exclusion by invariant 2, order by the Release and Acquire on `state`, liveness by invariant 4.
unsafe impl<P: Platform> RawLock for StrictClh<P> {
    type Platform = P;
    type Token = Token<P>;

    #[inline]
    fn acquire(&self) -> Token<P> {
        let node = Self::new_node(BUSY);
        let predecessor = self.join(node);
        if Self::state_of(predecessor) == LEFT {
            return self.enter(node, predecessor);
        }
        self.acquire_slow(node, predecessor)
    }

    /// Only a thread in the queue may read the predecessor's node. So a thread that finds the lock taken
    /// after all has to give up; `holder` makes that rare.
    #[inline]
    fn try_acquire(&self) -> Option<Token<P>> {
        if !self.ends.holder.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let node = Self::new_node(BUSY);
        let mut predecessor = self.join(node);
        if self.has_left(&mut predecessor) {
            return Some(self.enter(node, predecessor));
        }
        self.give_up(node, predecessor);
        None
    }

    #[inline]
    unsafe fn release(&self, Token(node): Token<P>) {
        self.ends.holder.store(ptr::null_mut(), Ordering::Relaxed);
        self.leave_behind(node, LEFT);
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        let holder = self.ends.holder.load(Ordering::Relaxed);
        // In this order: invariant 5.
        !holder.is_null()
            && self.ends.tail.load(Ordering::Acquire) != holder
            && self.ends.gave_up.load(Ordering::Relaxed) == 0
    }
}

// SAFETY: a thread that gave up has left a node that its successor, or the lock's end, takes out of the
// chain (invariants 1 and 3).
unsafe impl<P: Platform> TimedLock for StrictClh<P> {
    fn acquire_until(&self, deadline_ns: u64) -> Option<Token<P>> {
        let node = Self::new_node(BUSY);
        let mut predecessor = self.join(node);
        if self.has_left(&mut predecessor) || self.wait_behind(&mut predecessor, Some(deadline_ns)) {
            return Some(self.enter(node, predecessor));
        }
        self.give_up(node, predecessor);
        None
    }
}

impl<P: Platform> Drop for StrictClh<P> {
    fn drop(&mut self) {
        // No thread holds the lock and none comes any more: its end is the last node's successor.
        let tail = self.ends.tail.load(Ordering::Acquire);
        // SAFETY: never null.
        let mut last = unsafe { NonNull::new_unchecked(tail) };
        let _ = self.has_left(&mut last);
        // SAFETY: no thread uses it any more, and it is ended once (invariant 3).
        unsafe { node::give::<P, _>(last) };
    }
}
