//! A pool that finds the calling thread's cache by itself.
//!
//! Each thread keeps a list of its stocks, one for each pool that it took from, and returns them when it
//! ends. A stock refers to its pool weakly: a pool ends when its last owner drops it, whichever threads still
//! list it. Those threads drop their entries when they next use a new pool, or end.

use super::cache::Stock;
use super::{Pool, PooledObject};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{Native, Platform, fork};
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Weak};

/// The number of the next pool; numbers are not used twice.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static STOCKS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

struct Entry {
    pool: u64,
    stock: Box<dyn AnyStock>,
}

/// A stock of some pool.
trait AnyStock: Any {
    fn is_dead(&self) -> bool;
}

/// The stock that this thread has of one pool. Dropping it returns the stock, if the pool still exists.
struct Stocked<T: Send + 'static, P: Platform> {
    pool: Weak<Pool<T, P>>,
    stock: Stock<T, P>,
}

impl<T: Send + 'static, P: Platform> AnyStock for Stocked<T, P> {
    fn is_dead(&self) -> bool {
        self.pool.strong_count() == 0
    }
}

impl<T: Send + 'static, P: Platform> Drop for Stocked<T, P> {
    fn drop(&mut self) {
        if fork::is_child() {
            // Another thread may have held a shard's lock at the fork, so the stock keeps its objects.
            return;
        }
        if let Some(pool) = self.pool.upgrade() {
            self.stock.empty_into(&pool);
        }
    }
}

/// A [`Pool`] with a cache in every thread that uses it.
///
/// Buffers that keep their room from loan to loan:
///
/// ```
/// use heddle_sync::pool::{LocalPool, Pool};
///
/// let buffers: LocalPool<Vec<u8>> = LocalPool::new(Pool::new(Vec::new));
/// for _ in 0..1_000 {
///     let mut buffer = buffers.take();
///     buffer.clear();
///     buffer.extend_from_slice(b"a message");
/// }
/// assert!(buffers.pool().made() < 1_000, "the thread's stock lends the same ones again");
/// ```
pub struct LocalPool<T: Send + 'static, P: Platform = Native> {
    pool: Arc<Pool<T, P>>,
    name: u64,
}

impl<T: Send + 'static, P: Platform> LocalPool<T, P> {
    /// Gives each thread that uses it a cache of `pool`.
    #[must_use]
    pub fn new(pool: Pool<T, P>) -> Self {
        Self { pool: Arc::new(pool), name: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The pool itself.
    pub fn pool(&self) -> &Pool<T, P> {
        &self.pool
    }

    /// Takes an object, from the thread's stock if there is any. Dropping it puts it into the stock of
    /// the thread that drops it.
    #[inline]
    pub fn take(&self) -> Pooled<'_, T, P> {
        // SAFETY: the stock with this number is only of this pool.
        let object = self.with_stock(|stock| unsafe { stock.take(&self.pool) });
        // A thread that is ending has no stock any more.
        let object = object.unwrap_or_else(|| self.pool.cache().take());
        Pooled { object: ManuallyDrop::new(object), pool: self }
    }

    /// The calling thread's stock, unless the thread is ending.
    #[inline]
    fn with_stock<R>(&self, f: impl FnOnce(&mut Stock<T, P>) -> R) -> Option<R> {
        STOCKS
            .try_with(|stocks| {
                // Borrowed only if making an object takes one of the same kind of pool.
                let mut stocks = stocks.try_borrow_mut().ok()?;
                let position = stocks.iter().position(|entry| entry.pool == self.name);
                let position = position.unwrap_or_else(|| self.enter(&mut stocks));
                let any: &mut dyn Any = stocks[position].stock.as_mut();
                any.downcast_mut::<Stocked<T, P>>().map(|stocked| f(&mut stocked.stock))
            })
            .ok()
            .flatten()
    }

    #[cold]
    fn enter(&self, stocks: &mut Vec<Entry>) -> usize {
        fork::watch();
        stocks.retain(|entry| !entry.stock.is_dead());
        let stock = Stocked { pool: Arc::downgrade(&self.pool), stock: Stock::empty() };
        stocks.push(Entry { pool: self.name, stock: Box::new(stock) });
        stocks.len() - 1
    }
}

impl<T: Send + 'static, P: Platform> fmt::Debug for LocalPool<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalPool").field("pool", &self.pool).finish_non_exhaustive()
    }
}

/// An object of a [`LocalPool`] on loan.
pub struct Pooled<'p, T: Send + 'static, P: Platform = Native> {
    object: ManuallyDrop<PooledObject<'p, T, P>>,
    pool: &'p LocalPool<T, P>,
}

impl<T: Send + 'static, P: Platform> Drop for Pooled<'_, T, P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, when its only owner is dropped.
        let object = unsafe { ManuallyDrop::take(&mut self.object) };
        let mut object = Some(object);
        self.pool.with_stock(|stock| {
            if let Some(object) = object.take() {
                // SAFETY: the stock with this number is only of this pool, and so is the object.
                unsafe { stock.give(&self.pool.pool, object) };
            }
        });
        // Still there if the thread is ending: then its drop returns it.
        drop(object);
    }
}

impl<T: Send + 'static, P: Platform> Deref for Pooled<'_, T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Send + 'static, P: Platform> DerefMut for Pooled<'_, T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T: Send + fmt::Debug + 'static, P: Platform> fmt::Debug for Pooled<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
