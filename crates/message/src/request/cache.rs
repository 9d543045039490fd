//! The free slots: a store that all threads share, and a cache of some for each thread. If the model wants
//! it, one pool for all threads behind a critical section replaces them.

use super::kind::RequestId;
use super::region::{Growth, MOST, OutOfRequests};
use super::slot::{self, Request};
use heddle_model::counters::Section;
use heddle_model::{Guarded, Model, Path, RequestPool, Requests, Sections};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::fork;
use std::cell::Cell;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The number of slots that move between a thread's cache and the common store at once.
const BATCH: usize = 128;

/// The number of slots that are made at once: at the beginning, and at most.
const GROWTH: (usize, usize) = (64, 64 * 256);

struct Store {
    free: Vec<RequestId>,
    growth: Growth,
}

heddle_platform::per_process! {
    static STORE: Mutex<Store> = Mutex::new(Store::new());

    /// The one pool of all threads behind its critical section, if the model wants that.
    static SHARED: OnceLock<Guarded<Store>> = OnceLock::new();
}

/// Makes the pool that the model wants, before there are requests.
pub fn configure(model: &Model, sections: &Sections) {
    if model.request_pool == RequestPool::Shared {
        SHARED.get_or_init(|| sections.guard_shared(Section::RequestPool, Store::new()));
    }
    FOR_EVERY_SEND.store(model.requests == Requests::Always, Ordering::Relaxed);
}

heddle_platform::per_process! {
    /// True if every nonblocking send has a request.
    static FOR_EVERY_SEND: AtomicBool = AtomicBool::new(false);
}

/// Returns true if a nonblocking send has a request even if it is complete when the call returns.
#[inline(always)]
pub fn is_for_every_send() -> bool {
    FOR_EVERY_SEND.load(Ordering::Relaxed)
}

/// A thread's free slots. It has no destructor, so a thread reaches it without a check of its state;
/// [`ReturnAtExit`] returns its slots.
struct Cache {
    len: Cell<usize>,
    ids: [Cell<RequestId>; 2 * BATCH],
    /// True if the thread is ending: then nothing is cached any more.
    closed: Cell<bool>,
}

struct ReturnAtExit;

thread_local! {
    static CACHE: Cache = const {
        Cache { len: Cell::new(0), ids: [const { Cell::new(0) }; 2 * BATCH], closed: Cell::new(false) }
    };
    static AT_EXIT: ReturnAtExit = const { ReturnAtExit };
}

// The thread's cache, reached without a call; null in a thread that has not used it yet.
heddle_platform::thread_slot!(mine, "heddle_message_request_cache_slot");

/// Runs an operation with the calling thread's cache.
#[inline(always)]
fn with_cache<R>(operation: impl FnOnce(&Cache) -> R) -> R {
    let cache = mine::get().cast::<Cache>();
    // SAFETY: null, or this thread's cache, which has no destructor and so is there until the thread is gone.
    operation(unsafe { cache.as_ref() }.unwrap_or_else(cache_of_thread))
}

#[cold]
#[inline(never)]
fn cache_of_thread<'a>() -> &'a Cache {
    let cache = CACHE.with(std::ptr::from_ref);
    mine::set(cache.cast_mut().cast());
    // SAFETY: this thread's cache, which has no destructor and so is there until the thread is gone.
    unsafe { &*cache }
}

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        if fork::is_child() {
            // Another thread may have held the store's lock at the fork.
            return;
        }
        with_cache(|cache| {
            cache.closed.set(true);
            cache.give_back(0);
        });
    }
}

impl Cache {
    #[inline(always)]
    fn pop(&self) -> Option<RequestId> {
        // An empty cache has no such index: one comparison tests that and the bounds.
        let last = self.len.get().wrapping_sub(1);
        let id = self.ids.get(last)?.get();
        self.len.set(last);
        Some(id)
    }

    #[inline(always)]
    fn push(&self, id: RequestId) {
        let len = self.len.get();
        if len < self.ids.len() {
            self.ids[len].set(id);
            self.len.set(len + 1);
        }
        // The cache was empty before, or is full now: one comparison tests both.
        if len.wrapping_sub(1) >= self.ids.len() - 2 || self.closed.get() {
            self.first_or_last_pushed(len);
        }
    }

