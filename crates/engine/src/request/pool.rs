//! Where requests live: slots that are never given back to the system, and a cache of free ones for each thread.

use super::{FREE, Flight, Outcome, Ownership, RequestId, RequestKind};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// How many slots move between a thread's cache and the common store at once.
const BATCH: usize = 128;

/// Slots of a block.
const BLOCK_LEN: u32 = 64;
/// The most blocks there can be: 16 million requests at once.
const BLOCK_COUNT: usize = 1 << 18;

/// One slot.
#[repr(align(128))]
pub(super) struct Request {
    pub(super) state: AtomicU32,
    /// Odd while a handle is valid.
    pub(super) generation: AtomicU32,
    /// Handle of the communicator, whose error handler is responsible. An atomic since [`communicators`] reads it of
    /// requests that are others'.
    pub(super) comm: AtomicUsize,
    pub(super) owner: UnsafeCell<Ownership>,
    pub(super) outcome: UnsafeCell<Outcome>,
    pub(super) flight: UnsafeCell<Flight>,
}

// SAFETY: see the table of who may touch what in the documentation of `request`.
unsafe impl Sync for Request {}

struct Store {
    used: u32,
    free: Vec<RequestId>,
}

static BLOCKS: [AtomicPtr<Request>; BLOCK_COUNT] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; BLOCK_COUNT];
static USED: AtomicU32 = AtomicU32::new(0);
static STORE: Mutex<Store> = Mutex::new(Store { used: 0, free: Vec::new() });

/// A thread's free slots. It has no destructor, so that reaching it takes no look at its state; what it holds is
/// returned by [`ReturnAtExit`].
struct Cache {
    len: Cell<usize>,
    ids: [Cell<RequestId>; 2 * BATCH],
    /// The thread is ending: nothing is cached any more.
    closed: Cell<bool>,
}

struct ReturnAtExit;

thread_local! {
    static CACHE: Cache = const {
        Cache { len: Cell::new(0), ids: [const { Cell::new(0) }; 2 * BATCH], closed: Cell::new(false) }
    };
    static AT_EXIT: ReturnAtExit = const { ReturnAtExit };
}

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        CACHE.with(|cache| {
            cache.closed.set(true);
            cache.give_back(0);
        });
    }
}

impl Cache {
    #[inline(always)]
    fn pop(&self) -> Option<RequestId> {
        let len = self.len.get().checked_sub(1)?;
        self.len.set(len);
        Some(self.ids[len].get())
    }

    #[inline(always)]
    fn push(&self, id: RequestId) {
        let len = self.len.get();
        if len < self.ids.len() {
            self.ids[len].set(id);
            self.len.set(len + 1);
        }
        // Empty before, or full now: one comparison for both.
        if len.wrapping_sub(1) >= self.ids.len() - 2 || self.closed.get() {
            self.first_or_last_pushed(len);
        }
    }

    #[cold]
    fn first_or_last_pushed(&self, len_before: usize) {
        if len_before == 0 {
            // A thread that only completes what others began has something to return, too.
            Cache::return_at_exit();
        }
        if len_before + 1 >= self.ids.len() || self.closed.get() {
            self.give_back(BATCH);
        }
    }

    /// Makes sure that the calling thread's slots go back to the store when it ends.
    fn return_at_exit() {
        let _ = AT_EXIT.try_with(|_| ());
    }

    /// Gives all but the first `keep` to the store; all of them if the thread is ending.
    #[cold]
    fn give_back(&self, keep: usize) {
        let keep = if self.closed.get() { 0 } else { keep };
        let surplus = self.ids[keep..self.len.get().max(keep)].iter().map(Cell::get);
        STORE.lock().unwrap_or_else(PoisonError::into_inner).free.extend(surplus);
        self.len.set(keep.min(self.len.get()));
    }

    /// Takes a batch from the store and returns one of it.
    #[cold]
    fn refill(&self) -> RequestId {
        // From now on there is something to return when the thread ends.
        Cache::return_at_exit();
        let mut store = STORE.lock().unwrap_or_else(PoisonError::into_inner);
        store.grow_if_empty();
        let wanted = if self.closed.get() { 1 } else { BATCH };
        let rest = store.free.len().saturating_sub(wanted);
        let mut batch = store.free.drain(rest..);
        let Some(first) = batch.next() else { unreachable!("the store was just filled") };
        for (place, id) in self.ids.iter().zip(batch) {
            place.set(id);
            self.len.set(self.len.get() + 1);
        }
        first
    }
}

