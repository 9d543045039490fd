//! A chain of nodes that many threads push to and one takes as a whole: the core of the unbounded queue, and
//! of everything in `heddle-combining` to which operations are posted.
//!
//! **What it gives.** A push is one successful compare-and-swap; taking all nodes is another, however many
//! there are. The nodes belong to the caller: on a waiting thread's stack, or on the heap. In a queue with a
//! tail pointer that is swapped and linked in two steps, a thread that is stopped in the middle of a push
//! hides later nodes. Here it hides nothing: its node is not there yet and all others are.
//!
//! **Source.** The stack is R. K. Treiber's (*Systems programming: coping with parallelism*, IBM RJ 5118,
//! 1986). Nodes are never popped one by one, so its ABA problem does not arise: a thread that takes the
//! whole chain does not depend on which nodes it consists of. We reverse the taken chain, which turns the
//! stack's order into the queue's.
//!
//! ```text
//!   head --> newest --> ... --> oldest --> null        take: head = null; reverse; oldest first
//!   low bits of head: CLOSED, and the number pushed since the last take (up to MOST_DEPTH)
//! ```
//!
//! **Invariants.**
//!
//! 1. A node is reachable from `head` from its push's compare-and-swap to the take's. In
//!    between no thread writes to it.
//! 2. Chains taken one after the other are disjoint, and all nodes of the earlier were pushed
//!    before all of the later.
//! 3. Once CLOSED is set it stays, and no compare-and-swap of a push succeeds.
//!
//! **Orderings.** A push is Release and pairs with the take's Acquire, for its own node and for those below
//! it: all changes of `head` are read-modify-writes, so each stays in the release sequence of the earlier
//! ones.

use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicPointer;
use std::fmt;
use std::ptr::{self, NonNull};

/// A node's address must be a multiple of this, so that its low bits are free.
pub const NODE_ALIGN: usize = 128;
const TAG: usize = NODE_ALIGN - 1;
const CLOSED: usize = 1;
const DEPTH_UNIT: usize = 2;

/// The count of nodes that [`Chain::depth`] gives stops here.
pub const MOST_DEPTH: usize = TAG / DEPTH_UNIT;

/// A node that can be chained.
///
/// # Safety
///
/// `next` always returns the same place, which is used by [`Chain`] and by the owner of a taken chain only.
pub unsafe trait Linked<P: Platform>: Sized + 'static {
    /// The link to an older node, and after the take to the next younger one.
    fn next(&self) -> &P::AtomicPtr<Self>;
}

/// The chain; see the [module](self).
pub struct Chain<P: Platform, N: 'static> {
    head: P::AtomicPtr<N>,
}

/// The chain is closed and does not take nodes.
#[derive(Debug)]
pub struct Closed;

impl<P: Platform, N: 'static> fmt::Debug for Chain<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

fn node_of<N>(head: *mut N) -> *mut N {
    head.map_addr(|bits| bits & !TAG)
}

fn depth_of<N>(head: *mut N) -> usize {
    (head.addr() & TAG) / DEPTH_UNIT
}

fn is_closed<N>(head: *mut N) -> bool {
    head.addr() & CLOSED != 0
}

impl<P: Platform, N: Linked<P>> Default for Chain<P, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform, N: Linked<P>> Chain<P, N> {
    /// An empty chain, open.
    #[must_use]
    pub fn new() -> Self {
        Self { head: AtomicPointer::new(ptr::null_mut()) }
    }

    /// Chains a node; returns about how many were there before.
    ///
    /// # Errors
    ///
    /// If the chain is closed; the node is not chained then.
    ///
    /// # Safety
    ///
    /// The node is alive until a thread took it, at an address that is a multiple of [`NODE_ALIGN`], chained
    /// once at a time, and its `next` is not changed until then.
    #[inline]
    pub unsafe fn push(&self, node: NonNull<N>) -> Result<usize, Closed> {
        debug_assert!(node.addr().get() & TAG == 0, "the node's low address bits are in use");
        // SAFETY: alive by the caller's promise.
        let next = unsafe { node.as_ref() }.next();
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if is_closed(head) {
                return Err(Closed);
            }
            next.store(node_of(head), Ordering::Relaxed);
            let depth = depth_of(head);
            let tag = (depth + 1).min(MOST_DEPTH) * DEPTH_UNIT;
            let new = node.as_ptr().map_addr(|bits| bits | tag);
            // Release: pairs with the Acquire in take().
            match self.head.compare_exchange(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Ok(depth),
                Err(now) => head = now,
            }
        }
    }

    /// Takes all nodes; returns the oldest, from which `next` leads to younger ones, or null.
    #[inline]
    pub fn take(&self) -> *mut N {
        let mut head = self.head.load(Ordering::Relaxed);
        while !node_of(head).is_null() {
            let emptied = ptr::without_provenance_mut(head.addr() & CLOSED);
            // Acquire: pairs with the Release in push().
            match self.head.compare_exchange(head, emptied, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        // SAFETY: this thread has just taken the chain, if it is not empty (invariant 1).
        unsafe { oldest_first::<P, N>(node_of(head)) }
    }

    /// Returns true if no node waits to be taken.
    #[inline]
    pub fn is_empty(&self) -> bool {
        node_of(self.head.load(Ordering::Relaxed)).is_null()
    }

    /// About the number of nodes that wait to be taken, at most [`MOST_DEPTH`].
    #[inline]
    pub fn depth(&self) -> usize {
        depth_of(self.head.load(Ordering::Relaxed))
    }

    /// Refuses nodes from now on.
    pub fn close(&self) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let closed = head.map_addr(|bits| bits | CLOSED);
            // Release: keeps the release sequence of the pushes, and pairs with is_closed().
            match self.head.compare_exchange(head, closed, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Returns true if the chain is closed.
    pub fn is_closed(&self) -> bool {
        is_closed(self.head.load(Ordering::Acquire))
    }
}

/// Turns a taken chain around: returns its oldest node, or null if there is none.
///
/// # Safety
///
/// `newest` is null, or the newest node of a chain that only the caller has; its nodes are alive.
pub unsafe fn oldest_first<P: Platform, N: Linked<P>>(newest: *mut N) -> *mut N {
    let mut oldest: *mut N = ptr::null_mut();
    let mut rest = newest;
    if let Some(only) = NonNull::new(newest)
        // SAFETY: taken nodes are alive, and only the caller has them.
        && unsafe { only.as_ref() }.next().load(Ordering::Relaxed).is_null()
    {
        // Nothing to reverse, and no write to a line that its owner polls.
        return newest;
    }
    while let Some(node) = NonNull::new(rest) {
        // SAFETY: taken nodes are alive, and only the caller has them.
        let next = unsafe { node.as_ref() }.next();
        rest = next.load(Ordering::Relaxed);
        next.store(oldest, Ordering::Relaxed);
        oldest = node.as_ptr();
    }
    oldest
}
