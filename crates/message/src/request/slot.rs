//! The slots of requests. They are never given back to the system, so that any index below their number leads to one.

use super::counts::ReferenceCounts;
use super::in_flight::{InFlight, Ownership};
use super::kind::RequestId;
use super::outcome::Outcome;
use super::region::{Growth, OutOfRequests, Region};
use heddle_datatype::Datatype;
use heddle_objects::request::{Names, State};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::null_mut;

/// One slot. What every operation touches comes first: its first two lines of memory, and what a small one touches of the
/// in-flight state begins in the second.
#[repr(C, align(128))]
pub(crate) struct Request {
    pub state: State,
    /// Odd while a handle is valid.
    pub generation: AtomicU32,
    /// The VNI that carries the operation. An atomic, since the thread that moves a receive to another VNI writes it.
    pub vni: AtomicU32,
    /// Handle of the communicator, whose error handler is responsible. An atomic, since [`roots`] reads it in requests of
    /// other threads.
    pub comm: AtomicUsize,
    /// The datatype of the buffer, or null. An atomic for the same reason.
    pub datatype: AtomicPtr<Datatype>,
    pub owner: UnsafeCell<Ownership>,
    pub outcome: UnsafeCell<Outcome>,
    pub in_flight: UnsafeCell<InFlight>,
}

// SAFETY: the fields are atomics, or cells that one thread at a time may touch, by the table in `request`.
unsafe impl Sync for Request {}

static SLOTS: Region<Request> = Region::new();
static USED: AtomicU32 = AtomicU32::new(0);

/// Adds `wanted` slots, or fewer if there is no room for all of them, and returns their indices.
///
/// # Errors
/// If there is no address or no memory left, even for one.
pub(super) fn grow(growth: &mut Growth, wanted: usize) -> Result<Range<RequestId>, OutOfRequests> {
    let first = growth.slots() as RequestId;
    SLOTS.grow(growth, wanted, Request::free)?;
    let used = growth.slots() as RequestId;
    // Release: a handle whose index is below USED finds its slot.
    USED.store(used, Ordering::Release);
    Ok(first..used)
}

/// Whether there is a slot with this index.
#[inline(always)]
pub(super) fn exists(index: u32) -> bool {
    // Acquire: pairs with the Release in `grow`.
    index < USED.load(Ordering::Acquire)
}

/// The slot of a request.
#[inline(always)]
pub(super) fn at(id: RequestId) -> &'static Request {
    // SAFETY: ids come from `grow` or were checked with `exists`.
    unsafe { SLOTS.at(id) }
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
    pub(super) fn let_objects_go(&self, counts: &dyn ReferenceCounts) {
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