impl Store {
    fn grow_if_empty(&mut self) {
        if !self.free.is_empty() {
            return;
        }
        let first = self.used;
        // As many again as there are, so that the store is not asked for each block of a growing program.
        let blocks = (first / BLOCK_LEN).clamp(1, 256);
        for _ in 0..blocks {
            let block = (self.used / BLOCK_LEN) as usize;
            assert!(block < BLOCK_COUNT, "more than {} MPI requests exist at once", self.used);
            let slots: Vec<Request> = (0..BLOCK_LEN).map(|_| Request::free()).collect();
            BLOCKS[block].store(Box::leak(slots.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
            self.used += BLOCK_LEN;
        }
        // Release: a handle whose index is below USED finds its block.
        USED.store(self.used, Ordering::Release);
        self.free.extend((first..self.used).rev());
    }
}

/// Whether there is a slot with this index.
#[inline(always)]
pub(super) fn exists(index: u32) -> bool {
    // Acquire: pairs with the Release in `grow_if_empty`.
    index < USED.load(Ordering::Acquire)
}

/// The slot of a request.
#[inline(always)]
pub(super) fn at(id: RequestId) -> &'static Request {
    // SAFETY: ids come from `take` or were checked with `exists`, so there is such a block.
    let block = unsafe { BLOCKS.get_unchecked((id / BLOCK_LEN) as usize) }.load(Ordering::Relaxed);
    // SAFETY: every block has this place.
    let slot = unsafe { block.add((id % BLOCK_LEN) as usize) };
    // SAFETY: blocks are never freed.
    unsafe { &*slot }
}

/// Takes a slot, ACTIVE, for an operation on a VNI.
#[inline(always)]
pub(crate) fn take(vni: u32, comm: usize, kind: RequestKind) -> RequestId {
    let (id, request) = CACHE.with(|cache| {
        loop {
            let id = cache.pop().unwrap_or_else(|| cache.refill());
            let request = at(id);
            // A program that waits twice for one request, which it may not, returned its slot twice.
            if request.state.load(Ordering::Relaxed) == FREE {
                break (id, request);
            }
        }
    });
    // SAFETY: a free slot belongs to whoever took it.
    let owner = unsafe { &mut *request.owner.get() };
    owner.vni = vni;
    owner.kind = kind;
    owner.detached = false;
    request.comm.store(comm, Ordering::Relaxed);
    request.state.store(super::ACTIVE, Ordering::Relaxed);
    request.set_generation(|last| (last + 1) | 1);
    id
}

/// Returns a slot.
#[inline(always)]
pub(crate) fn release(id: RequestId) {
    let request = at(id);
    // SAFETY: the caller owns the complete or never issued request.
    let owner = unsafe { &mut *request.owner.get() };
    // SAFETY: as above.
    let flight = unsafe { &mut *request.flight.get() };
    if owner.attachment.is_some() || flight.keep.is_some() {
        drop_belongings(owner, flight);
    }
    request.state.store(FREE, Ordering::Relaxed);
    request.set_generation(|last| (last + 1) & !1);
    CACHE.with(|cache| cache.push(id));
}

#[cold]
fn drop_belongings(owner: &mut Ownership, flight: &mut Flight) {
    owner.attachment = None;
    flight.keep = None;
}

/// The handles of the communicators of all live requests. Requests that other threads take or release meanwhile are
/// named or not; those that were issued before this call and live beyond it are named.
pub(crate) fn communicators() -> impl Iterator<Item = usize> {
    // Acquire: as in `exists`.
    (0..USED.load(Ordering::Acquire)).filter_map(|id| {
        let request = at(id);
        let live = request.generation.load(Ordering::Relaxed) & 1 == 1;
        live.then(|| request.comm.load(Ordering::Relaxed))
    })
}

impl Request {
    #[inline(always)]
    fn set_generation(&self, next: impl FnOnce(u32) -> u32) {
        let generation = self.generation.load(Ordering::Relaxed);
        self.generation.store(next(generation) & 0x00ff_ffff, Ordering::Relaxed);
    }

    fn free() -> Request {
        Request {
            state: AtomicU32::new(FREE),
            generation: AtomicU32::new(0),
            comm: AtomicUsize::new(0),
            owner: UnsafeCell::new(Ownership::default()),
            outcome: UnsafeCell::new(Outcome::default()),
            flight: UnsafeCell::new(Flight::none()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_only_complete_requests_return_the_slots_when_they_end() {
        let used = || USED.load(Ordering::Relaxed);
        let before = used();
        for _ in 0..200 {
            let ids: Vec<RequestId> = (0..100).map(|_| take(0, 0, RequestKind::Send)).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| ids.into_iter().for_each(release));
            });
        }
        // Other tests use the store, too, but not thousands of slots.
        assert!(used() - before < 10_000, "slots were lost: {} are in use after {before}", used());
    }
}
