//! A queue of fixed size: many producers, one consumer, no allocation after the start.
//!
//! **What it gives.** A push is one successful compare-and-swap on the common tail and a store to the
//! claimed slot; a pop is a load and two stores, none of them contended by the consumer's side. A full
//! queue says so at once. A push is lock-free (a failed compare-and-swap means that another producer's
//! succeeded). No thread ever waits.
//!
//! **Source.** D. Vyukov, *Bounded MPMC queue* (1024cores.net, 2010), with its consumer's side reduced to
//! one consumer. We add the closing, a bit of the tail, so that it is one step for all producers.
//!
//! Each slot says by its `turn` whose turn it is. For position `p` (slot `p mod capacity`):
//!
//! | `turn` | meaning | left by |
//! |---|---|---|
//! | `p` | free for the producer that claims position `p` | that producer's store of `p + 1` |
//! | `p + 1` | full | the consumer's store of `p + capacity` |
//!
//! **Invariants.**
//!
//! 1. `tail` counts the claims: position `p` is claimed by the one producer that moved `tail` from `p` to
//!    `p + 1`, which happens only after it saw `turn == p`. Only that producer writes the slot until `turn
//!    == p + 1`.
//! 2. Only the consumer writes `head`, and slot `head` belongs to it while `turn == head + 1`.
//! 3. Once CLOSED is set in `tail` it stays, and no claim succeeds.
//!
//! **Emptiness and liveness.** The consumer's [`is_empty`](Mpsc::is_empty) compares `head` with the claims
//! and is exact. [`Consumer::pop`](super::Consumer::pop) may return `None` although elements are queued: if
//! the producer of the oldest position is stopped between its claim and its `turn` store, younger elements
//! wait behind it, since the order is kept. Meanwhile the other producers go on.
//! [`Unbounded`](super::Unbounded) does not have that weakness.
//!
//! **Orderings.** `turn` carries the values: Release by the thread that is done with a slot,
//! Acquire by the next one.

use super::{Mpsc, Refused};
use crate::memory::padded::CachePadded;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, MemoryCell};
use heddle_platform::{Native, Platform};
use std::fmt;
use std::mem::MaybeUninit;

/// In `tail`: no more claims.
const CLOSED: usize = !(usize::MAX >> 1);
/// The other bits of `tail`: positions, which wrap around.
const POSITION: usize = !CLOSED;

/// The queue; see the [module](self).
pub struct Bounded<T, P: Platform = Native> {
    /// The next position to claim, and CLOSED.
    tail: CachePadded<P::AtomicUsize>,
    /// The next position to pop.
    head: CachePadded<P::AtomicUsize>,
    slots: Box<[Slot<T, P>]>,
    /// 1 while a [`Consumer`](super::Consumer) exists.
    claimed: P::AtomicU32,
}

struct Slot<T, P: Platform> {
    turn: P::AtomicUsize,
    value: P::Cell<MaybeUninit<T>>,
}

// SAFETY: a value goes from its producer to the consumer (invariants 1 and 2), so Send is enough.
unsafe impl<T: Send, P: Platform> Sync for Bounded<T, P> {}
// SAFETY: a value goes from its producer to the consumer, so Send is enough; the owner of
// the queue owns the values.
unsafe impl<T: Send, P: Platform> Send for Bounded<T, P> {}

impl<T, P: Platform> fmt::Debug for Bounded<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T, P: Platform> Bounded<T, P> {
    /// A queue with room for at least `capacity` values: the next power of two, and no less than 2.
    ///
    /// # Panics
    ///
    /// If `capacity` is more than memory can hold.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2).checked_next_power_of_two().expect("a capacity that memory can hold");
        let slots = (0..capacity)
            .map(|position| Slot {
                turn: AtomicInteger::new(position),
                value: MemoryCell::new(MaybeUninit::uninit()),
            })
            .collect();
        Self {
            tail: CachePadded::new(AtomicInteger::new(0)),
            head: CachePadded::new(AtomicInteger::new(0)),
            slots,
            claimed: AtomicInteger::new(0),
        }
    }

    /// An empty queue that `position` values, modulo the number of positions, went through.
    #[cfg(all(test, not(loom)))]
    fn starting_at(capacity: usize, position: usize) -> Self {
        let queue = Self::new(capacity);
        for ahead in 0..queue.capacity() {
            let free = (position + ahead) & POSITION;
            queue.slot(free).turn.store(free, Ordering::Relaxed);
        }
        queue.head.store(position, Ordering::Relaxed);
        queue.tail.store(position, Ordering::Relaxed);
        queue
    }

    /// The number of values that it has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    fn slot(&self, position: usize) -> &Slot<T, P> {
        &self.slots[position & (self.slots.len() - 1)]
    }

    /// Claims a position, or returns why not: true for full, false for closed.
    fn claim_position(&self) -> Result<usize, bool> {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & CLOSED != 0 {
                return Err(false);
            }
            // Acquire: pairs with the Release of the consumer that emptied the slot.
            let turn = self.slot(tail).turn.load(Ordering::Acquire);
            if turn != tail {
                // Either the slot is still full from the last lap, or another producer has claimed it; then
                // the tail has moved, and the Acquire makes that visible.
                let now = self.tail.load(Ordering::Relaxed);
                if now == tail {
                    return Err(true);
                }
                tail = now;
                continue;
            }
            let next = (tail + 1) & POSITION;
            match self.tail.compare_exchange(tail, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(tail),
                Err(now) => tail = now,
            }
        }
    }

    fn pop_slot(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        let slot = self.slot(head);
        // Acquire: pairs with the Release in push().
        if slot.turn.load(Ordering::Acquire) != (head + 1) & POSITION {
            return None;
        }
        let value = slot.value.with(|value| {
            // SAFETY: it belongs to the consumer while it is full (invariant 2).
            let value = unsafe { &*value };
            // SAFETY: full (its turn says so), and read once, since `head` moves on.
            unsafe { value.assume_init_read() }
        });
        // Release: pairs with the Acquire in claim_position(); the value has been read.
        slot.turn.store((head + self.slots.len()) & POSITION, Ordering::Release);
        self.head.store((head + 1) & POSITION, Ordering::Relaxed);
        Some(value)
    }
}

