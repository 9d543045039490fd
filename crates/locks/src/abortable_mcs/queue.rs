//! The queue of nodes that [`AbortableMcs`](super::AbortableMcs) decides upon.

use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, WaitPolicy, node};
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// The owner waits, or found no thread before it.
pub(super) const WAITING: u32 = 0;
/// The lock is the owner's.
pub(super) const GRANTED: u32 = 1;
/// The owner waits no more.
pub(super) const GAVE_UP: u32 = 2;
/// A releaser went past the owner.
pub(super) const PASSED: u32 = 3;

/// In `seen`: the owner sleeps until its doorbell is rung, which is not the same as not running.
pub(super) const ASLEEP: u64 = u64::MAX;

/// The place of one thread in the queue.
#[derive(Debug)]
pub(super) struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    pub(super) state: P::AtomicU32,
    /// The time in ticks of the owner's last poll, or [`ASLEEP`].
    pub(super) seen: P::AtomicU64,
}

impl<P: Platform> Node<P> {
    #[inline(always)]
    pub(super) fn new() -> NonNull<Self> {
        node::take::<P, _>(Node {
            next: AtomicPointer::new(ptr::null_mut()),
            state: AtomicInteger::new(WAITING),
            seen: AtomicInteger::new(0),
        })
    }

    #[inline(always)]
    fn successor(&self) -> Option<NonNull<Self>> {
        // Acquire: pairs with the Release in link().
        NonNull::new(self.next.load(Ordering::Acquire))
    }
}

#[derive(Debug)]
pub(super) struct Ends<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
    /// The holder's node. Only the holder writes it; it is stale while the lock is free.
    pub(super) holder: P::AtomicPtr<Node<P>>,
    /// The number of nodes in the queue whose owners gave up.
    pub(super) gave_up: P::AtomicU32,
}

#[derive(Debug)]
pub(super) struct Queue<P: Platform>(CachePadded<Ends<P>>);

impl<P: Platform> Deref for Queue<P> {
    type Target = Ends<P>;

    #[inline(always)]
    fn deref(&self) -> &Ends<P> {
        &self.0
    }
}

impl<P: Platform> Default for Queue<P> {
    fn default() -> Self {
        Self(CachePadded::new(Ends {
            tail: AtomicPointer::new(ptr::null_mut()),
            holder: AtomicPointer::new(ptr::null_mut()),
            gave_up: AtomicInteger::new(0),
        }))
    }
}

impl<P: Platform> Queue<P> {
    /// Puts `node` at the end. Returns its predecessor, to be [linked](Self::link) to.
    #[inline(always)]
    pub(super) fn join(&self, node: NonNull<Node<P>>) -> Option<NonNull<Node<P>>> {
        // AcqRel: Acquire pairs with the Release in free_if_last(), Release with the next swap's Acquire.
        NonNull::new(self.tail.swap(node.as_ptr(), Ordering::AcqRel))
    }

    /// Puts a new node at the end, if the queue is empty.
    #[inline]
    pub(super) fn try_join(&self) -> Option<NonNull<Node<P>>> {
        if !self.tail.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let (node, free) = (Node::new(), ptr::null_mut());
        // AcqRel: as in join().
        if self.tail.compare_exchange(free, node.as_ptr(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(node);
        }
        // SAFETY: taken above, and no other thread has seen it.
        unsafe { node::give::<P, _>(node) };
        None
    }

    pub(super) fn link(&self, predecessor: NonNull<Node<P>>, node: NonNull<Node<P>>) {
        // SAFETY: a thread that goes on from the predecessor waits for this store.
        let link = unsafe { &predecessor.as_ref().next };
        // Release: pairs with the Acquire in successor(): the node's initial values come first.
        link.store(node.as_ptr(), Ordering::Release);
    }

    #[inline(always)]
    fn free_if_last(&self, node: NonNull<Node<P>>) -> bool {
        // Release: pairs with the Acquire of the swap that finds null.
        self.tail
            .compare_exchange(node.as_ptr(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Frees the lock if the holder's node is the only one.
    #[inline(always)]
    pub(super) fn free_if_alone(&self, node: NonNull<Node<P>>) -> bool {
        // SAFETY: this thread's node, since it is the holder.
        unsafe { node.as_ref() }.successor().is_none() && self.free_if_last(node)
    }

    /// The holder goes on from `node`: to its successor, or, if it was the last, it frees the lock.
    pub(super) fn leave(&self, node: NonNull<Node<P>>, policy: &WaitPolicy) -> Option<NonNull<Node<P>>> {
        // SAFETY: in the queue, of which the caller is the holder.
        let node_ref = unsafe { node.as_ref() };
        if let Some(next) = node_ref.successor() {
            return Some(next);
        }
        if self.free_if_last(node) {
            return None;
        }
        // The link is one store away, by a thread that is past its swap: too short a wait to sleep.
        let mut waiter = Waiter::<P>::new(&WaitPolicy { park: false, ..*policy }, 1);
        loop {
            if let Some(next) = node_ref.successor() {
                return Some(next);
            }
            waiter.pause();
        }
    }

    #[inline]
    pub(super) fn somebody_behind(&self) -> bool {
        // Acquire: the next read is not older (invariant 6).
        let tail = self.tail.load(Ordering::Acquire);
        !tail.is_null() && tail != self.holder.load(Ordering::Relaxed)
    }
}
