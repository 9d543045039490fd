//! Tables whose objects are collected: how calls look them up, and which of them are eligible.
//!
//! See [`lifetime`](crate::lifetime) for why nothing is missed.

use super::handle::{GENERATION_MASK, ObjectKind, decode, encode, locate};
use super::reference::Ref;
use super::storage::{COUNT_MASK, Slot, Table, is_live, parts_of, with_generation};
use crate::lifetime::hazard::{KeptSlot, Protection, PublishResult};
use crate::lifetime::{Candidate, Collected};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::const_fn;
use std::ptr::NonNull;

/// An object that a call may use until it releases the protection.
#[derive(Debug)]
pub struct Protected<T> {
    /// Where the object is.
    pub value: NonNull<T>,
    /// The means by which the call keeps it.
    pub protection: Protection,
}

impl<T: Send + Sync> Table<T> {
    const_fn! {
        /// An empty table, whose objects are collected.
        ///
        /// # Safety
        /// There is one collected table of a kind in the process, or a thread looks up handles in one of them
        /// alone.
        pub const unsafe fn collected(kind: ObjectKind) -> Table<T> {
            Table { collected: true, ..Table::new(kind) }
        }
    }

    /// Like [`get`](Self::get), but also finds an object whose handle is no longer valid, while the object
    /// exists.
    pub fn get_while_it_exists(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        self.change(&slot.state, move |state| {
            let freed = with_generation(state, parts.generation + 1);
            let same = is_live(state, parts) || (parts.generation & 1 == 1 && state == freed);
            (same && state & COUNT_MASK != 0).then_some(state + 1)
        })?;
        Some(Ref { table: self, slot, index: parts.index })
    }

    /// The object of a handle, in a collected table, for use by a call: protected by a hazard slot, or by a
    /// counted reference if the thread has no slot left. `None` if the handle is not valid.
    #[inline(always)]
    pub fn protect(&'static self, handle: usize, kept: KeptSlot) -> Option<Protected<T>> {
        match self.protected_before(handle, kept) {
            Some(protected) => Some(protected),
            None => self.protect_anew(handle, kept),
        }
    }

    /// Like [`protect`](Self::protect), but `None` unless the thread's slot names the object already.
    #[inline(always)]
    pub fn protected_before(&'static self, handle: usize, kept: KeptSlot) -> Option<Protected<T>> {
        let (hazard_slot, entry) = kept.of_thread()?.entry_of(handle)?;
        // SAFETY: the handle leads to an entry of this table, by the promise made to `collected`.
        let slot = unsafe { &*entry.cast::<Slot<T>>() };
        // A published handle was valid once, so its generation is odd.
        if (slot.state.load(Ordering::Relaxed) >> 32) as u32 != (handle >> 32) as u32 & GENERATION_MASK {
            return None;
        }
        Some(Protected { value: slot.value(), protection: Protection::again(hazard_slot) })
    }

    /// The object of a handle, if the thread's slot names it already and the handle is still valid. It may be
    /// used until the thread looks up another object in that slot.
    #[inline(always)]
    pub fn peek(&'static self, handle: usize, kept: KeptSlot) -> Option<NonNull<T>> {
        let (_, entry) = kept.of_thread()?.entry_of(handle)?;
        // SAFETY: this handle leads to a slot of this table, by the promise made to `collected`.
        let slot = unsafe { &*entry.cast::<Slot<T>>() };
        // A handle that was published was valid once, so its generation is odd.
        let is_valid =
            (slot.state.load(Ordering::Relaxed) >> 32) as u32 == (handle >> 32) as u32 & GENERATION_MASK;
        is_valid.then(|| slot.value())
    }

    /// Like [`protect`](Self::protect), for an object that the thread's slot does not name yet.
    #[inline(never)]
    pub fn protect_anew(&'static self, handle: usize, kept: KeptSlot) -> Option<Protected<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        // Acquire: pairs with the Release in `insert`.
        let is_valid = || is_live(slot.state.load(Ordering::Acquire), parts);
        // The handle is published first and checked then: `lifetime` says why.
        match Protection::publish(handle, kept, std::ptr::from_ref(slot).cast(), is_valid) {
            PublishResult::Protected(protection) => Some(Protected { value: slot.value(), protection }),
            PublishResult::NoSlot => self.protect_counted(handle),
            PublishResult::Invalid => None,
        }
    }

    /// Like [`protect`](Self::protect), for a call that uses more objects than the thread has slots.
    #[cold]
    fn protect_counted(&'static self, handle: usize) -> Option<Protected<T>> {
        let object = self.get(handle)?;
        let value = object.slot.value();
        // The reference stays counted: the protection owns it.
        object.into_index();
        Some(Protected { value, protection: Protection::COUNTED })
    }

    fn eligible_word(&self, index: u32) -> (&AtomicU64, u64) {
        let (block, offset) = locate(index);
        let words = self.eligible_bits[block].load(Ordering::Acquire);
        // SAFETY: each slot of a block has a bit, in words that are made before the block.
        let word = unsafe { words.add(offset / 64) };
        // SAFETY: these words are never freed.
        let word = unsafe { &*word };
        (word, 1 << (offset % 64))
    }

    /// Marks an object as eligible: only the collector has a reference to it now.
    #[cold]
    pub(super) fn becomes_eligible(&self, index: u32) {
        let (word, bit) = self.eligible_word(index);
        // Counted first, so that no collector subtracts it before. Release: pairs with the Acquire of a
        // thread that finds the bit.
        self.eligible.fetch_add(1, Ordering::Relaxed);
        if word.fetch_or(bit, Ordering::Release) & bit != 0 {
            // The bit was set already, by an earlier last reference to the same object.
            self.eligible.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl<T: Send + Sync> Collected for Table<T> {
    fn eligible(&self) -> usize {
        self.eligible.load(Ordering::Relaxed)
    }

    fn candidates(&self, found: &mut dyn FnMut(Candidate)) {
        let used = self.used.load(Ordering::Acquire);
        for first in (0..used).step_by(64) {
            if self.slot(first).is_none() {
                // Another thread is about to make the block.
                continue;
            }
            let mut bits = self.eligible_word(first).0.load(Ordering::Acquire);
            while bits != 0 {
                let index = first + bits.trailing_zeros();
                bits &= bits - 1;
                let slot = self.known(index);
                let state = slot.state.load(Ordering::Acquire);
                if state & (1 << 32 | COUNT_MASK) == 1 {
                    let before = with_generation(state, ((state >> 32) as u32).wrapping_sub(1));
                    let parts = parts_of(before, index);
                    let names = [encode(self.kind, parts), slot.name.load(Ordering::Relaxed)];
                    found(Candidate { index, state, names });
                }
            }
        }
    }

    fn is_unchanged(&self, candidate: &Candidate) -> bool {
        self.known(candidate.index).state.load(Ordering::Acquire) == candidate.state
    }

    fn claim(&self, candidate: &Candidate) -> bool {
        let Candidate { index, state: expected, .. } = *candidate;
        let claimed = move |state| (state == expected).then_some(state - 1);
        self.change(&self.known(index).state, claimed).is_some()
    }

    fn destroy_claimed(&self, index: u32) {
        let (word, bit) = self.eligible_word(index);
        // The object may have been found by the bit of its slot's previous object. Its bit is then still
        // to come, and serves the slot's next object.
        if word.fetch_and(!bit, Ordering::Acquire) & bit != 0 {
            self.eligible.fetch_sub(1, Ordering::Relaxed);
        }
        self.destroy(index);
    }
}
