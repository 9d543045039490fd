//! Tables whose objects are collected: how calls look them up, and which of them are eligible.
//!
//! See [`lifetime`](crate::lifetime) for why nothing is missed.

use super::handle::{GENERATION_MASK, Kind, decode, encode, locate};
use super::reference::Ref;
use super::storage::{COUNT_MASK, Slot, Table, is_live, parts_of, with_generation};
use crate::fault::{Fault, planted};
use crate::lifetime::hazard::{Hold, KeptPlace};
use crate::lifetime::{Candidate, Collected};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::const_fn;
use std::ptr::NonNull;

/// An object that a call may use until it lets go of the hold.
#[derive(Debug)]
pub struct Held<T> {
    /// Where the object is.
    pub value: NonNull<T>,
    /// What keeps it.
    pub hold: Hold,
}

impl<T: Send + Sync> Table<T> {
    const_fn! {
        /// An empty table, whose objects are collected.
        ///
        /// # Safety
        /// There is one collected table of a kind in the process, or a thread looks up handles in one of them alone.
        pub const unsafe fn collected(kind: Kind) -> Table<T> {
            Table { collected: true, ..Table::new(kind) }
        }
    }

    /// As [`get`](Self::get), also if the handle was made invalid, as long as the object exists.
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

    /// The object of a handle, in a collected table, for use by a call: without counting, as a rule. `None` if the handle
    /// is not valid.
    #[inline(always)]
    pub fn hold(&'static self, handle: usize, place: KeptPlace) -> Option<Held<T>> {
        match self.held_before(handle, place) {
            Some(held) => Some(held),
            None => self.hold_anew(handle, place),
        }
    }

    /// As [`hold`](Self::hold), if the thread's place names the object already and the handle is still valid.
    #[inline(always)]
    pub fn held_before(&'static self, handle: usize, place: KeptPlace) -> Option<Held<T>> {
        let (place, slot) = place.of_thread()?.slot_of(handle)?;
        // SAFETY: this handle leads to a slot of this table, by the promise made to `collected`.
        let slot = unsafe { &*slot.cast::<Slot<T>>() };
        // A handle that was published was valid once, so its generation is odd.
        if (slot.state.load(Ordering::Relaxed) >> 32) as u32 != (handle >> 32) as u32 & GENERATION_MASK {
            return None;
        }
        Some(Held { value: slot.value(), hold: Hold::again(place) })
    }

    /// The object of a handle, if the thread's slot names it already and the handle is still valid. It may be used until the
    /// thread looks up another object in that slot.
    #[inline(always)]
    pub fn peek(&'static self, handle: usize, place: KeptPlace) -> Option<NonNull<T>> {
        let (_, slot) = place.of_thread()?.slot_of(handle)?;
        // SAFETY: this handle leads to a slot of this table, by the promise made to `collected`.
        let slot = unsafe { &*slot.cast::<Slot<T>>() };
        // A handle that was published was valid once, so its generation is odd.
        let is_valid =
            (slot.state.load(Ordering::Relaxed) >> 32) as u32 == (handle >> 32) as u32 & GENERATION_MASK;
        is_valid.then(|| slot.value())
    }

    /// As [`hold`](Self::hold), of an object that the thread's place does not name yet.
    #[inline(never)]
    pub fn hold_anew(&'static self, handle: usize, place: KeptPlace) -> Option<Held<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        // Acquire: pairs with the Release in `insert`.
        let is_valid = || is_live(slot.state.load(Ordering::Acquire), parts);
        // The name is published first and the handle checked then: see `lifetime`.
        match Hold::publish(handle, place, std::ptr::from_ref(slot).cast(), is_valid)? {
            Some(hold) => Some(Held { value: slot.value(), hold }),
            None => self.hold_counted(handle),
        }
    }

    /// As [`hold`](Self::hold), of a call that uses many objects.
    #[cold]
    fn hold_counted(&'static self, handle: usize) -> Option<Held<T>> {
        let object = self.get(handle)?;
        let value = object.slot.value();
        // The reference goes on counting: the hold owns it.
        object.into_index();
        Some(Held { value, hold: Hold::COUNTED })
    }

    fn eligible_word(&self, index: u32) -> (&AtomicU64, u64) {
        let (block, offset) = locate(index);
        let words = self.eligible_bits[block].load(Ordering::Acquire);
        // SAFETY: there is a bit for each place, in words that are made before the block.
        let word = unsafe { words.add(offset / 64) };
        // SAFETY: they are never freed.
        let word = unsafe { &*word };
        (word, 1 << (offset % 64))
    }

    /// Only the collector has a reference now.
    #[cold]
    pub(super) fn becomes_eligible(&self, index: u32) {
        let (word, bit) = self.eligible_word(index);
        if planted(Fault::EligibleCountedLate) {
            if word.fetch_or(bit, Ordering::Release) & bit == 0 {
                self.eligible.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        // Counted first, so that it is never taken off before. Release: pairs with the Acquire of whoever finds the bit.
        self.eligible.fetch_add(1, Ordering::Relaxed);
        if word.fetch_or(bit, Ordering::Release) & bit != 0 {
            // It was set already: by the first of several last references.
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
        let is_it = move |state| {
            state == expected
                || planted(Fault::ClaimBlindly)
                || planted(Fault::ClaimOfAnyGeneration) && (state ^ expected) & (1 << 32 | COUNT_MASK) == 0
        };
        self.change(&self.known(index).state, move |state| is_it(state).then_some(state - 1)).is_some()
    }

    fn destroy_claimed(&self, index: u32) {
        if planted(Fault::EligibleClearedLate) {
            self.destroy(index);
        }
        let (word, bit) = self.eligible_word(index);
        // The object may have been found by the bit of the one that had the slot before it: then its own is still to come,
        // and stays for the next one.
        let is_set = word.fetch_and(!bit, Ordering::Acquire) & bit != 0;
        if is_set || planted(Fault::EligibleTakenOffBlindly) {
            self.eligible.fetch_sub(1, Ordering::Relaxed);
        }
        if !planted(Fault::EligibleClearedLate) {
            self.destroy(index);
        }
    }
}
