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
//! In a **collected** table an object has one reference more, the collector's. Once that is the only one and the handle is
//! invalid, the object is *eligible*: a bit says so, and the collector destroys it when no call and no request uses it
//! either ([`lifetime`](crate::lifetime)). Calls look such objects up without counting (`Table::hold`).
//!
//! | file | idea |
//! |---|---|
//! | `handle.rs` | handles as words |
//! | `free_list.rs` | the free slots |
//! | `reference.rs` | counted references |
//! | `collected.rs` | what collected tables have besides |
//!
//! No operation waits for another thread, so one that stops in the middle of any of them stops nobody else.
//!
//! Invariants: (1) the value is initialised while the count is above zero; (2) the count rises only from above zero,
//! or from zero in `insert` on a slot taken from the free list.

mod collected;
mod free_list;
mod handle;
#[cfg(all(test, loom))]
mod loom_tests;
mod reference;

pub(crate) use collected::Held;
pub use handle::{Kind, Parts, decode, encode};
pub use reference::Ref;

use crate::fault::{Fault, planted};
use crate::lifetime::section::{self, Section};
use free_list::FreeList;
use handle::{BLOCKS, GENERATION_MASK, block_len, locate};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::modelled::never_freed;
use heddle_platform::{array_of, const_fn};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

const COUNT_MASK: u64 = 0xffff_ffff;

struct Slot<T> {
    /// generation << 32 | references
    state: AtomicU64,
    /// By what else than its handle requests name the object.
    name: AtomicUsize,
    /// The next free slot, if this one is free.
    next: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A table of objects of one kind.
pub struct Table<T: 'static> {
    kind: Kind,
    collected: bool,
    blocks: [AtomicPtr<Slot<T>>; BLOCKS],
    /// A bit for each slot of a block: whether its object is eligible. Only in collected tables.
    eligible_bits: [AtomicPtr<AtomicU64>; BLOCKS],
    /// How many objects are eligible.
    eligible: AtomicUsize,
    /// Slots that are or were in use have smaller indices.
    used: AtomicU32,
    free: FreeList,
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("kind", &self.kind).finish_non_exhaustive()
    }
}

// SAFETY: values are reached by many threads by shared reference and dropped by any of them.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

fn parts_of(state: u64, index: u32) -> Parts {
    Parts { index, generation: (state >> 32) as u32 }
}

/// Whether the handle is valid.
fn is_live(state: u64, parts: Parts) -> bool {
    (state >> 32) as u32 == parts.generation && parts.generation & 1 == 1
}

fn with_generation(state: u64, generation: u32) -> u64 {
    u64::from(generation & GENERATION_MASK) << 32 | (state & COUNT_MASK)
}

