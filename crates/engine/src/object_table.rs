//! Where MPI objects live, and how handles lead to them.
//!
//! A handle is one word: the kind of object, a generation, and the index of a slot.
//!
//! ```text
//!  63        56 55               32 31                         0
//!  ┌───────────┬───────────────────┬────────────────────────────┐
//!  │ 0x80+kind │ generation        │ index                      │
//!  └───────────┴───────────────────┴────────────────────────────┘
//! ```
//!
//! Predefined handles of the ABI are below 4096 and so never look like one. Slots are never given back to the
//! system, so that any word whatever can be looked up: a null, freed, wrong-kind or garbage handle is recognised by
//! its kind, bounds or generation and yields `None`.
//!
//! **Life of an object.** A slot's state is one word: generation and reference count. The generation is odd while
//! the handle is valid. `insert` makes it odd with one reference, the user's; `get` adds one if the generation still
//! fits; `remove` makes the generation even (the handle is invalid from then on) and passes the user's reference to
//! the caller. Whoever drops the last reference destroys the value and frees the slot. So an object that is freed
//! while operations use it lives until they have finished (MPI 5.0, section 2.5.1).
//!
//! Invariants: (1) the value is initialised while the count is above zero; (2) the count rises only from above zero,
//! or from zero in `insert` on a slot taken from the free list.

use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// The kinds of objects, as they stand in handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Communicator.
    Comm = 1,
    /// Group of processes.
    Group,
    /// Derived datatype.
    Datatype,
    /// User-defined reduction operator.
    Op,
    /// User-defined error handler.
    Errhandler,
    /// Info object.
    Info,
    /// Matched message.
    Message,
    /// Request.
    Request,
    /// Session.
    Session,
}

/// Slots of the first block; block *b* has this many times 2^b.
const FIRST_BLOCK: u32 = 64;
const BLOCKS: usize = 24;
const GENERATION_MASK: u32 = 0x00ff_ffff;

/// A decoded handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Slot index.
    pub index: u32,
    /// Generation, 24 bits.
    pub generation: u32,
}

/// Makes a handle.
#[inline(always)]
pub fn encode(kind: Kind, parts: Parts) -> usize {
    (0x80 + kind as usize) << 56 | (parts.generation as usize) << 32 | parts.index as usize
}

/// Takes a handle apart, if it is of the kind.
#[inline(always)]
pub fn decode(kind: Kind, handle: usize) -> Option<Parts> {
    if handle >> 56 != 0x80 + kind as usize {
        return None;
    }
    Some(Parts { index: handle as u32, generation: (handle >> 32) as u32 & GENERATION_MASK })
}

/// The block of an index and the place in it.
#[inline(always)]
fn locate(index: u32) -> (usize, usize) {
    let shifted = index.wrapping_add(FIRST_BLOCK);
    let block = (31 - shifted.leading_zeros()) as usize - FIRST_BLOCK.trailing_zeros() as usize;
    (block, (shifted - (FIRST_BLOCK << block)) as usize)
}

/// How many slots a block has.
fn block_len(block: usize) -> usize {
    (FIRST_BLOCK as usize) << block
}

struct Slot<T> {
    /// generation << 32 | references
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A table of objects of one kind.
pub struct Table<T: 'static> {
    kind: Kind,
    blocks: [AtomicPtr<Slot<T>>; BLOCKS],
    used: AtomicU32,
    free: Mutex<Vec<u32>>,
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("kind", &self.kind).finish_non_exhaustive()
    }
}

// SAFETY: values are reached by many threads by shared reference and dropped by any of them.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

impl<T: Send + Sync> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Table<T> {
        Table {
            kind,
            blocks: [const { AtomicPtr::new(std::ptr::null_mut()) }; BLOCKS],
            used: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    #[inline(always)]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        // Acquire: pairs with the Release in `free_index`; a valid index implies that its block is there.
        if index >= self.used.load(Ordering::Acquire) {
            return None;
        }
        let (block, offset) = locate(index);
        // SAFETY: the block of a used index is allocated and has this place.
        let slot = unsafe { self.blocks[block].load(Ordering::Relaxed).add(offset) };
        // SAFETY: blocks are never freed.
        unsafe { slot.as_ref() }
    }

    /// Stores an object and returns its handle.
    pub fn insert(&'static self, value: T) -> usize {
        let index = self.free_index();
        let Some(slot) = self.slot(index) else { unreachable!("a free index has a slot") };
        // SAFETY: invariant 1: the count is zero and the slot was taken from the free list, so it is ours alone.
        unsafe { slot.value.get().write(MaybeUninit::new(value)) };
        let generation = ((slot.state.load(Ordering::Relaxed) >> 32) as u32 + 1) & GENERATION_MASK;
        // Release: pairs with the Acquire in `get`.
        slot.state.store(u64::from(generation) << 32 | 1, Ordering::Release);
        encode(self.kind, Parts { index, generation })
    }

