//! The slots of requests. They are never given back to the system, so every index below
//! their number names a slot.

use super::counts::ReferenceCounts;
use super::in_flight::{InFlight, Ownership};
use super::kind::RequestId;
use super::outcome::Outcome;
use super::region::{Growth, OutOfRequests, Region};
use heddle_datatype::Datatype;
use heddle_objects::request::{RequestNames, StateWord};
use heddle_objects::table::{ObjectKind, upper_half};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::null_mut;

/// One slot. The fields that every operation touches come first, in its first two cache lines; the fields of
/// the in-flight state that a small operation touches begin in the second.
#[repr(C, align(128))]
pub(crate) struct Request {
    pub state: StateWord,
    /// Odd while a handle is valid.
    pub generation: AtomicU32,
    /// The VNI that carries the operation. It is an atomic, since the thread that moves a receive
    /// to another VNI writes it.
    pub vni: AtomicU32,
    /// Handle of the communicator, whose error handler is responsible. It is an atomic, since [`roots`] reads
    /// it in requests of other threads.
    pub comm: AtomicUsize,
    /// The datatype of the buffer, or null. It is an atomic, since [`roots`] reads it in
    /// requests of other threads.
    pub datatype: AtomicPtr<Datatype>,
    pub owner: UnsafeCell<Ownership>,
    pub outcome: UnsafeCell<Outcome>,
    pub in_flight: UnsafeCell<InFlight>,
    /// The peer for whose word the operation waits, see `awaiting.rs`.
    pub awaits: AtomicU64,
}

// SAFETY: the fields are atomics, or cells that one thread at a time may touch, by the table in `request`.
unsafe impl Sync for Request {}

heddle_platform::per_process! {
    static SLOTS: Region<Request> = Region::new();

    static USED: AtomicU32 = AtomicU32::new(0);
}

/// Adds `wanted` slots, or fewer if there is no room for all of them, and returns their indices.
///
/// # Errors
/// If no address or no memory is left even for one slot.
pub(super) fn grow(growth: &mut Growth, wanted: usize) -> Result<Range<RequestId>, OutOfRequests> {
    let first = growth.slots() as RequestId;
    SLOTS.grow(growth, wanted, Request::free)?;
    let used = growth.slots() as RequestId;
    // Release: a thread that reads an index below USED finds the slot initialised.
    USED.store(used, Ordering::Release);
    Ok(first..used)
}

/// Returns true if there is a slot with this index.
#[inline(always)]
pub(super) fn exists(index: u32) -> bool {
    // Acquire: pairs with the Release in `grow`.
    index < USED.load(Ordering::Acquire)
}

/// The number of slots.
pub(super) fn used() -> u32 {
    // Acquire: pairs with the Release in `grow`.
    USED.load(Ordering::Acquire)
}

/// The slot of a request.
#[inline(always)]
pub(super) fn at(id: RequestId) -> &'static Request {
    // SAFETY: ids come from `grow` or were checked with `exists`.
    unsafe { SLOTS.at(id) }
}

/// Passes the words by which live requests name communicators and datatypes to `root`, and returns the number
/// of slots. Requests that other threads take or release at the same time may be named or not.
pub fn roots(root: &mut dyn FnMut(usize)) -> usize {
    // Acquire: pairs with the Release in `grow`.
    let used = USED.load(Ordering::Acquire);
    for id in 0..used {
        at(id).names().roots(root);
    }
    used as usize
}

/// The number of requests that are complete, and that the program has not tested, waited for or freed since.
/// It is read from the slots, so that nothing has to be counted when a request completes. It is exact while
/// no thread communicates.
pub fn complete_and_not_freed() -> u64 {
    // Acquire: pairs with the Release in `grow`.
    let used = USED.load(Ordering::Acquire);
    (0..used).filter(|id| at(*id).state.awaits_its_owner()).count() as u64
}

impl Request {
    /// Returns true if this is the live request that `handle` names. The handle's lower
    /// half is this slot's index.
    #[inline(always)]
    pub(super) fn is_named_by(&self, handle: usize) -> bool {
        let generation = self.generation.load(Ordering::Relaxed);
        generation & 1 == 1 && (handle >> 32) as u32 == upper_half(ObjectKind::Request, generation)
    }

    #[inline(always)]
    pub(super) fn names(&self) -> RequestNames<'_, Datatype> {
        RequestNames { generation: &self.generation, comm: &self.comm, datatype: &self.datatype }
    }

    /// Counts a reference to the buffer's datatype, and gives up the one to the last buffer's. A persistent
    /// request keeps its reference from one start to the next.
    ///
    /// # Safety
    /// The pointer is null, or the caller holds the datatype.
    #[inline]
    pub(super) unsafe fn count_datatype(&self, counts: &dyn ReferenceCounts, datatype: *mut Datatype) {
        let last = self.datatype.load(Ordering::Relaxed);
        if last == datatype {
            return;
        }
        // SAFETY: the pointer is null, or the caller holds the datatype, as it promises.
        unsafe { counts.keep_type(datatype) };
        // SAFETY: `keep_type` was called when this datatype was stored in the slot.
        unsafe { counts.let_type_go(last) };
    }

    /// Gives up the references that the request has counted.
    #[inline]
    pub(super) fn let_objects_go(&self, counts: &dyn ReferenceCounts) {
        let (comm, datatype) = (self.comm.load(Ordering::Relaxed), self.datatype.load(Ordering::Relaxed));
        counts.let_comm_go(comm);
        // SAFETY: `keep_type` was called when this datatype was stored in the slot.
        unsafe { counts.let_type_go(datatype) };
        self.datatype.store(null_mut(), Ordering::Relaxed);
    }

    fn free() -> Request {
        Request {
            state: StateWord::new(),
            generation: AtomicU32::new(0),
            vni: AtomicU32::new(0),
            comm: AtomicUsize::new(0),
            datatype: AtomicPtr::new(null_mut()),
            owner: UnsafeCell::new(Ownership::default()),
            outcome: UnsafeCell::new(Outcome::default()),
            in_flight: UnsafeCell::new(InFlight::none()),
            awaits: AtomicU64::new(0),
        }
    }
}
