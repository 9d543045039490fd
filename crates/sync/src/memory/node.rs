//! The memory of queue nodes: blocks of 128 bytes from a cache that each thread keeps.
//!
//! **What it gives.** A queue lock needs a node for each acquisition, at an address that other threads may
//! write to until the node's owner knows that none can any more. [`take`] and [`give`] cost about a
//! nanosecond each. They call the allocator only when a thread has never held this many nodes at once, or
//! when its cache has [`KEPT`] of them already. Threads share nothing: a block that one thread took and
//! another gives back (as in a CLH queue) stays with the latter, which takes its next block from there.
//!
//! ```text
//!   slot (8 bytes, thread-local)      Cache (heap, one per thread)          Block (heap, 128 bytes, aligned to 128)
//!   null     no cache yet        +--> len                            +--> node of any kind that fits
//!   CLOSED   the thread ends     |    blocks[0 .. len] --------------+
//!   pointer ---------------------+
//! ```
//!
//! **Invariants.**
//!
//! 1. A block is in one place: taken, or in `blocks[0 .. len]` of one cache.
//! 2. A slot that is neither null nor `CLOSED` points to the cache of the thread that reads it, which no
//!    other thread touches.
//! 3. A cache is made only after its end has been arranged: the thread's end frees it with its blocks and
//!    leaves `CLOSED`. From then on blocks come from the allocator and go back to it. So the destructors of
//!    other thread-locals may use nodes.
//!
//! Where memory must not be reused unseen ([`Platform::REUSES_MEMORY`]), every node is an allocation. The
//! same holds under Miri, which then sees every use after `give`.

use heddle_platform::Platform;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

heddle_platform::thread_slot!(slot, "heddle_sync_node_slot");

/// The number of blocks that a thread keeps for its next acquisitions. A thread is not likely to hold or
/// await more locks at once.
pub const KEPT: usize = 15;

/// A block's size and alignment: two cache lines, since processors fetch lines in pairs.
pub const BLOCK_BYTES: usize = 128;

const BLOCK: Layout = match Layout::from_size_align(BLOCK_BYTES, BLOCK_BYTES) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

/// The slot's value once the thread has begun to end.
const CLOSED: *mut NodeCache = ptr::without_provenance_mut(1);

struct NodeCache {
    len: Cell<usize>,
    blocks: [Cell<*mut u8>; KEPT],
}

/// True if a node of kind `N` fits a block.
struct Fits<N>(N);

impl<N> Fits<N> {
    const CHECKED: () = assert!(size_of::<N>() <= BLOCK_BYTES && align_of::<N>() <= BLOCK_BYTES);
}

const fn cached<P: Platform>() -> bool {
    P::REUSES_MEMORY && !cfg!(miri)
}

/// Puts `node` into a block and returns its address. The node stays there until [`give`].
#[inline(always)]
#[must_use = "a node that is not given back is lost"]
pub fn take<P: Platform, N>(node: N) -> NonNull<N> {
    let () = Fits::<N>::CHECKED;
    if !cached::<P>() {
        return NonNull::from(Box::leak(Box::new(node)));
    }
    let place: NonNull<N> = take_block().cast();
    // SAFETY: the block is large and aligned enough (Fits), and no other thread has it (invariant 1).
    unsafe { place.write(node) };
    place
}

/// Ends a node. The block serves the calling thread's next [`take`], whichever thread took it.
///
/// # Safety
///
/// `node` came from [`take`] with the same `P` and `N`, is given back once, and nobody accesses it any more.
#[inline(always)]
pub unsafe fn give<P: Platform, N>(node: NonNull<N>) {
    if !cached::<P>() {
        // SAFETY: made by `Box::leak` in take(); this is its end.
        drop(unsafe { Box::from_raw(node.as_ptr()) });
        return;
    }
    // SAFETY: take() put a valid node there, and nobody accesses it any more.
    unsafe { node.drop_in_place() };
    give_block(node.cast());
}

#[inline(always)]
fn own_cache() -> Option<&'static NodeCache> {
    let cache = slot::get().cast::<NodeCache>();
    // SAFETY: neither null nor CLOSED, so it is this thread's living cache (invariant 2). It ends only at the
    // thread's end (Closer), when no function of this file is running.
    (cache.addr() > CLOSED.addr()).then(|| unsafe { &*cache })
}

#[inline(always)]
fn take_block() -> NonNull<u8> {
    if let Some(cache) = own_cache()
        && let Some(len) = cache.len.get().checked_sub(1)
        && let Some(block) = cache.blocks.get(len)
    {
        cache.len.set(len);
        // SAFETY: elements below `len` are blocks (invariant 1).
        return unsafe { NonNull::new_unchecked(block.get()) };
    }
    new_block()
}

#[inline(always)]
fn give_block(block: NonNull<u8>) {
    if let Some(cache) = own_cache()
        && let Some(place) = cache.blocks.get(cache.len.get())
    {
        place.set(block.as_ptr());
        cache.len.set(cache.len.get() + 1);
        return;
    }
    give_surplus(block);
}

