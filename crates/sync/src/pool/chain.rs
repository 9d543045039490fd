//! Free objects, linked through themselves.

use heddle_platform::Platform;
use heddle_platform::platform::MemoryCell;
use std::ptr;

/// The memory of an object.
pub(super) struct ObjectSlot<T, P: Platform> {
    /// The next one while it is in a chain; it belongs to the chain's owner.
    next: P::Cell<*const Self>,
    /// It belongs to the borrower while the object is lent.
    pub(super) value: P::Cell<T>,
}

impl<T, P: Platform> ObjectSlot<T, P> {
    pub(super) fn new(value: T) -> Self {
        Self { next: MemoryCell::new(ptr::null()), value: MemoryCell::new(value) }
    }
}

/// Some free objects, and the right to them. If a chain is forgotten, its objects are
/// lost until the pool ends.
pub(super) struct FreeChain<T, P: Platform> {
    first: *const ObjectSlot<T, P>,
    length: u32,
}

// SAFETY: the owner of the chain owns its objects; they move with it.
unsafe impl<T: Send, P: Platform> Send for FreeChain<T, P> {}

impl<T, P: Platform> FreeChain<T, P> {
    pub(super) const fn empty() -> Self {
        Self { first: ptr::null(), length: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        self.length
    }

    /// # Safety
    ///
    /// The slot is alive and belongs to the caller, which gives it to the chain.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, slot: *const ObjectSlot<T, P>) {
        // SAFETY: alive by the caller's promise.
        let next = unsafe { &(*slot).next };
        // SAFETY: the slot belongs to the caller, so no other thread touches its link.
        next.with_mut(|next| unsafe { *next = self.first });
        self.first = slot;
        self.length += 1;
    }

    /// Takes out the slot pushed last; it belongs to the caller then.
    ///
    /// # Safety
    ///
    /// The chain's slots are alive.
    #[inline(always)]
    pub(super) unsafe fn pop(&mut self) -> Option<*const ObjectSlot<T, P>> {
        if self.first.is_null() {
            return None;
        }
        let slot = self.first;
        // SAFETY: alive by the caller's promise.
        let next = unsafe { &(*slot).next };
        // SAFETY: the chain's slots belong to its owner, the caller.
        self.first = next.with(|next| unsafe { *next });
        self.length -= 1;
        Some(slot)
    }

    pub(super) fn take_all(&mut self) -> Self {
        std::mem::replace(self, Self::empty())
    }
}