    fn free_index(&self) -> u32 {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = free.pop() {
            return index;
        }
        let index = self.used.load(Ordering::Relaxed);
        let (block, _) = locate(index);
        assert!(block < BLOCKS, "more than {index} MPI objects of one kind ({:?}) exist at once", self.kind);
        if self.blocks[block].load(Ordering::Relaxed).is_null() {
            let slots: Vec<Slot<T>> = (0..block_len(block))
                .map(|_| Slot { state: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) })
                .collect();
            self.blocks[block].store(Box::leak(slots.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
        }
        // Release: pairs with the Acquire in `slot`.
        self.used.store(index + 1, Ordering::Release);
        index
    }

    /// The object of a handle, with a reference of its own; `None` if the handle is not valid.
    #[inline]
    pub fn get(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        let mut state = slot.state.load(Ordering::Relaxed);
        loop {
            if (state >> 32) as u32 != parts.generation || parts.generation & 1 == 0 {
                return None;
            }
            // Acquire: pairs with the Release in `insert`.
            match slot.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Ref { table: self, slot, index: parts.index }),
                Err(now) => state = now,
            }
        }
    }

    /// Makes the handle invalid and returns the user's reference; `None` if it was not valid.
    pub fn remove(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        let mut state = slot.state.load(Ordering::Relaxed);
        loop {
            if (state >> 32) as u32 != parts.generation || parts.generation & 1 == 0 {
                return None;
            }
            let dead = u64::from((parts.generation + 1) & GENERATION_MASK) << 32 | (state & 0xffff_ffff);
            match slot.state.compare_exchange_weak(state, dead, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Ref { table: self, slot, index: parts.index }),
                Err(now) => state = now,
            }
        }
    }

    /// The handle whose slot has this index, if it is live: for the integer form of handles (`MPI_Comm_fromint`).
    pub fn handle_of_index(&self, index: u32) -> Option<usize> {
        let state = self.slot(index)?.state.load(Ordering::Relaxed);
        let generation = (state >> 32) as u32;
        (generation & 1 == 1).then(|| encode(self.kind, Parts { index, generation }))
    }

    /// How many objects are live. For tests and statistics.
    pub fn live(&self) -> usize {
        let used = self.used.load(Ordering::Acquire) as usize;
        used - self.free.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A reference that keeps an object alive.
pub struct Ref<T: Send + Sync + 'static> {
    table: &'static Table<T>,
    slot: &'static Slot<T>,
    index: u32,
}

// SAFETY: a shared reference to a `T` with a reference count.
unsafe impl<T: Send + Sync> Send for Ref<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Ref<T> {}

impl<T: Send + Sync + std::fmt::Debug> std::fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Send + Sync> Ref<T> {
    /// Makes a number of the reference, which goes on counting. [`Ref::from_index`] is the way back.
    #[inline(always)]
    pub(crate) fn into_index(self) -> u32 {
        let index = self.index;
        std::mem::forget(self);
        index
    }

    /// Makes a reference of what [`Ref::into_index`] returned.
    ///
    /// # Safety
    /// For each index returned there is one reference to be made.
    #[inline(always)]
    pub(crate) unsafe fn from_index(table: &'static Table<T>, index: u32) -> Ref<T> {
        let Some(slot) = table.slot(index) else { unreachable!("a reference was made of this slot") };
        Ref { table, slot, index }
    }

    /// Destroys the value: the last reference is gone.
    #[cold]
    #[inline(never)]
    fn destroy(&self) {
        // SAFETY: nobody has a reference, and the generation is even, so nobody can get another.
        unsafe { self.slot.value.get().cast::<T>().drop_in_place() };
        self.table.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.index);
    }

    /// The object's handle (valid or, after `remove`, the one it would have).
    pub fn handle(&self) -> usize {
        let generation = (self.slot.state.load(Ordering::Relaxed) >> 32) as u32;
        encode(self.table.kind, Parts { index: self.index, generation })
    }
}

impl<T: Send + Sync> Deref for Ref<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: invariant 1: we hold a reference.
        unsafe { &*self.slot.value.get().cast::<T>() }
    }
}

impl<T: Send + Sync> Clone for Ref<T> {
    fn clone(&self) -> Ref<T> {
        self.slot.state.fetch_add(1, Ordering::Relaxed);
        Ref { table: self.table, slot: self.slot, index: self.index }
    }
}

impl<T: Send + Sync> Drop for Ref<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: our uses come before the destruction; the Acquire half is for the one who destroys.
        let before = self.slot.state.fetch_sub(1, Ordering::AcqRel);
        if before & 0xffff_ffff == 1 {
            self.destroy();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    static TABLE: Table<Arc<u32>> = Table::new(Kind::Info);

    #[test]
    fn handles_die_with_remove_and_objects_with_their_last_reference() {
        let value = Arc::new(7);
        let handle = TABLE.insert(value.clone());
        let used = TABLE.get(handle).expect("live");
        assert_eq!((**used, used.handle()), (7, handle));
        let owned = TABLE.remove(handle).expect("live");
        assert!(TABLE.get(handle).is_none() && TABLE.remove(handle).is_none());
        drop(owned);
        assert_eq!(Arc::strong_count(&value), 2, "still referenced by `used`");
        drop(used);
        assert_eq!(Arc::strong_count(&value), 1);
        let again = TABLE.insert(value.clone());
        assert_ne!(again, handle);
        for garbage in [0, 1, 0x101, usize::MAX, again ^ 1 << 32, again ^ 1 << 57, again + 1000] {
            assert!(TABLE.get(garbage).is_none(), "{garbage:#x}");
        }
    }

    #[test]
    fn locate_covers_all_indices_once() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == block_len(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn threads_that_look_up_while_others_free_see_the_object_or_nothing() {
        static SHARED: Table<Vec<u64>> = Table::new(Kind::Group);
        let published = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(found) = SHARED.get(published.load(Ordering::Relaxed) as usize) {
                            assert!(found.iter().all(|&x| x == found[0]));
                        }
                    }
                });
            }
            scope.spawn(|| {
                for round in 0..20_000 {
                    let handle = SHARED.insert(vec![round; 8]);
                    published.store(handle as u64, Ordering::Relaxed);
                    drop(SHARED.remove(handle));
                }
            });
        });
    }
}