impl<T: Send, P: Platform> Mpsc for Bounded<T, P> {
    type Item = T;

    fn push(&self, value: T) -> Result<(), Refused<T>> {
        let position = match self.claim_position() {
            Ok(position) => position,
            Err(true) => return Err(Refused::Full(value)),
            Err(false) => return Err(Refused::Closed(value)),
        };
        let slot = self.slot(position);
        slot.value.with_mut(|place| {
            // SAFETY: claimed, so only this producer accesses it (invariant 1).
            unsafe { *place = MaybeUninit::new(value) };
        });
        // Release: pairs with the Acquire in pop_slot().
        slot.turn.store((position + 1) & POSITION, Ordering::Release);
        Ok(())
    }

    fn close(&self) {
        self.tail.fetch_or(CLOSED, Ordering::Relaxed);
    }

    fn is_closed(&self) -> bool {
        self.tail.load(Ordering::Relaxed) & CLOSED != 0
    }

    unsafe fn pop(&self) -> Option<T> {
        self.pop_slot()
    }

    fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == self.tail.load(Ordering::Relaxed) & POSITION
    }

    fn claim(&self) -> bool {
        // Acquire: pairs with the Release in unclaim(); what the last consumer did comes before.
        self.claimed.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn unclaim(&self) {
        self.claimed.store(0, Ordering::Release);
    }
}

impl<T, P: Platform> Drop for Bounded<T, P> {
    fn drop(&mut self) {
        while self.pop_slot().is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::queues::Consumer;

    /// One test, so that a wrong position ends it before threads wait for that position.
    #[test]
    fn counts_on_where_the_positions_wrap() {
        laps_of_one_thread_are_full_and_empty();
        a_closed_queue_is_emptied();
        values_of_many_producers_keep_their_order();
    }

    fn laps_of_one_thread_are_full_and_empty() {
        for before in 0..6 {
            let queue = Bounded::<u32>::starting_at(4, POSITION - before);
            let mut consumer = Consumer::of(&queue).expect("the only consumer");
            for lap in 0..3 {
                assert!(consumer.pop().is_none() && queue.is_empty() && !queue.is_closed(), "{before} {lap}");
                for value in 0..4 {
                    assert!(queue.push(value).is_ok(), "{before} {lap}: there is room");
                    assert!(!queue.is_empty() && !queue.is_closed(), "{before} {lap}");
                }
                assert!(matches!(queue.push(4), Err(Refused::Full(4))), "{before} {lap}");
                for value in 0..4 {
                    assert_eq!(consumer.pop(), Some(value), "{before} {lap}");
                }
            }
            assert!(!consumer.is_finished());
            queue.close();
            assert!(matches!(queue.push(5), Err(Refused::Closed(5))) && consumer.is_finished(), "{before}");
        }
    }

    fn a_closed_queue_is_emptied() {
        for before in 0..4 {
            let queue = Bounded::<u32>::starting_at(4, POSITION - before);
            let mut consumer = Consumer::of(&queue).expect("the only consumer");
            (0..3).for_each(|value| assert!(queue.push(value).is_ok(), "{before}: there is room"));
            queue.close();
            assert!(matches!(queue.push(3), Err(Refused::Closed(3))));
            for value in 0..3 {
                assert!(!consumer.is_finished());
                assert_eq!(consumer.pop(), Some(value));
            }
            assert!(consumer.is_finished(), "{before}");
        }
    }

    fn values_of_many_producers_keep_their_order() {
        const EACH: u32 = 500;
        let queue = Bounded::<(usize, u32)>::starting_at(4, POSITION - 5);
        std::thread::scope(|scope| {
            for producer in 0..3 {
                let queue = &queue;
                scope.spawn(move || {
                    for value in 0..EACH {
                        while queue.push((producer, value)).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut consumer = Consumer::of(&queue).expect("the only consumer");
            let mut next = [0; 3];
            while next != [EACH; 3] {
                match consumer.pop() {
                    Some((producer, value)) => {
                        assert_eq!(value, next[producer]);
                        next[producer] += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
            assert!(consumer.is_empty());
        });
    }
}
