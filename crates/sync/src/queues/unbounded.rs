//! A queue without a limit: many producers, one consumer.
//!
//! **What it gives.** A push is an allocation and one successful compare-and-swap; it is lock-free and fails
//! only when the queue is closed. The consumer takes all elements with one compare-and-swap and then works
//! through its list, so producers and consumer share a cache line once a batch and not once an element. A
//! producer that is stopped in the middle of a push keeps no other element from the consumer (a linked list
//! with a swapped tail has that weakness). No thread ever waits.
//!
//! **Source.** Treiber's stack, taken whole and reversed; see the source of `chain`. For comparison: D.
//! Vyukov's intrusive MPSC queue, whose push is wait-free and whose pop may have to wait for a stopped
//! producer.
//!
//! **Emptiness.** [`Consumer::pop`](super::Consumer::pop) returns `None` only if nothing is queued, and
//! the consumer's [`is_empty`](Mpsc::is_empty) is exact. Other threads may see "empty" while the consumer
//! moves a batch to its list.
//!
//! **Invariants.** 1. Only the consumer changes `taken`; its nodes are older than all in `chain`. 2. A node
//! is in one of the two lists from its push to its pop, and holds a value.

use super::chain::{Chain, Linked, NODE_ALIGN};
use super::{Mpsc, Refused};
use crate::memory::padded::CachePadded;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer, MemoryCell};
use heddle_platform::{Native, Platform};
use std::fmt;
use std::ptr::{self, NonNull};

/// The queue; see the [module](self).
pub struct Unbounded<T: 'static, P: Platform = Native> {
    chain: CachePadded<Chain<P, Node<T, P>>>,
    /// The consumer's list, oldest first.
    taken: CachePadded<P::AtomicPtr<Node<T, P>>>,
    /// 1 while a [`Consumer`](super::Consumer) exists.
    claimed: P::AtomicU32,
}

#[repr(C, align(128))]
struct Node<T: 'static, P: Platform> {
    next: P::AtomicPtr<Node<T, P>>,
    value: P::Cell<T>,
}

const _: () = assert!(align_of::<Node<u8, Native>>() == NODE_ALIGN);

// SAFETY: it always returns the same field.
unsafe impl<T: 'static, P: Platform> Linked<P> for Node<T, P> {
    fn next(&self) -> &P::AtomicPtr<Self> {
        &self.next
    }
}

// SAFETY: a value goes from its producer to the consumer (the chain's Release and Acquire), so Send is
// enough.
unsafe impl<T: Send + 'static, P: Platform> Sync for Unbounded<T, P> {}
// SAFETY: a value goes from its producer to the consumer, so Send is enough; the owner of
// the queue owns the values.
unsafe impl<T: Send + 'static, P: Platform> Send for Unbounded<T, P> {}

impl<T: 'static, P: Platform> fmt::Debug for Unbounded<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unbounded").finish_non_exhaustive()
    }
}

impl<T: 'static, P: Platform> Default for Unbounded<T, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: 'static, P: Platform> Unbounded<T, P> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chain: CachePadded::new(Chain::new()),
            taken: CachePadded::new(AtomicPointer::new(ptr::null_mut())),
            claimed: AtomicInteger::new(0),
        }
    }

    fn pop_node(&self) -> Option<T> {
        let mut oldest = self.taken.load(Ordering::Relaxed);
        if oldest.is_null() {
            oldest = self.chain.take();
        }
        let node = NonNull::new(oldest)?;
        // SAFETY: made by `Box::leak` in push(), in no list from here on (invariant 2).
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        self.taken.store(node.next.load(Ordering::Relaxed), Ordering::Relaxed);
        // An access that a model checker sees, unlike into_inner().
        node.value.with_mut(|_| ());
        Some(node.value.into_inner())
    }
}

impl<T: Send + 'static, P: Platform> Mpsc for Unbounded<T, P> {
    type Item = T;

    fn push(&self, value: T) -> Result<(), Refused<T>> {
        let next = AtomicPointer::new(ptr::null_mut());
        let node = NonNull::from(Box::leak(Box::new(Node { next, value: MemoryCell::new(value) })));
        // SAFETY: the box is aligned, alive until popped, and new.
        if unsafe { self.chain.push(node) }.is_ok() {
            return Ok(());
        }
        // SAFETY: leaked above and not chained.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        Err(Refused::Closed(node.value.into_inner()))
    }

    fn close(&self) {
        self.chain.close();
    }

    fn is_closed(&self) -> bool {
        self.chain.is_closed()
    }

    unsafe fn pop(&self) -> Option<T> {
        self.pop_node()
    }

    fn is_empty(&self) -> bool {
        self.taken.load(Ordering::Relaxed).is_null() && self.chain.is_empty()
    }

    fn claim(&self) -> bool {
        // Acquire: pairs with the Release in unclaim(); what the last consumer did comes before.
        self.claimed.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn unclaim(&self) {
        self.claimed.store(0, Ordering::Release);
    }
}

impl<T: 'static, P: Platform> Drop for Unbounded<T, P> {
    fn drop(&mut self) {
        while self.pop_node().is_some() {}
    }
}
