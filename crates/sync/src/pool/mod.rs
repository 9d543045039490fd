//! Objects that are made once and lent out again and again, mostly from the thread's own stock.
//!
//! **What it gives.** Taking an object and giving it back touch the calling thread's cache only: no lock, no atomic
//! instruction, and the object that comes is the one given last. Every 128th time a whole batch is exchanged with one of
//! the pool's shards, under that shard's lock. Objects stay where they are and are never dropped before the pool, so
//! they may hold what outlives a loan (a generation number, a buffer). A thread that only takes and a thread that
//! only gives are as good as any: batches wander.
//!
//! **Source.** Thread-local request pools: Balaji, Buntinas, Goodell, Gropp, Thakur: *Fine-grained multithreading support
//! for hybrid threaded MPI programming*, IJHPCA 24(1), 2010, doi:10.1177/1094342009360206; refilled in batches, typically of
//! 128: Goodell, Balaji, Buntinas, Dózsa, Gropp, Kumar, de Supinski, Thakur: *Minimizing MPI resource contention in
//! multithreaded multicore environments*, IEEE Cluster 2010. The two chains of a cache are the magazines of Bonwick and
//! Adams: *Magazines and vmem*, USENIX ATC 2001: a thread at the edge between two batches does not exchange one every
//! time. We depart from them in that a batch is a chain through the objects themselves and needs no memory of its own.
//!
//! ```text
//!   Cache (one thread):  loaded  o-o-o-o      take / give at its head
//!                        spare   o-o-…-o      empty or full: 0 or a batch
//!                           |  ^
//!             full: give    v  |  fetch: when both are empty
//!   Shard (its lock):    [ chain | chain | … ]      one a group of hardware threads; empty ones are passed over
//!                           ^
//!   Pool:                blocks of a batch each, made when no shard has a chain
//! ```
//!
//! **Invariants.**
//!
//! 1. Every object is in exactly one place: in one chain (of a cache or a shard), or in one [`Object`]. A chain's
//!    slots are touched by its owner: the cache's thread, or the holder of the shard's lock.
//! 2. A chain in a shard has 1 to `batch` objects; whoever ends (a cache, an [`Object`] that is dropped) returns what it
//!    has. So `made` = out + cached + [`idle`](Pool::idle), and a cache holds at most twice the batch.
//! 3. A shard's `filled` is a hint, written under its lock. Who misses a chain because of it makes a block more than
//!    needed, nothing worse; a chain given before (in the order of synchronisation) is seen.
//!
//! **Orderings.** Chains change owner under a shard's lock, which orders all accesses to their objects.
//!
//! **Liveness.** A thread stopped within an exchange holds one shard's lock: others of that shard wait, one time in
//! 128. A thread stopped elsewhere keeps at most two batches from the others, which then make new ones.
//!
//! Two ways to a cache: [`Pool::cache`] gives an explicit one, on every platform; [`LocalPool`] keeps one for each thread
//! and gives back what a thread that ends has.

mod cache;
mod chain;
#[cfg(not(loom))]
mod local;
mod object;

pub use cache::Cache;
#[cfg(not(loom))]
pub use local::{LocalPool, Pooled};
pub use object::Object;

use crate::fault::{Fault, injected};
use crate::mutex::Mutex;
use crate::padded::CachePadded;
use crate::raw_lock::Lock;
use crate::wait::WaitPolicy;
use chain::{Chain, Slot};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};
use std::fmt;
use std::ptr;

/// How many objects are exchanged at a time, unless told otherwise.
pub const BATCH: u32 = 128;

/// How many shards, unless told otherwise.
const SHARDS: usize = 8;

/// The objects; see the [module](self).
pub struct Pool<T, P: Platform = Native> {
    shards: Box<[CachePadded<Shard<T, P>>]>,
    /// The memory: every block ever made.
    blocks: Lock<Mutex<P>, Blocks<T, P>>,
    make: Box<dyn Fn() -> T + Send + Sync>,
    batch: u32,
}

struct Shard<T, P: Platform> {
    chains: Lock<Mutex<P>, Vec<Chain<T, P>>>,
    /// How many chains there are; see invariant 3.
    filled: P::AtomicU32,
}

/// Raw, since the slots are in use while this moves.
struct Blocks<T, P: Platform>(Vec<*mut [Slot<T, P>]>);

// SAFETY: the blocks are owned; what others do with their slots is governed by the chains.
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

    /// As [`new`](Self::new), with the batch and the number of shards (both at least 1).
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

    /// A thread's stock. Ending it returns what it holds.
    #[must_use]
    pub fn cache(&self) -> Cache<'_, T, P> {
        Cache::new(self)
    }

    /// How many objects have been made.
    pub fn made(&self) -> u64 {
        self.blocks.acquire().0.iter().map(|block| block.len() as u64).sum()
    }

    /// How many objects lie in the shards: neither out nor in a cache.
    pub fn idle(&self) -> u64 {
        let of = |shard: &CachePadded<Shard<T, P>>| {
            shard.chains.acquire().iter().map(|chain| u64::from(chain.len())).sum::<u64>()
        };
        self.shards.iter().map(of).sum()
    }

    fn home(&self) -> usize {
        P::hardware_thread() % self.shards.len()
    }

    /// A chain from a shard, the caller's own first, or a new one.
    #[cold]
    fn fetch(&self) -> Chain<T, P> {
        let home = self.home();
        let (before, from_home) = self.shards.split_at(home);
        let found = from_home.iter().chain(before).find_map(|shard| {
            if shard.filled.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let mut chains = shard.chains.acquire();
            let chain = chains.pop();
            if injected(Fault::PoolBatchStays)
                && let Some(chain) = &chain
            {
                chains.push(chain.twin());
            }
            shard.filled.store(count(&chains), Ordering::Relaxed);
            chain
        });
        found.unwrap_or_else(|| self.grow())
    }

    /// Puts a chain into the caller's shard; an empty one vanishes.
    #[cold]
    fn put_back(&self, chain: Chain<T, P>) {
        if chain.len() == 0 || injected(Fault::PoolBatchLost) {
            return;
        }
        let shard = &self.shards[self.home()];
        let mut chains = shard.chains.acquire();
        chains.push(chain);
        shard.filled.store(count(&chains), Ordering::Relaxed);
    }

    /// Puts a single object into the caller's shard, into a chain that has room.
    #[cold]
    fn put_back_one(&self, slot: *const Slot<T, P>) {
        let shard = &self.shards[self.home()];
        let mut chains = shard.chains.acquire();
        if chains.last().is_none_or(|last| last.len() >= self.batch) {
            chains.push(Chain::empty());
        }
        let last = chains.last_mut().expect("pushed if there was none");
        // SAFETY: the slot is the caller's, who gives it away; the chain is guarded by the lock (invariant 1).
        unsafe { last.push(slot) };
        shard.filled.store(count(&chains), Ordering::Relaxed);
    }

    fn grow(&self) -> Chain<T, P> {
        let block: Box<[_]> = (0..self.batch).map(|_| Slot::new((self.make)())).collect();
        let block = Box::into_raw(block);
        let mut chain = Chain::empty();
        // SAFETY: the block was made just now and is nobody else's; the pool keeps it.
        for slot in unsafe { &*block } {
            // SAFETY: as above.
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
