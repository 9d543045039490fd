//! Queues with many producers and one consumer.
//!
//! | queue | a push | room | an element is an allocation |
//! |---|---|---|---|
//! | [`Bounded`] | lock-free, says when it is full | fixed at the start | no |
//! | [`Unbounded`] | lock-free, never fails while the queue is open | as needed | yes |
//!
//! Both keep the order of one producer's elements, and more: the pushes have one order, in which the
//! elements come out. Both can be closed: from then on every push is refused, and the consumer learns when
//! it has seen the last element.
//!
//! [`tasks`] is no queue of this kind: threads take its elements out, and put them back. Nor is
//! [`partitions`], each of whose elements has a place of its own; and in [`publications`] every process reads
//! what all of them have pushed.
//!
//! Below [`Unbounded`] is the [`chain`], whose nodes belong to its user and are taken all at once; below
//! [`partitions`] are [`sparse`] words.
//!
//! There is one consumer at a time. The [`Consumer`] that a queue lends enforces it; a thread that is alone
//! for another reason, such as holding a lock, calls the `unsafe` methods of [`Mpsc`] and pays nothing.

pub mod bounded;
pub mod chain;
pub mod claims;
pub mod partitions;
pub mod publications;
pub mod sparse;
pub mod tasks;
pub mod unbounded;

pub use bounded::Bounded;
pub use unbounded::Unbounded;

use std::fmt;

/// The reason why a queue did not take an element, with the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused<T> {
    /// There was no room at some moment during the push.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

impl<T> Refused<T> {
    /// The element.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the queue is full; try again when its consumer has taken something out",
            Self::Closed(_) => "the queue is closed",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for Refused<T> {}

/// A queue with many producers and one consumer.
pub trait Mpsc: Send + Sync {
    /// The type of the elements.
    type Item;

    /// Appends a value.
    ///
    /// # Errors
    ///
    /// [`Refused`] gives the value back.
    fn push(&self, value: Self::Item) -> Result<(), Refused<Self::Item>>;

    /// Refuses all pushes from now on. A push that runs at the same time succeeds before it or is refused.
    fn close(&self);

    /// Returns true if it was closed.
    fn is_closed(&self) -> bool;

    /// Takes the oldest value out, or returns `None` if there is none that can be taken now.
    ///
    /// # Safety
    ///
    /// No other thread calls this at the same time, and the calls that were before it happen before it.
    unsafe fn pop(&self) -> Option<Self::Item>;

    /// Returns true if nothing is queued. For the consumer the answer is exact: every push that happened
    /// before the call is counted. For other threads it is a hint that may be outdated at once.
    fn is_empty(&self) -> bool;

    /// Takes the consumer's place; returns false if it is taken. For [`Consumer`].
    #[doc(hidden)]
    fn claim(&self) -> bool;

    /// Gives the consumer's place back. For [`Consumer`].
    #[doc(hidden)]
    fn unclaim(&self);
}

/// The right to take values out of a queue.
///
/// Two producers, and a consumer that learns when it has seen the last value:
///
/// ```
/// use heddle_sync::queues::{Consumer, Mpsc, Unbounded};
///
/// let queue: Unbounded<u32> = Unbounded::new();
/// std::thread::scope(|scope| {
///     for part in 0..2 {
///         let queue = &queue;
///         scope.spawn(move || (0..10).for_each(|i| queue.push(10 * part + i).expect("open")));
///     }
/// });
/// queue.close();
/// assert!(queue.push(20).is_err());
///
/// let mut consumer = Consumer::of(&queue).expect("no other consumer");
/// let mut values: Vec<u32> = std::iter::from_fn(|| consumer.pop()).collect();
/// values.sort();
/// assert_eq!(values, (0..20).collect::<Vec<_>>());
/// ```
#[derive(Debug)]
pub struct Consumer<'a, Q: Mpsc> {
    queue: &'a Q,
}

impl<'a, Q: Mpsc> Consumer<'a, Q> {
    /// The right to consume, unless another thread has it.
    pub fn of(queue: &'a Q) -> Option<Self> {
        queue.claim().then_some(Self { queue })
    }

    /// Takes the oldest value out. `None` does not mean that nothing is queued: see the queue's own page.
    pub fn pop(&mut self) -> Option<Q::Item> {
        // SAFETY: one consumer exists at a time (claim, unclaim), borrowed exclusively.
        unsafe { self.queue.pop() }
    }

    /// Returns true if nothing is queued; exact.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns true if nothing is queued and nothing will ever be.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        // In this order: what was pushed before the closing is counted.
        self.queue.is_closed() && self.queue.is_empty()
    }
}

impl<Q: Mpsc> Drop for Consumer<'_, Q> {
    fn drop(&mut self) {
        self.queue.unclaim();
    }
}