#[cold]
fn new_block() -> NonNull<u8> {
    // SAFETY: the layout's size is not zero.
    let block = unsafe { alloc(BLOCK) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(BLOCK))
}

/// Gives back a block if the thread's cache is missing, full or closed.
#[cold]
fn give_surplus(block: NonNull<u8>) {
    if slot::get().is_null() {
        open_cache();
        if own_cache().is_some() {
            return give_block(block);
        }
    }
    // SAFETY: made by new_block, ended once (invariant 1).
    unsafe { dealloc(block.as_ptr(), BLOCK) };
}

fn open_cache() {
    // Invariant 3: if the thread's end cannot be observed any more, nothing is cached.
    let cache = if AT_EXIT.try_with(|_| ()).is_ok() {
        let empty = NodeCache { len: Cell::new(0), blocks: [const { Cell::new(ptr::null_mut()) }; KEPT] };
        Box::into_raw(Box::new(empty))
    } else {
        CLOSED
    };
    slot::set(cache.cast());
}

/// Frees the thread's cache when the thread ends.
struct Closer;

thread_local! {
    static AT_EXIT: Closer = const { Closer };
}

impl Drop for Closer {
    fn drop(&mut self) {
        let cache = slot::get().cast::<NodeCache>();
        slot::set(CLOSED.cast());
        if cache.addr() <= CLOSED.addr() {
            return;
        }
        // SAFETY: made by open_cache for this thread (invariant 2); the slot no longer leads to it.
        let cache = unsafe { Box::from_raw(cache) };
        for block in &cache.blocks[..cache.len.get()] {
            // SAFETY: elements below `len` are blocks made by new_block (invariant 1).
            unsafe { dealloc(block.get(), BLOCK) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::Native;
    use std::cell::RefCell;

    type Node = [u64; 3];

    fn take_node(number: u64) -> NonNull<Node> {
        take::<Native, _>([number, number + 1, number + 2])
    }

    fn check_and_give(node: NonNull<Node>, number: u64) {
        // SAFETY: taken below, alive.
        assert_eq!(unsafe { *node.as_ptr() }, [number, number + 1, number + 2]);
        // SAFETY: taken below, given once.
        unsafe { give::<Native, _>(node) };
    }

    #[test]
    fn nodes_taken_at_once_are_different_and_aligned() {
        for round in 0..3 {
            let nodes: Vec<_> = (0..100).map(|number| take_node(number + round)).collect();
            for (number, node) in (0..).zip(nodes) {
                if cached::<Native>() {
                    assert_eq!(node.addr().get() % BLOCK_BYTES, 0);
                }
                check_and_give(node, number + round);
            }
        }
    }

    #[test]
    #[cfg(not(any(miri, asan)))]
    fn a_given_block_is_taken_next() {
        let node = take_node(1);
        check_and_give(node, 1);
        let again = take_node(2);
        assert_eq!(node, again);
        check_and_give(again, 2);
    }

    #[test]
    fn a_value_with_a_destructor_is_dropped() {
        let shared = std::rc::Rc::new(());
        let node = take::<Native, _>(std::rc::Rc::clone(&shared));
        assert_eq!(std::rc::Rc::strong_count(&shared), 2);
        // SAFETY: taken above.
        unsafe { give::<Native, _>(node) };
        assert_eq!(std::rc::Rc::strong_count(&shared), 1);
    }

    #[test]
    fn blocks_move_between_threads() {
        let (send, receive) = std::sync::mpsc::channel::<usize>();
        let giver = std::thread::spawn(move || {
            for (number, node) in (0..).zip(receive) {
                let node = ptr::with_exposed_provenance_mut::<Node>(node);
                check_and_give(NonNull::new(node).expect("a node"), number);
            }
        });
        for number in 0..1_000 {
            send.send(take_node(number).as_ptr().expose_provenance()).expect("the giver lives");
        }
        drop(send);
        giver.join().expect("giver");
    }

    /// Uses nodes in the destructor of a thread-local, before and after the end of the cache.
    #[test]
    fn nodes_can_be_used_while_the_thread_ends() {
        struct Late(u64);
        impl Drop for Late {
            fn drop(&mut self) {
                let nodes: Vec<_> = (0..20).map(|number| take_node(number + self.0)).collect();
                for (number, node) in (0..).zip(nodes) {
                    check_and_give(node, number + self.0);
                }
            }
        }
        thread_local! {
            static EARLY: RefCell<Option<Late>> = const { RefCell::new(None) };
            static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
        }
        for cache_first in [false, true] {
            std::thread::spawn(move || {
                if cache_first {
                    check_and_give(take_node(7), 7);
                }
                EARLY.set(Some(Late(100)));
                check_and_give(take_node(8), 8);
                LATE.set(Some(Late(200)));
            })
            .join()
            .expect("a thread that ends well");
        }
    }
}
