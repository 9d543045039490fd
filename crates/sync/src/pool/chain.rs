//! Free objects, linked through themselves.

use heddle_platform::Platform;
use heddle_platform::platform::MemoryCell;
use std::ptr;

/// An object's place.
pub(super) struct Slot<T, P: Platform> {
    /// The next one while it is in a chain; its owner's.
    next: P::Cell<*const Self>,
    /// The loan's while there is one.
    pub(super) value: P::Cell<T>,
}

impl<T, P: Platform> Slot<T, P> {
    pub(super) fn new(value: T) -> Self {
        Self { next: MemoryCell::new(ptr::null()), value: MemoryCell::new(value) }
    }
}

/// Some free objects, and the right to them. Forgetting one loses them until the pool ends.
pub(super) struct Chain<T, P: Platform> {
    first: *const Slot<T, P>,
    length: u32,
}

// SAFETY: whoever has the chain has its objects; they move with it.
unsafe impl<T: Send, P: Platform> Send for Chain<T, P> {}

impl<T, P: Platform> Chain<T, P> {
    pub(super) const fn empty() -> Self {
        Self { first: ptr::null(), length: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        self.length
    }

    /// # Safety
    ///
    /// The slot is alive and the caller's, who gives it to the chain.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, slot: *const Slot<T, P>) {
        // SAFETY: alive by the caller's promise.
        let next = unsafe { &(*slot).next };
        // SAFETY: the slot is the caller's, so nobody else touches its link.
        next.with_mut(|next| unsafe { *next = self.first });
        self.first = slot;
        self.length += 1;
    }

    /// The slot pushed last; it is the caller's then.
    ///
    /// # Safety
    ///
    /// The chain's slots are alive.
    #[inline(always)]
    pub(super) unsafe fn pop(&mut self) -> Option<*const Slot<T, P>> {
        if self.first.is_null() {
            return None;
        }
        let slot = self.first;
        // SAFETY: alive by the caller's promise.
        let next = unsafe { &(*slot).next };
        // SAFETY: the chain's slots are its owner's.
        self.first = next.with(|next| unsafe { *next });
        self.length -= 1;
        Some(slot)
    }

    pub(super) fn take_all(&mut self) -> Self {
        std::mem::replace(self, Self::empty())
    }
}
