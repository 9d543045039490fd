//! The slots of a table, in blocks that are never freed.

use super::counting::{CountSection, counting_section};
use super::free_list::FreeList;
use super::handle::{BLOCKS, GENERATION_MASK, HandleParts, ObjectKind, block_len, locate};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::modelled::never_freed;
use heddle_platform::{array_of, const_fn};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

pub(super) const COUNT_MASK: u64 = 0xffff_ffff;

pub(super) struct Slot<T> {
    /// generation << 32 | references
    pub(super) state: AtomicU64,
    /// The word, besides the handle, by which requests name the object.
    pub(super) name: AtomicUsize,
    /// The next free slot, if this one is free.
    pub(super) next: AtomicU32,
    pub(super) value: UnsafeCell<MaybeUninit<T>>,
}

/// A table of objects of one kind. Any thread may use it at any time.
pub struct Table<T: 'static> {
    pub(super) kind: ObjectKind,
    pub(super) collected: bool,
    pub(super) blocks: [AtomicPtr<Slot<T>>; BLOCKS],
    /// A bit for each slot of a block: whether its object is eligible. Only in collected tables.
    pub(super) eligible_bits: [AtomicPtr<AtomicU64>; BLOCKS],
    /// The number of eligible objects.
    pub(super) eligible: AtomicUsize,
    /// Slots that are or were in use have smaller indices.
    pub(super) used: AtomicU32,
    pub(super) free: FreeList,
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("kind", &self.kind).finish_non_exhaustive()
    }
}

// SAFETY: many threads reach the values by shared reference and any of them drops them, which `T: Send +
// Sync` allows.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

pub(super) fn parts_of(state: u64, index: u32) -> HandleParts {
    HandleParts { index, generation: (state >> 32) as u32 }
}

/// Returns true if the handle is valid.
pub(super) fn is_live(state: u64, parts: HandleParts) -> bool {
    (state >> 32) as u32 == parts.generation && parts.generation & 1 == 1
}

pub(super) fn with_generation(state: u64, generation: u32) -> u64 {
    u64::from(generation & GENERATION_MASK) << 32 | (state & COUNT_MASK)
}

impl<T: Send + Sync> Table<T> {
    const_fn! {
        /// An empty table, which destroys an object with its last reference.
        pub const fn new(kind: ObjectKind) -> Table<T> {
            Table {
                kind,
                collected: false,
                blocks: array_of![AtomicPtr::new(null_mut()); BLOCKS],
                eligible_bits: array_of![AtomicPtr::new(null_mut()); BLOCKS],
                eligible: AtomicUsize::new(0),
                used: AtomicU32::new(0),
                free: FreeList::new(),
            }
        }
    }

    /// An empty table, collected or not, the slots of whose first block were used until their generation was
    /// `generation`, which is even.
    #[cfg(all(test, not(loom)))]
    pub(super) fn starting_at(kind: ObjectKind, collected: bool, generation: u32) -> &'static Table<T> {
        let table: &Table<T> = Box::leak(Box::new(Table { collected, ..Table::new(kind) }));
        table.make_block(0);
        for index in 0..block_len(0) as u32 {
            table.known(index).state.store(with_generation(0, generation), Ordering::Relaxed);
        }
        table
    }

    #[inline(always)]
    pub(super) fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (block, offset) = locate(index);
        // Acquire: pairs with the Release in `make_block`.
        let slots = self.blocks.get(block)?.load(Ordering::Acquire);
        if slots.is_null() {
            return None;
        }
        // SAFETY: `locate` gives an offset below the block's length.
        let slot = unsafe { slots.add(offset) };
        // SAFETY: blocks are never freed.
        Some(unsafe { &*slot })
    }

    /// The slot of an index that was in use.
    #[inline(always)]
    pub(super) fn known(&self, index: u32) -> &Slot<T> {
        let Some(slot) = self.slot(index) else { unreachable!("the index was in use") };
        slot
    }

    /// An index that was never used.
    #[cold]
    pub(super) fn new_index(&self) -> u32 {
        let index = self.used.fetch_add(1, Ordering::Relaxed);
        let (block, _) = locate(index);
        assert!(block < BLOCKS, "more than {index} MPI objects of one kind ({:?}) exist at once", self.kind);
        if self.blocks[block].load(Ordering::Acquire).is_null() {
            self.make_block(block);
        }
        index
    }

    /// Makes a block, unless another thread makes it first.
    fn make_block(&self, block: usize) {
        if self.collected {
            publish(&self.eligible_bits[block], block_len(block).div_ceil(64), || AtomicU64::new(0));
        }
        publish(&self.blocks[block], block_len(block), || Slot {
            state: AtomicU64::new(0),
            name: AtomicUsize::new(0),
            next: AtomicU32::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        });
    }

    /// Changes a state, unless `next` refuses; returns the state before.
    pub(super) fn change(&self, state: &AtomicU64, next: impl Fn(u64) -> Option<u64> + Send) -> Option<u64> {
        match self.counting_section() {
            // AcqRel: an Acquire for `insert`'s Release; a Release since an object may be destroyed after it.
            None => state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok(),
            Some(section) => section.run(move || {
                let before = state.load(Ordering::Acquire);
                state.store(next(before)?, Ordering::Release);
                Some(before)
            }),
        }
    }

    pub(super) fn counting_section(&self) -> Option<&'static CountSection> {
        if self.collected { counting_section(self.kind) } else { None }
    }

    /// Destroys the value, to which there is no reference, and frees the slot.
    #[cold]
    #[inline(never)]
    pub(super) fn destroy(&self, index: u32) {
        let slot = self.known(index);
        // SAFETY: there is no reference, and the generation is even, so no thread can get one.
        slot.value.with_mut(|place| unsafe { place.cast::<T>().drop_in_place() });
        self.free.push(index, &slot.next);
    }
}

/// Stores `len` values made by `new`, unless another thread stores some first.
fn publish<V: 'static>(place: &AtomicPtr<V>, len: usize, new: impl Fn() -> V) {
    let made = Box::into_raw((0..len).map(|_| new()).collect::<Box<[V]>>());
    // Release: pairs with the Acquire of a thread that looks the block up.
    match place.compare_exchange(null_mut(), made.cast::<V>(), Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: `made` comes from a box made here, and blocks are never freed.
        Ok(_) => unsafe { never_freed(made) },
        // SAFETY: `made` comes from a box made here, and no other thread has seen it.
        Err(_) => drop(unsafe { Box::from_raw(made) }),
    }
}

impl<T> Slot<T> {
    #[inline(always)]
    pub(super) fn value(&self) -> NonNull<T> {
        // SAFETY: the address of a field is not null.
        unsafe { NonNull::new_unchecked(self.value.with(<*const _>::cast_mut).cast::<T>()) }
    }
}