impl<T: Send + Sync> Table<T> {
    const_fn! {
        /// An empty table, whose objects go with their last reference.
        pub const fn new(kind: Kind) -> Table<T> {
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

    #[inline(always)]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (block, offset) = locate(index);
        // Acquire: pairs with the Release in `make_block`.
        let slots = self.blocks.get(block)?.load(Ordering::Acquire);
        if slots.is_null() {
            return None;
        }
        // SAFETY: the block has this place.
        let slot = unsafe { slots.add(offset) };
        // SAFETY: blocks are never freed.
        Some(unsafe { &*slot })
    }

    /// The slot of an index that was in use.
    #[inline(always)]
    fn known(&self, index: u32) -> &Slot<T> {
        let Some(slot) = self.slot(index) else { unreachable!("the index was in use") };
        slot
    }

    /// Stores an object and returns its handle.
    pub fn insert(&'static self, value: T) -> usize {
        self.insert_named(value, 0)
    }

    /// Stores an object that requests name by this word, besides its handle.
    pub(crate) fn insert_named(&'static self, value: T, name: usize) -> usize {
        let index = self.free.pop(|index| &self.known(index).next).unwrap_or_else(|| self.new_index());
        let slot = self.known(index);
        // SAFETY: invariant 1: the count is zero and the slot was free, so it is ours alone.
        slot.value.with_mut(|place| unsafe { place.write(MaybeUninit::new(value)) });
        slot.name.store(name, Ordering::Relaxed);
        let generation = ((slot.state.load(Ordering::Relaxed) >> 32) as u32 + 1) & GENERATION_MASK;
        let references = if self.collected { 2 } else { 1 };
        // Release: pairs with the Acquire in `get` and `hold`.
        let order = if planted(Fault::TableRelaxedInsert) { Ordering::Relaxed } else { Ordering::Release };
        slot.state.store(u64::from(generation) << 32 | references, order);
        encode(self.kind, Parts { index, generation })
    }

    /// An index that was never used.
    #[cold]
    fn new_index(&self) -> u32 {
        let index = self.used.fetch_add(1, Ordering::Relaxed);
        let (block, _) = locate(index);
        assert!(block < BLOCKS, "more than {index} MPI objects of one kind ({:?}) exist at once", self.kind);
        if self.blocks[block].load(Ordering::Acquire).is_null() {
            self.make_block(block);
        }
        index
    }

    /// Makes a block, unless another thread is quicker.
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

    /// Changes a state, unless `next` refuses; returns what it was before.
    fn change(&self, state: &AtomicU64, next: impl Fn(u64) -> Option<u64> + Send) -> Option<u64> {
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

    fn counting_section(&self) -> Option<&'static Section> {
        if self.collected { section::section(self.kind) } else { None }
    }

    /// The object of a handle, with a reference of its own; `None` if the handle is not valid.
    #[inline]
    pub fn get(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        self.change(&slot.state, move |state| is_live(state, parts).then_some(state + 1))?;
        Some(Ref { table: self, slot, index: parts.index })
    }

    /// Makes the handle invalid and returns the user's reference; `None` if it was not valid.
    pub fn remove(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        self.change(&slot.state, move |state| {
            is_live(state, parts).then(|| with_generation(state, parts.generation + 1))
        })?;
        Some(Ref { table: self, slot, index: parts.index })
    }

    /// The handle whose slot has this index, if it is live: for the integer form of handles (`MPI_Comm_fromint`).
    pub fn handle_of_index(&self, index: u32) -> Option<usize> {
        let parts = parts_of(self.slot(index)?.state.load(Ordering::Relaxed), index);
        (parts.generation & 1 == 1).then(|| encode(self.kind, parts))
    }

    /// How many objects exist, those included whose handles are invalid. For tests and statistics.
    pub fn existing(&self) -> usize {
        let slots = (0..self.used.load(Ordering::Acquire)).filter_map(|index| self.slot(index));
        slots.filter(|slot| slot.state.load(Ordering::Relaxed) & COUNT_MASK != 0).count()
    }

    /// Destroys the value, to which there is no reference, and frees the slot.
    #[cold]
    #[inline(never)]
    fn destroy(&self, index: u32) {
        let slot = self.known(index);
        // SAFETY: nobody has a reference, and the generation is even, so nobody can get another.
        slot.value.with_mut(|place| unsafe { place.cast::<T>().drop_in_place() });
        self.free.push(index, &slot.next);
    }
}

/// Stores `len` values made by `new`, unless another thread is quicker.
fn publish<V: 'static>(place: &AtomicPtr<V>, len: usize, new: impl Fn() -> V) {
    let made = Box::into_raw((0..len).map(|_| new()).collect::<Box<[V]>>());
    // Release: pairs with the Acquire of whoever looks the block up.
    match place.compare_exchange(null_mut(), made.cast::<V>(), Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: made above; blocks are never freed.
        Ok(_) => unsafe { never_freed(made) },
        // SAFETY: made above, and nobody has seen it.
        Err(_) => drop(unsafe { Box::from_raw(made) }),
    }
}

impl<T> Slot<T> {
    #[inline(always)]
    fn value(&self) -> NonNull<T> {
        // SAFETY: a place is not at the address null.
        unsafe { NonNull::new_unchecked(self.value.with(<*const _>::cast_mut).cast::<T>()) }
    }
}

#[cfg(all(test, not(loom)))]
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
