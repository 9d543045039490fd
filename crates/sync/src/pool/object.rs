//! A lent object.

use super::chain::ObjectSlot;
use super::shards::Pool;
use heddle_platform::platform::{CellAccess, MemoryCell};
use heddle_platform::{Native, Platform};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;

type ObjectAccess<T, P> = <<P as Platform>::Cell<T> as MemoryCell<T>>::Access;

/// A lent object, as its last user left it. Give it to a [`Cache`](super::Cache); dropping it also returns it
/// to the pool, at the cost of a lock.
pub struct PooledObject<'p, T: Send, P: Platform = Native> {
    /// Ends before the slot goes to another thread.
    value: ManuallyDrop<ObjectAccess<T, P>>,
    slot: *const ObjectSlot<T, P>,
    pool: &'p Pool<T, P>,
}

// SAFETY: only the loan has the object (pool, invariant 1), which moves between threads with it.
unsafe impl<T: Send, P: Platform> Send for PooledObject<'_, T, P> {}
// SAFETY: a shared loan gives shared references only.
unsafe impl<T: Send + Sync, P: Platform> Sync for PooledObject<'_, T, P> {}

impl<'p, T: Send, P: Platform> PooledObject<'p, T, P> {
    /// # Safety
    ///
    /// The slot is of this pool, was taken from a chain, and belongs to the caller.
    #[inline(always)]
    pub(super) unsafe fn new(slot: *const ObjectSlot<T, P>, pool: &'p Pool<T, P>) -> Self {
        // SAFETY: alive as long as the pool, which is borrowed.
        let value = unsafe { (*slot).value.access() };
        Self { value: ManuallyDrop::new(value), slot, pool }
    }

    /// Ends the loan; the slot belongs to the caller then.
    #[inline(always)]
    pub(super) fn into_slot(self) -> *const ObjectSlot<T, P> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the access ends once, here, since `this` is not dropped.
        unsafe { ManuallyDrop::drop(&mut this.value) };
        this.slot
    }

    #[inline(always)]
    pub(super) fn is_of(&self, pool: &Pool<T, P>) -> bool {
        ptr::eq(self.pool, pool)
    }
}

impl<T: Send, P: Platform> Drop for PooledObject<'_, T, P> {
    fn drop(&mut self) {
        // SAFETY: the access ends once, here.
        unsafe { ManuallyDrop::drop(&mut self.value) };
        self.pool.put_back_one(self.slot);
    }
}

impl<T: Send, P: Platform> Deref for PooledObject<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: only the loan has the object (pool, invariant 1).
        unsafe { CellAccess::deref(&*self.value) }
    }
}

impl<T: Send, P: Platform> DerefMut for PooledObject<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: only the loan has the object (pool, invariant 1), and the loan is borrowed exclusively.
        unsafe { CellAccess::deref(&*self.value) }
    }
}

impl<T: Send + fmt::Debug, P: Platform> fmt::Debug for PooledObject<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
