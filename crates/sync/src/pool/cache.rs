//! A thread's stock of objects.

use super::chain::{FreeChain, ObjectSlot};
use super::object::PooledObject;
use super::shards::Pool;
use heddle_platform::{Native, Platform};
use std::fmt;

/// The two chains of a cache.
pub(super) struct Stock<T, P: Platform> {
    loaded: FreeChain<T, P>,
    /// Empty or a whole batch.
    spare: FreeChain<T, P>,
}

impl<T: Send, P: Platform> Stock<T, P> {
    pub(super) const fn empty() -> Self {
        Self { loaded: FreeChain::empty(), spare: FreeChain::empty() }
    }

    /// # Safety
    ///
    /// Every call for one stock is for the same pool.
    #[inline(always)]
    pub(super) unsafe fn take<'p>(&mut self, pool: &'p Pool<T, P>) -> PooledObject<'p, T, P> {
        // SAFETY: slots are alive as long as the pool.
        let slot = unsafe { self.loaded.pop() };
        let slot = slot.unwrap_or_else(|| self.take_from_next(pool));
        // SAFETY: of this pool by the caller's promise, and popped, so it belongs to the caller.
        unsafe { PooledObject::new(slot, pool) }
    }

    #[inline(never)]
    fn take_from_next(&mut self, pool: &Pool<T, P>) -> *const ObjectSlot<T, P> {
        self.loaded = if self.spare.len() == 0 { pool.fetch() } else { self.spare.take_all() };
        // SAFETY: slots are alive as long as the pool.
        let slot = unsafe { self.loaded.pop() };
        slot.expect("chains in a shard are not empty, nor is a spare that has a length")
    }

    /// # Safety
    ///
    /// Every call for one stock is for the same pool, and the object is of that pool.
    #[inline(always)]
    pub(super) unsafe fn give(&mut self, pool: &Pool<T, P>, object: PooledObject<'_, T, P>) {
        if self.loaded.len() >= pool.batch {
            self.make_room(pool);
        }
        // SAFETY: the loan ends here, so the slot belongs to the caller.
        unsafe { self.loaded.push(object.into_slot()) };
    }

    #[inline(never)]
    fn make_room(&mut self, pool: &Pool<T, P>) {
        let full = self.loaded.take_all();
        let spare = std::mem::replace(&mut self.spare, full);
        pool.put_back(spare);
    }

    /// Returns all objects.
    pub(super) fn empty_into(&mut self, pool: &Pool<T, P>) {
        pool.put_back(self.loaded.take_all());
        pool.put_back(self.spare.take_all());
    }
}

/// A thread's stock of objects of one pool, see the [module](super). Dropping it returns its objects.
pub struct Cache<'p, T: Send, P: Platform = Native> {
    pool: &'p Pool<T, P>,
    stock: Stock<T, P>,
}

impl<T: Send, P: Platform> Pool<T, P> {
    /// A stock for one thread. Dropping it returns its objects.
    #[must_use]
    pub fn cache(&self) -> Cache<'_, T, P> {
        Cache::new(self)
    }
}

impl<'p, T: Send, P: Platform> Cache<'p, T, P> {
    pub(super) fn new(pool: &'p Pool<T, P>) -> Self {
        Self { pool, stock: Stock::empty() }
    }

    /// Takes an object: the one given last, if there is any in stock.
    #[inline]
    pub fn take(&mut self) -> PooledObject<'p, T, P> {
        // SAFETY: every call is for this pool.
        unsafe { self.stock.take(self.pool) }
    }

    /// Takes an object back, even one that another cache of the pool lent.
    ///
    /// # Panics
    ///
    /// If the object is of another pool.
    #[inline]
    pub fn give(&mut self, object: PooledObject<'p, T, P>) {
        assert!(object.is_of(self.pool), "an object must be given to a cache of the pool it was taken from");
        // SAFETY: every call is for this pool, and the object is of it.
        unsafe { self.stock.give(self.pool, object) };
    }
}

impl<T: Send, P: Platform> Drop for Cache<'_, T, P> {
    fn drop(&mut self) {
        self.stock.empty_into(self.pool);
    }
}

impl<T: Send, P: Platform> fmt::Debug for Cache<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("loaded", &self.stock.loaded.len())
            .field("spare", &self.stock.spare.len())
            .finish_non_exhaustive()
    }
}
