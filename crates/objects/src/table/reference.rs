//! Counted references to objects.

use super::handle::{HandleParts, encode};
use super::storage::{COUNT_MASK, Slot, Table};
use heddle_platform::atomic::Ordering;
use std::ops::Deref;

/// A reference that keeps an object alive.
pub struct Ref<T: Send + Sync + 'static> {
    pub(super) table: &'static Table<T>,
    pub(super) slot: &'static Slot<T>,
    pub(super) index: u32,
}
// SAFETY: a shared reference to a `T: Sync`; the last one may drop the `T: Send` on any thread.
unsafe impl<T: Send + Sync> Send for Ref<T> {}
// SAFETY: a shared reference to a `T` with a reference count, whose changes are atomic or inside of a
// critical section.
unsafe impl<T: Send + Sync> Sync for Ref<T> {}

impl<T: Send + Sync + std::fmt::Debug> std::fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Send + Sync> Ref<T> {
    /// Turns the reference into a number; it stays counted. [`Ref::from_index`] turns the number back.
    #[inline(always)]
    pub fn into_index(self) -> u32 {
        let index = self.index;
        std::mem::forget(self);
        index
    }

    /// Turns a number that [`Ref::into_index`] returned back into a reference.
    ///
    /// # Safety
    /// Each returned number is turned back at most once.
    #[inline(always)]
    pub unsafe fn from_index(table: &'static Table<T>, index: u32) -> Ref<T> {
        Ref { table, slot: table.known(index), index }
    }

    /// The object's handle (valid or, after `remove`, the one it would have).
    pub fn handle(&self) -> usize {
        let generation = (self.slot.state.load(Ordering::Relaxed) >> 32) as u32;
        encode(self.table.kind, HandleParts { index: self.index, generation })
    }
}

impl<T: Send + Sync> Deref for Ref<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: invariant 1: the caller's reference keeps the count above zero.
        unsafe { self.slot.value().as_ref() }
    }
}

impl<T: Send + Sync> Clone for Ref<T> {
    fn clone(&self) -> Ref<T> {
        match self.table.counting_section() {
            None => self.slot.state.fetch_add(1, Ordering::Relaxed),
            Some(section) => section.add(&self.slot.state, 1),
        };
        Ref { table: self.table, slot: self.slot, index: self.index }
    }
}

impl<T: Send + Sync> Drop for Ref<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let before = match self.table.counting_section() {
            // Release: our uses come before the destruction. Acquire: the thread that destroys sees all uses.
            None => self.slot.state.fetch_sub(1, Ordering::AcqRel),
            Some(section) => section.add(&self.slot.state, u64::MAX),
        };
        if self.table.collected {
            if before & (1 << 32 | COUNT_MASK) == 2 {
                self.table.becomes_eligible(self.index);
            }
        } else if before & COUNT_MASK == 1 {
            self.table.destroy(self.index);
        }
    }
}
