//! The slots of requests, which are never given back to the system, and a cache of free ones for each thread, or one pool
//! for all, as the model says.

use super::counts::{self, ReferenceCounts};
use super::in_flight::{InFlight, Ownership};
use super::kind::{RequestId, RequestKind};
use super::outcome::Outcome;
use super::region::{Growth, MOST, OutOfRequests, Region};
use heddle_datatype::Datatype;
use heddle_model::counters::{self, Event, Section};
use heddle_model::{Guarded, Model, Path, RequestPool, Sections};
use heddle_objects::request::{Names, State};
use heddle_objects::table::{Kind, decode};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::fork;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

const KIND: Kind = Kind::Request;

/// How many slots move between a thread's cache and the common store at once.
const BATCH: usize = 128;

/// Slots that are made at once, at the beginning and at most.
const GROWTH: (usize, usize) = (64, 64 * 256);

/// One slot. What every operation touches comes first: its first two lines of memory, and what a small one touches of the
/// in-flight state begins in the second.
#[repr(C, align(128))]
pub(crate) struct Request {
    pub state: State,
    /// Odd while a handle is valid.
    pub generation: AtomicU32,
    /// The VNI that carries the operation. An atomic since who moves a receive to another one writes it.
    pub vni: AtomicU32,
    /// Handle of the communicator, whose error handler is responsible. An atomic since [`roots`] reads it of requests that
    /// are others'.
    pub comm: AtomicUsize,
    /// The datatype of the buffer, or null. An atomic for the same reason.
    pub datatype: AtomicPtr<Datatype>,
    pub owner: UnsafeCell<Ownership>,
    pub outcome: UnsafeCell<Outcome>,
    pub in_flight: UnsafeCell<InFlight>,
}

// SAFETY: see the table of who may touch what in the documentation of `request`.
unsafe impl Sync for Request {}

struct Store {
    free: Vec<RequestId>,
    growth: Growth,
}

static SLOTS: Region<Request> = Region::new();
static USED: AtomicU32 = AtomicU32::new(0);
static STORE: Mutex<Store> = Mutex::new(Store::new());

/// The one pool of all threads behind its section, if the model wants that.
static SHARED: OnceLock<Guarded<Store>> = OnceLock::new();

/// Makes the pool that the model wants, before there are requests.
pub fn configure(model: &Model, sections: &Sections) {
    if model.request_pool == RequestPool::Shared {
        SHARED.get_or_init(|| sections.guard_shared(Section::RequestPool, Store::new()));
    }
}

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

// The thread's cache, reached without a call; null in a thread that has not used it yet.
heddle_platform::thread_slot!(mine, "heddle_message_request_cache_slot");

/// Runs something with the calling thread's cache.
#[inline(always)]
fn with_cache<R>(operation: impl FnOnce(&Cache) -> R) -> R {
    let cache = mine::get().cast::<Cache>();
    // SAFETY: null, or the thread's own, which has no destructor and so is there until the thread is gone.
    operation(unsafe { cache.as_ref() }.unwrap_or_else(cache_of_thread))
}

