//! A counter block for each thread.
//!
//! A hash table of fixed size maps threads' identities ([`Platform::thread_id`]) to blocks. A thread claims a
//! slot when it first comes and keeps it, so its counts stay after its end. A thread that starts later with
//! the identity of one that ended goes on with its block: the two never exist at the same time. When all
//! slots are taken, the threads without a slot share one block, and count there with atomic additions.
//!
//! **Invariants.**
//!
//! 1. A slot's `owner` goes from 0 to an identity once, by compare-and-swap, and stays. Only the thread of
//!    that identity writes its block and the pointer to it.
//! 2. The pointer is stored once, with Release, after the block was made; readers take it with Acquire.

use super::tally::Writers;
use crate::memory::padded::CachePadded;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Native, Platform, thread};
use std::fmt;
use std::ptr;

/// A `T` for each thread, see the [module](super).
pub struct PerThread<T: Default + Send + Sync + 'static, P: Platform = Native> {
    slots: Box<[ThreadSlot<T, P>]>,
    /// The block of the threads that found no slot.
    shared: CachePadded<T>,
}

struct ThreadSlot<T: 'static, P: Platform> {
    owner: P::AtomicU64,
    block: P::AtomicPtr<CachePadded<T>>,
}

/// The calling thread's block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// The values that it counts in.
    pub value: &'a T,
    /// True if it is the only thread that does.
    pub writers: Writers,
}

/// The number of slots, unless set otherwise.
const SLOTS: usize = 128;

impl<T: Default + Send + Sync + 'static, P: Platform> Default for PerThread<T, P> {
    fn default() -> Self {
        Self::with_slots(SLOTS)
    }
}

impl<T: Default + Send + Sync + 'static, P: Platform> PerThread<T, P> {
    /// Room for `threads` threads with separate blocks, rounded up to a power of two. A slot is 16 bytes; a
    /// block is made when its thread comes.
    #[must_use]
    pub fn with_slots(slots: usize) -> Self {
        let slot = |_| ThreadSlot { owner: P::AtomicU64::new(0), block: AtomicPointer::new(ptr::null_mut()) };
        let slots = slots.max(1).next_power_of_two();
        Self { slots: (0..slots).map(slot).collect(), shared: CachePadded::new(T::default()) }
    }

    /// The calling thread's block: a search in the table.
    #[inline]
    pub fn mine(&self) -> Block<'_, T> {
        let me = P::thread_id();
        let first = self.first_slot(me);
        let slot = &self.slots[first];
        if slot.owner.load(Ordering::Relaxed) == me {
            return Self::own(slot);
        }
        self.find_or_claim(me, first)
    }

    #[inline]
    fn first_slot(&self, id: u64) -> usize {
        // All digits of the identity affect the upper half of the product (Fibonacci hashing).
        let hash = (id / thread::ID_STEP).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn own(slot: &ThreadSlot<T, P>) -> Block<'_, T> {
        let block = slot.block.load(Ordering::Relaxed);
        // SAFETY: stored by this thread, or by one with the same identity that ended before this one began
        // (invariant 1), and freed only with the table.
        Block { value: unsafe { &**block }, writers: Writers::One }
    }

    #[cold]
    fn find_or_claim(&self, me: u64, first: usize) -> Block<'_, T> {
        let mask = self.slots.len() - 1;
        for step in 0..=mask {
            let slot = &self.slots[(first + step) & mask];
            let mut owner = slot.owner.load(Ordering::Relaxed);
            if owner == 0 {
                owner = Self::claim(slot, me);
            }
            if owner == me {
                return Self::own(slot);
            }
        }
        Block { value: &self.shared, writers: Writers::Many }
    }

    /// Tries to make a free slot the caller's. Returns the identity of its owner afterwards.
    fn claim(slot: &ThreadSlot<T, P>, me: u64) -> u64 {
        if let Err(owner) = slot.owner.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
            return owner;
        }
        let block = Box::into_raw(Box::<CachePadded<T>>::default());
        // Release: pairs with the Acquire in blocks().
        slot.block.store(block, Ordering::Release);
        me
    }

    /// All blocks, the shared one last.
    pub fn blocks(&self) -> impl Iterator<Item = &T> {
        let own = self.slots.iter().filter_map(|slot| {
            // Acquire: pairs with the Release in claim().
            let block = slot.block.load(Ordering::Acquire);
            // SAFETY: null, or stored once and freed only with the table (invariant 2).
            unsafe { block.as_ref() }.map(|block| &**block)
        });
        own.chain([&*self.shared])
    }
}

impl<T: Default + Send + Sync + 'static, P: Platform> Drop for PerThread<T, P> {
    fn drop(&mut self) {
        for slot in &self.slots {
            // Acquire: the block may have been made by another thread.
            let block = slot.block.load(Ordering::Acquire);
            if !block.is_null() {
                // SAFETY: made by Box::into_raw in claim(), once; only the caller has the table.
                drop(unsafe { Box::from_raw(block) });
            }
        }
    }
}

impl<T: Default + Send + Sync + fmt::Debug + 'static, P: Platform> fmt::Debug for PerThread<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.blocks()).finish()
    }
}