    #[cold]
    fn first_or_last_pushed(&self, len_before: usize) {
        if let Some(shared) = SHARED.get() {
            self.len.set(0);
            let id = self.ids[0].get();
            return shared.with(Path::Main, |store| store.free.push(id));
        }
        if len_before == 0 {
            // A thread that only completes requests of other threads has slots to return, too.
            Cache::return_at_exit();
        }
        if len_before + 1 >= self.ids.len() || self.closed.get() {
            self.give_back(BATCH);
        }
    }

    /// Makes sure that the calling thread's slots go back to the store when it ends.
    fn return_at_exit() {
        fork::watch();
        let _ = AT_EXIT.try_with(|_| ());
    }

    /// Gives all but the first `keep` slots to the store, or all of them if the thread is ending.
    #[cold]
    fn give_back(&self, keep: usize) {
        let keep = if self.closed.get() { 0 } else { keep };
        let surplus = self.ids[keep..self.len.get().max(keep)].iter().map(Cell::get);
        STORE.lock().unwrap_or_else(PoisonError::into_inner).free.extend(surplus);
        self.len.set(keep.min(self.len.get()));
    }

    /// Takes a batch from the store and returns one slot of it. If there is one pool for all threads,
    /// takes one slot from that.
    #[cold]
    fn refill(&self) -> Result<RequestId, OutOfRequests> {
        if let Some(shared) = SHARED.get() {
            return shared.with(Path::Main, Store::pop);
        }
        // From now on there is something to return when the thread ends.
        Cache::return_at_exit();
        let mut store = STORE.lock().unwrap_or_else(PoisonError::into_inner);
        store.grow_if_empty()?;
        let wanted = if self.closed.get() { 1 } else { BATCH };
        let rest = store.free.len().saturating_sub(wanted);
        let mut batch = store.free.drain(rest..);
        let Some(first) = batch.next() else { unreachable!("the store was just filled") };
        for (entry, id) in self.ids.iter().zip(batch) {
            entry.set(id);
            self.len.set(self.len.get() + 1);
        }
        Ok(first)
    }
}

impl Store {
    const fn new() -> Store {
        Store { free: Vec::new(), growth: Growth::up_to(MOST) }
    }

    fn pop(&mut self) -> Result<RequestId, OutOfRequests> {
        self.grow_if_empty()?;
        let Some(id) = self.free.pop() else { unreachable!("the store was just filled") };
        Ok(id)
    }

    /// Adds slots if there is no free one. A process uses only one of the stores, that of the
    /// threads or the shared one.
    fn grow_if_empty(&mut self) -> Result<(), OutOfRequests> {
        if !self.free.is_empty() {
            return Ok(());
        }
        // The number of slots doubles each time, so a program with ever more requests asks rarely.
        let wanted = self.growth.slots().clamp(GROWTH.0, GROWTH.1);
        // Room for their indices is reserved first: slots whose indices are not stored would be lost.
        self.free.try_reserve(wanted).map_err(|_| OutOfRequests)?;
        self.free.extend(slot::grow(&mut self.growth, wanted)?.rev());
        Ok(())
    }
}

/// Takes a free slot.
#[inline(always)]
pub(super) fn pop() -> Result<(RequestId, &'static Request), OutOfRequests> {
    with_cache(|cache| {
        loop {
            let id = match cache.pop() {
                Some(id) => id,
                None => cache.refill()?,
            };
            let request = slot::at(id);
            // A slot is not free if the program waited twice for one request, against the rules, and so
            // returned its slot twice.
            if request.state.is_free() {
                break Ok((id, request));
            }
        }
    })
}

/// Takes a free slot from the calling thread's cache, if there is one.
#[inline(always)]
pub(super) fn pop_cached() -> Option<(RequestId, &'static Request)> {
    // SAFETY: null, or this thread's cache, which has no destructor and so is there until the thread is gone.
    let cache = unsafe { mine::get().cast::<Cache>().as_ref() }?;
    let id = cache.pop()?;
    let request = slot::at(id);
    // A slot is not free if the program waited twice for one request, as `pop` explains.
    request.state.is_free().then_some((id, request))
}

/// Returns a slot, which is free.
#[inline(always)]
pub(super) fn push(id: RequestId) {
    with_cache(|cache| cache.push(id));
}
