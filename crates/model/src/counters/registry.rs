//! The assignment of blocks to threads.
//!
//! ```text
//!   slot (8 bytes, thread-local)
//!   null     the thread has not counted yet ---- open() ----> a block: a free one, or a new one
//!   pointer  its block                       ---- Closer ---> LATE, and the block is free
//! ```
//!
//! **Invariants.**
//!
//! 1. A block belongs to one thread, or is in `free`. It keeps its counts and its place, and is never given
//!    back to the system, so pointers to it stay valid.
//! 2. Blocks change hands under the lock of the registry, and sums are taken under it:
//!    nothing is counted twice.
//! 3. All threads that count while they end, when they have no block any more, share `LATE`: two that do so
//!    at the same moment may lose a count there, never more.

use super::block::Block;
use super::cores;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::fork;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

heddle_platform::thread_slot!(slot, "heddle_model_counters_slot");

static LATE: Block = Block::new();

struct Registry {
    /// All of them; a block's place is its index.
    blocks: Vec<&'static Block>,
    /// The places without a thread; the lowest is taken first.
    free: BinaryHeap<Reverse<usize>>,
    /// Threads that have been given a block.
    seen: u64,
}

/// The number of threads that have a block; written under the lock of the registry, for readers without it.
static LIVE: AtomicU32 = AtomicU32::new(0);

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { blocks: Vec::new(), free: BinaryHeap::new(), seen: 0 });

impl Registry {
    fn take(&mut self) -> &'static Block {
        self.seen += 1;
        // Relaxed, here and below: a hint.
        LIVE.fetch_add(1, Ordering::Relaxed);
        if let Some(Reverse(place)) = self.free.pop() {
            return self.blocks[place];
        }
        let block = Box::leak(Box::new(Block::new()));
        self.blocks.push(block);
        block
    }

    fn give_back(&mut self, block: *const Block) {
        if let Some(place) = self.place_of(block) {
            self.free.push(Reverse(place));
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The place of a block; `LATE` has none.
    fn place_of(&self, block: *const Block) -> Option<usize> {
        self.blocks.iter().position(|other| ptr::eq(*other, block))
    }
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread's block.
#[inline(always)]
pub(super) fn mine() -> &'static Block {
    let block = slot::get().cast::<Block>();
    // SAFETY: the pointer is null, or `open` or `Closer` has stored it; then it is valid, since blocks are
    // never freed (invariant 1).
    match unsafe { block.as_ref() } {
        Some(block) => block,
        None => open(),
    }
}

/// Gives the calling thread a block.
#[cold]
#[inline(never)]
fn open() -> &'static Block {
    fork::watch();
    let block = if AT_EXIT.try_with(|_| ()).is_ok() {
        registry().take()
    } else {
        // The thread's end cannot be observed any more.
        &LATE
    };
    slot::set(ptr::from_ref(block).cast_mut().cast());
    cores::beside(live_threads());
    block
}

/// Takes the block from a thread that ends.
struct Closer;

thread_local! {
    static AT_EXIT: Closer = const { Closer };
}

impl Drop for Closer {
    fn drop(&mut self) {
        if fork::is_child() {
            // Another thread may have held the lock at the fork.
            return;
        }
        let mine = slot::get().cast::<Block>();
        slot::set(ptr::from_ref(&LATE).cast_mut().cast());
        registry().give_back(mine);
        cores::beside(live_threads());
    }
}

/// Calls `visit` for every block, with its place. No thread begins or ends while it runs.
pub(super) fn for_each(mut visit: impl FnMut(usize, &Block)) {
    let registry = registry();
    registry.blocks.iter().copied().chain([&LATE]).enumerate().for_each(|(place, block)| visit(place, block));
}

/// The place of the calling thread's block. All threads that count while they end have one together, after
/// the others'.
pub(super) fn place() -> usize {
    let mine = mine();
    let registry = registry();
    registry.place_of(mine).unwrap_or(registry.blocks.len())
}

/// The number of threads that have counted something, and the number of them that have not ended.
pub(super) fn threads() -> (u64, u64) {
    let registry = registry();
    (registry.seen, (registry.blocks.len() - registry.free.len()) as u64)
}

/// The number of threads that have counted something and have not ended, without a lock.
#[inline]
pub(super) fn live_threads() -> u32 {
    LIVE.load(Ordering::Relaxed)
}

/// The number of blocks, with a thread or without.
#[cfg(test)]
pub(super) fn blocks() -> usize {
    registry().blocks.len()
}
