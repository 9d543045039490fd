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
//! 1. A block is in `live` of one thread, or in `free`, all zero. It is never given back to the system, so
//!    pointers to it stay valid.
//! 2. Blocks change hands under the lock of the registry, and sums are taken under it:
//!    nothing is counted twice.
//! 3. `ENDED` is written under that lock. All threads that count while they end, when they have no block any
//!    more, share `LATE`: two that do so at the same moment may lose a count there, never more.

use super::block::Block;
use heddle_platform::fork;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

heddle_platform::thread_slot!(slot, "heddle_model_counters_slot");

/// The counts of the threads that have ended.
static ENDED: Block = Block::new();
static LATE: Block = Block::new();

struct Registry {
    live: Vec<&'static Block>,
    free: Vec<&'static Block>,
    /// Threads that have ended.
    ended: u64,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { live: Vec::new(), free: Vec::new(), ended: 0 });

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
        let mut registry = registry();
        let block = registry.free.pop().unwrap_or_else(|| Box::leak(Box::new(Block::new())));
        registry.live.push(block);
        block
    } else {
        // The thread's end cannot be observed any more.
        &LATE
    };
    slot::set(ptr::from_ref(block).cast_mut().cast());
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
        let mut registry = registry();
        let Some(at) = registry.live.iter().position(|block| ptr::eq(*block, mine)) else { return };
        let block = registry.live.swap_remove(at);
        block.move_to(&ENDED);
        registry.free.push(block);
        registry.ended += 1;
    }
}

/// Calls `visit` for every block. No thread begins or ends while it runs.
pub(super) fn for_each(mut visit: impl FnMut(&Block)) {
    let registry = registry();
    registry.live.iter().copied().chain([&ENDED, &LATE]).for_each(&mut visit);
}

/// The number of threads that have counted something, and the number of them that have not ended.
pub(super) fn threads() -> (u64, u64) {
    let registry = registry();
    let live = registry.live.len() as u64;
    (registry.ended + live, live)
}

/// The number of blocks, with a thread or without.
#[cfg(test)]
pub(super) fn blocks() -> usize {
    let registry = registry();
    registry.live.len() + registry.free.len()
}
