//! The objects, in chains that lie in shards.

use super::chain::{FreeChain, ObjectSlot};
use crate::lock::mutex::Mutex;
use crate::lock::raw_lock::Lock;
use crate::memory::padded::CachePadded;
use crate::waiting::wait::WaitPolicy;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};
use std::fmt;
use std::ptr;

/// The number of objects exchanged at a time, unless set otherwise.
pub const BATCH: u32 = 128;

/// The number of shards, unless set otherwise.
const SHARDS: usize = 8;

/// The objects; see the [module](super).
pub struct Pool<T, P: Platform = Native> {
    shards: Box<[CachePadded<Shard<T, P>>]>,
    /// The memory: every block ever made.
    blocks: Lock<Mutex<P>, Blocks<T, P>>,
    make: Box<dyn Fn() -> T + Send + Sync>,
    pub(super) batch: u32,
}

struct Shard<T, P: Platform> {
    chains: Lock<Mutex<P>, Vec<FreeChain<T, P>>>,
    /// The number of chains; see invariant 3.
    filled: P::AtomicU32,
}

/// Raw pointers, since the slots are in use while this moves.
struct Blocks<T, P: Platform>(Vec<*mut [ObjectSlot<T, P>]>);

// SAFETY: the blocks are owned; the chains govern the use of their slots.
unsafe impl<T: Send, P: Platform> Send for Blocks<T, P> {}

impl<T, P: Platform> Drop for Blocks<T, P> {
    fn drop(&mut self) {
        for block in self.0.drain(..) {
            // SAFETY: made by Box::into_raw in grow(), once; the pool ends, and with it every loan and cache.
            drop(unsafe { Box::from_raw(block) });
        }
    }
}

impl<T: Send, P: Platform> Pool<T, P> {
    /// An empty pool whose objects will be made by `make`, in batches of [`BATCH`].
    #[must_use]
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::with_batch(make, BATCH, SHARDS)
    }

    /// An empty pool with another batch and number of shards (both at least 1).
    #[must_use]
    pub fn with_batch(make: impl Fn() -> T + Send + Sync + 'static, batch: u32, shards: usize) -> Self {
        let lock = || Mutex::new(WaitPolicy::DEFAULT);
        let shard = |_| {
            CachePadded::new(Shard { chains: Lock::new(lock(), Vec::new()), filled: P::AtomicU32::new(0) })
        };
        Self {
            shards: (0..shards.max(1)).map(shard).collect(),
            blocks: Lock::new(lock(), Blocks(Vec::new())),
            make: Box::new(make),
            batch: batch.max(1),
        }
    }

    /// The number of objects that have been made.
    pub fn made(&self) -> u64 {
        self.blocks.acquire().0.iter().map(|block| block.len() as u64).sum()
    }

    /// The number of objects that lie in the shards: neither lent nor in a cache.
    pub fn idle(&self) -> u64 {
        let of = |shard: &CachePadded<Shard<T, P>>| {
            shard.chains.acquire().iter().map(|chain| u64::from(chain.len())).sum::<u64>()
        };
        self.shards.iter().map(of).sum()
    }

    fn nearest_shard(&self) -> usize {
        P::hardware_thread() % self.shards.len()
    }

    /// Takes a chain from a shard, the nearest shard first, or makes a new one.
    #[cold]
    pub(super) fn fetch(&self) -> FreeChain<T, P> {
        let nearest = self.nearest_shard();
        let (before, from_nearest) = self.shards.split_at(nearest);
        let found = from_nearest.iter().chain(before).find_map(|shard| {
            if shard.filled.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let mut chains = shard.chains.acquire();
            let chain = chains.pop();
            shard.filled.store(count(&chains), Ordering::Relaxed);
            chain
        });
        found.unwrap_or_else(|| self.grow())
    }

    /// Puts a chain into the nearest shard; an empty chain vanishes.
    #[cold]
    pub(super) fn put_back(&self, chain: FreeChain<T, P>) {
        if chain.len() == 0 {
            return;
        }
        let shard = &self.shards[self.nearest_shard()];
        let mut chains = shard.chains.acquire();
        chains.push(chain);
        shard.filled.store(count(&chains), Ordering::Relaxed);
    }

    /// Puts a single object into the nearest shard, into a chain that has room.
    #[cold]
    pub(super) fn put_back_one(&self, slot: *const ObjectSlot<T, P>) {
        let shard = &self.shards[self.nearest_shard()];
        let mut chains = shard.chains.acquire();
        if chains.last().is_none_or(|last| last.len() >= self.batch) {
            chains.push(FreeChain::empty());
        }
        let last = chains.last_mut().expect("pushed if there was none");
        // SAFETY: the slot belongs to the caller, which gives it away; the lock guards
        // the chain (invariant 1).
        unsafe { last.push(slot) };
        shard.filled.store(count(&chains), Ordering::Relaxed);
    }

    fn grow(&self) -> FreeChain<T, P> {
        let block: Box<[_]> = (0..self.batch).map(|_| ObjectSlot::new((self.make)())).collect();
        let block = Box::into_raw(block);
        let mut chain = FreeChain::empty();
        // SAFETY: the block was made just now and no other thread knows it; the pool keeps it.
        for slot in unsafe { &*block } {
            // SAFETY: a slot of the new block, which no other thread knows; it joins one chain only.
            unsafe { chain.push(ptr::from_ref(slot)) };
        }
        self.blocks.acquire().0.push(block);
        chain
    }
}

fn count<T>(chains: &[T]) -> u32 {
    u32::try_from(chains.len()).unwrap_or(u32::MAX)
}

impl<T, P: Platform> fmt::Debug for Pool<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("batch", &self.batch).finish_non_exhaustive()
    }
}