#[cold]
#[inline(never)]
fn cache_of_thread<'a>() -> &'a Cache {
    let cache = CACHE.with(std::ptr::from_ref);
    mine::set(cache.cast_mut().cast());
    // SAFETY: the thread's own, which has no destructor and so is there until the thread is gone.
    unsafe { &*cache }
}

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        if fork::is_child() {
            // Another thread may have had the store's lock at the fork.
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
        if let Some(shared) = SHARED.get() {
            self.len.set(0);
            let id = self.ids[0].get();
            return shared.with(Path::Main, |store| store.free.push(id));
        }
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
        fork::watch();
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

    /// Takes a batch from the store and returns one of it; if there is one pool for all, one slot of that.
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
        for (place, id) in self.ids.iter().zip(batch) {
            place.set(id);
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

    /// Only one of the stores, the threads' or the shared one, is ever used in a process.
    fn grow_if_empty(&mut self) -> Result<(), OutOfRequests> {
        if !self.free.is_empty() {
            return Ok(());
        }
        let first = self.growth.slots();
        // As many again as there are, so that the store is not asked too often by a growing program.
        let wanted = first.clamp(GROWTH.0, GROWTH.1);
        // Room for their names first: slots that nobody can name would be lost.
        self.free.try_reserve(wanted).map_err(|_| OutOfRequests)?;
        SLOTS.grow(&mut self.growth, wanted, Request::free)?;
        let (first, used) = (first as RequestId, self.growth.slots() as RequestId);
        // Release: a handle whose index is below USED finds its slot.
        USED.store(used, Ordering::Release);
        self.free.extend((first..used).rev());
        Ok(())
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
    // SAFETY: ids come from `take` or were checked with `exists`.
    unsafe { SLOTS.at(id) }
}

/// Takes a slot, ACTIVE, for an operation on a VNI.
///
/// # Errors
/// If all slots are in use and there can be no more. Nothing has happened then.
#[inline(always)]
pub fn take(vni: u32, comm: usize, kind: RequestKind) -> Result<RequestId, OutOfRequests> {
    let (id, request) = with_cache(|cache| {
        loop {
            let id = match cache.pop() {
                Some(id) => id,
                None => cache.refill()?,
            };
            let request = at(id);
            // A program that waits twice for one request, which it may not, returned its slot twice.
            if request.state.is_free() {
                break Ok((id, request));
            }
        }
    })?;
    // SAFETY: a free slot belongs to whoever took it.
    let owner = unsafe { &mut *request.owner.get() };
    owner.kind = kind;
    owner.detached = false;
    request.vni.store(vni, Ordering::Relaxed);
    request.names().take(comm);
    if let Some(counts) = counts::counts() {
        counts.keep_comm(comm);
    }
    request.state.activate();
    request.names().begin();
    counters::count(Event::RequestTaken, 1);
    Ok(id)
}

/// As [`take`], for an operation that nobody waits for: whoever completes the request returns its slot.
///
/// # Errors
/// As [`take`].
pub fn take_detached(vni: u32, comm: usize, kind: RequestKind) -> Result<RequestId, OutOfRequests> {
    let id = take(vni, comm, kind)?;
    // SAFETY: the slot was just taken, and nobody else knows it.
    unsafe { &mut *at(id).owner.get() }.detached = true;
    Ok(id)
}

/// So many requests as [`take_detached`] takes them: all of them, or none.
///
/// # Errors
/// As [`take`].
pub fn take_many_detached(
    count: usize,
    vni: u32,
    comm: usize,
    kind: RequestKind,
) -> Result<Vec<RequestId>, OutOfRequests> {
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        match take_detached(vni, comm, kind) {
            Ok(id) => taken.push(id),
            Err(error) => {
                taken.into_iter().for_each(release);
                return Err(error);
            }
        }
    }
    Ok(taken)
}

/// Returns a slot.
#[inline(always)]
pub fn release(id: RequestId) {
    let request = at(id);
    // SAFETY: the caller owns the complete or never issued request.
    let owner = unsafe { &mut *request.owner.get() };
    // SAFETY: as above.
    let in_flight = unsafe { &mut *request.in_flight.get() };
    if owner.attachment.is_some() || in_flight.keep.is_some() {
        drop_belongings(owner, in_flight);
    }
    if let Some(counts) = counts::counts() {
        request.let_objects_go(counts);
    }
    request.state.set_free();
    request.names().end();
    counters::count(Event::RequestReleased, 1);
    with_cache(|cache| cache.push(id));
}

/// A complete request that its owner has claimed, and that needs nothing but to be released: it has no error, and nothing is
/// attached to it.
pub struct Plain {
    id: RequestId,
    request: &'static Request,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Claims the request of a handle for the calling thread if it is [`Plain`]; otherwise nothing has happened. As for
/// [`claim`](super::claim), the caller alone completes the request.
#[inline(always)]
pub fn claim_plain(handle: usize) -> Option<Plain> {
    let parts = decode(KIND, handle)?;
    if !exists(parts.index) {
        return None;
    }
    let (id, request) = (parts.index, at(parts.index));
    let generation = request.generation.load(Ordering::Relaxed);
    if generation != parts.generation || generation & 1 == 0 || counts::requests_count() {
        return None;
    }
    if !request.state.is_complete() {
        return None;
    }
    // SAFETY: a complete request belongs to its owner, the caller.
    let owner = unsafe { &*request.owner.get() };
    // SAFETY: a complete request belongs to its owner, the caller.
    let outcome = unsafe { &*request.outcome.get() };
    // SAFETY: a complete request belongs to its owner, the caller.
    let in_flight = unsafe { &*request.in_flight.get() };
    let is_plain = owner.attachment.is_none() && outcome.error.is_none() && in_flight.keep.is_none();
    (is_plain && request.state.claim()).then_some(Plain { id, request })
}

impl Plain {
    /// What came of it.
    #[inline(always)]
    pub fn outcome(&self) -> &Outcome {
        // SAFETY: the claim made this thread the owner.
        unsafe { &*self.request.outcome.get() }
    }

    /// Returns the slot.
    #[inline(always)]
    pub fn release(self) {
        self.request.state.set_free();
        self.request.names().end();
        counters::count(Event::RequestReleased, 1);
        with_cache(|cache| cache.push(self.id));
    }
}

#[cold]
fn drop_belongings(owner: &mut Ownership, in_flight: &mut InFlight) {
    owner.attachment = None;
    in_flight.keep = None;
}

/// Hands the words by which live requests name communicators and datatypes to `root`, and returns how many slots there are.
/// Requests that other threads take or release meanwhile are named or not.
pub fn roots(root: &mut dyn FnMut(usize)) -> usize {
    // Acquire: as in `exists`.
    let used = USED.load(Ordering::Acquire);
    for id in 0..used {
        at(id).names().roots(root);
    }
    used as usize
}

impl Request {
    #[inline(always)]
    pub(super) fn names(&self) -> Names<'_, Datatype> {
        Names { generation: &self.generation, comm: &self.comm, datatype: &self.datatype }
    }

    /// Counts a reference to the buffer's datatype, in place of that to the last one's. A persistent request has it from one
    /// start to the next.
    ///
    /// # Safety
    /// Null, or a datatype that the caller has a hold of.
    #[inline]
    pub(super) unsafe fn count_datatype(&self, counts: &dyn ReferenceCounts, datatype: *mut Datatype) {
        let last = self.datatype.load(Ordering::Relaxed);
        if last == datatype {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { counts.keep_type(datatype) };
        // SAFETY: it was kept when it was noted here.
        unsafe { counts.let_type_go(last) };
    }

    /// Gives up the references that were counted.
    #[inline]
    fn let_objects_go(&self, counts: &dyn ReferenceCounts) {
        let (comm, datatype) = (self.comm.load(Ordering::Relaxed), self.datatype.load(Ordering::Relaxed));
        counts.let_comm_go(comm);
        // SAFETY: it was kept when it was noted here.
        unsafe { counts.let_type_go(datatype) };
        self.datatype.store(null_mut(), Ordering::Relaxed);
    }

    fn free() -> Request {
        Request {
            state: State::new(),
            generation: AtomicU32::new(0),
            vni: AtomicU32::new(0),
            comm: AtomicUsize::new(0),
            datatype: AtomicPtr::new(null_mut()),
            owner: UnsafeCell::new(Ownership::default()),
            outcome: UnsafeCell::new(Outcome::default()),
            in_flight: UnsafeCell::new(InFlight::none()),
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
            let ids: Vec<RequestId> =
                (0..100).map(|_| take(0, 0, RequestKind::Send).expect("a slot")).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| ids.into_iter().for_each(release));
            });
        }
        // Other tests use the store, too, but not thousands of slots.
        assert!(used() - before < 10_000, "slots were lost: {} are in use after {before}", used());
    }
}
