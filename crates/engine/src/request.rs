//! Requests: operations that are under way.
//!
//! A request is a slot in a pool that is never given back to the system, so that any handle can be looked up safely.
//! Slots are taken from and returned to a cache of the calling thread, in batches of 128 from a common store: threads
//! that communicate do not meet here.
//!
//! **Who may touch what.** A request is ACTIVE from issue to completion; in that time its `Flight` belongs to the
//! section of its VNI. The completer writes the `Outcome`, then stores COMPLETE (Release). From then on the request
//! belongs to the thread that waits for it or tests it, which takes the outcome and frees the slot. A request that
//! the user freed while active is *detached*: the completer frees it.
//!
//! ```text
//!           take                 complete              consume
//!   FREE ─────────▶ ACTIVE ───────────────▶ COMPLETE ──────────▶ FREE
//!                    ▲                          │ persistent
//!                    └────── start ── INACTIVE ◀┘
//! ```

mod pool;

pub(crate) use pool::{communicators, release, take};

use crate::buffer::Buffer;
use crate::comm::CommRef;
use crate::error::{Error, Result};
use crate::object_table::{Kind, Parts, decode, encode};
use heddle_platform::atomic::Ordering;
use heddle_spec::constants as mpi;
use pool::at;
use std::any::Any;

const FREE: u32 = 0;
const ACTIVE: u32 = 1;
const COMPLETE: u32 = 2;
const INACTIVE: u32 = 3;

/// What came of an operation.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Rank of the sender in the communicator, for receives.
    pub source: i32,
    /// The message's tag, for receives.
    pub tag: i32,
    /// Bytes received.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
    /// Why it failed, if it did.
    pub error: Option<Error>,
}

impl Outcome {
    /// The outcome of an operation that receives nothing: the standard's *empty status*.
    pub fn empty() -> Outcome {
        Outcome { source: mpi::MPI_ANY_SOURCE, tag: mpi::MPI_ANY_TAG, ..Outcome::default() }
    }

    /// The outcome of a receive from `MPI_PROC_NULL`.
    pub fn proc_null() -> Outcome {
        Outcome { source: mpi::MPI_PROC_NULL, tag: mpi::MPI_ANY_TAG, ..Outcome::default() }
    }
}

/// An operation in flight: what the protocols need to know of it. Belongs to the section of VNI `vni`.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) buffer: Buffer,
    /// World rank of the other side (for a receive once it is matched).
    pub(crate) peer: usize,
    pub(crate) context: u64,
    /// Own rank in the communicator for a send, the wanted source for a receive.
    pub(crate) source: i32,
    pub(crate) tag: i32,
    /// For a send: whether it must wait for its match.
    pub(crate) synchronous: bool,
    /// For a send: whether its receiver was told to fetch the data, and has not yet.
    pub(crate) offered: bool,
    pub(crate) stage: Stage,
    /// Bytes that have arrived in a streamed rendezvous, and how many are wanted.
    pub(crate) arrived: usize,
    pub(crate) wanted: usize,
    /// Whether they are stored past the caches.
    pub(crate) past_caches: bool,
    /// When the receiver asked for them.
    pub(crate) asked_ns: u64,
    /// Memory that the library keeps for the operation (buffered sends).
    pub(crate) keep: Option<Box<dyn Any + Send>>,
}

/// How far an operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A receive in the set of posted ones, at this place.
    Posted(u32),
    /// Anything else: matched, or a send.
    UnderWay,
}

impl Flight {
    fn none() -> Flight {
        Flight {
            buffer: Buffer::empty(),
            peer: 0,
            context: 0,
            source: 0,
            tag: 0,
            synchronous: false,
            offered: false,
            stage: Stage::UnderWay,
            arrived: 0,
            wanted: 0,
            past_caches: false,
            asked_ns: 0,
            keep: None,
        }
    }
}

/// What the request's owner knows of it, fixed between issue and completion.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    /// The VNI that carries the operation.
    pub(crate) vni: u32,
    pub(crate) kind: RequestKind,
    pub(crate) detached: bool,
    /// For a detached part of a joint operation: the request that completes when all parts have.
    pub(crate) joint: Option<RequestId>,
    /// Something to be run when the request is completed towards the user, or kept until then.
    pub(crate) attachment: Option<Box<dyn Attachment>>,
}

/// The index of a request's slot.
pub(crate) type RequestId = u32;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RequestKind {
    #[default]
    Send,
    Receive,
    /// Completed by the user or by the library (`MPI_Grequest_complete`).
    Generalized,
}

/// Calls the program's function for cancelling a generalized request.
pub type Canceller = Box<dyn FnOnce(bool) -> Result<()>>;

/// What can be attached to a request: the template of a persistent one, the callbacks of a generalized one.
pub trait Attachment: Any + Send + std::fmt::Debug {
    /// Whether the request becomes inactive at completion rather than freed.
    fn persistent(&self) -> bool {
        false
    }
    /// Called when the outcome is taken by the user.
    fn finish(&mut self, _outcome: &mut Outcome) {}
    /// Called when the user looks at the outcome and the request stays.
    fn look(&mut self, _outcome: &mut Outcome) {}
    /// What is to be called when the request is cancelled, outside of all sections: it is told whether the request
    /// is complete.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
    /// For downcasts.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// The flight of an active request.
///
/// # Safety
/// The caller is inside the section of the request's VNI (or holds a request that was not issued yet), and lets go of
/// the reference before it asks for this request's flight again.
#[inline(always)]
pub(crate) unsafe fn flight<'a>(id: RequestId) -> &'a mut Flight {
    // SAFETY: exclusive by the caller's promise.
    unsafe { &mut *at(id).flight.get() }
}

/// What the owner knows of a request.
///
/// # Safety
/// The caller owns the request (it is complete, inactive or not issued yet) or is inside its VNI's section.
#[inline(always)]
pub(crate) unsafe fn owner<'a>(id: RequestId) -> &'a mut Ownership {
    // SAFETY: exclusive by the caller's promise.
    unsafe { &mut *at(id).owner.get() }
}

/// Completes a request from inside its VNI's section.
///
/// # Safety
/// The request is active and the caller is inside the section of its VNI.
#[inline(always)]
pub(crate) unsafe fn complete(id: RequestId, outcome: Outcome) {
    let request = at(id);
    // SAFETY: the owner only reads this while the request is active.
    if unsafe { (*request.owner.get()).detached } {
        // SAFETY: the caller's promise.
        return unsafe { complete_detached(id, outcome) };
    }
    // SAFETY: the outcome of an active request belongs to its completer.
    unsafe { *request.outcome.get() = outcome };
    // Release: pairs with the Acquire in `is_complete`.
    request.state.store(COMPLETE, Ordering::Release);
}

/// As [`complete`], of a receive without an error. Field by field, for the reason given at [`consume_with`].
///
/// # Safety
/// As [`complete`].
#[inline(always)]
pub(crate) unsafe fn complete_received(id: RequestId, source: i32, tag: i32, bytes: u64) {
    let request = at(id);
    // SAFETY: the owner only reads this while the request is active.
    if unsafe { (*request.owner.get()).detached } {
        let outcome = Outcome { source, tag, bytes, cancelled: false, error: None };
        // SAFETY: the caller's promise.
        return unsafe { complete_detached(id, outcome) };
    }
    // SAFETY: the outcome of an active request belongs to its completer.
    let outcome = unsafe { &mut *request.outcome.get() };
    outcome.source = source;
    outcome.tag = tag;
    outcome.bytes = bytes;
    outcome.cancelled = false;
    if outcome.error.is_some() {
        outcome.error = None;
    }
    // Release: pairs with the Acquire in `is_complete`.
    request.state.store(COMPLETE, Ordering::Release);
}

/// Completes a request that nobody waits for, and with the last part of a joint operation the whole.
///
/// # Safety
/// As [`complete`].
#[cold]
unsafe fn complete_detached(id: RequestId, outcome: Outcome) {
    // SAFETY: the caller is in the section of the request's VNI.
    let owner = unsafe { owner(id) };
    let (joint, kind) = (owner.joint.take(), owner.kind);
    release(id);
    if let Some(whole) = joint {
        // SAFETY: all parts are on the VNI of the whole.
        unsafe { complete_part(whole, kind, outcome) };
    }
}

/// Notes the end of a part of a joint operation; its request counts the missing parts in `wanted`. The outcome of the
/// whole is that of its receive.
///
/// # Safety
/// As [`complete`], of the joint request.
pub(crate) unsafe fn complete_part(whole: RequestId, kind: RequestKind, outcome: Outcome) {
    // SAFETY: the outcome of an active request belongs to its completer.
    let so_far = unsafe { &mut *at(whole).outcome.get() };
    if kind == RequestKind::Receive || outcome.error.is_some() {
        *so_far = outcome;
    }
    // SAFETY: the caller is in the section of the request's VNI.
    let flight = unsafe { flight(whole) };
    flight.wanted -= 1;
    if flight.wanted == 0 {
        let outcome = std::mem::take(so_far);
        // SAFETY: the caller's promise.
        unsafe { complete(whole, outcome) };
    }
}

/// Whether a request is complete.
#[inline(always)]
pub(crate) fn is_complete(id: RequestId) -> bool {
    // Acquire: pairs with the Release in `complete`.
    at(id).state.load(Ordering::Acquire) == COMPLETE
}

/// Whether a persistent request waits to be started.
#[inline(always)]
pub(crate) fn is_inactive(id: RequestId) -> bool {
    at(id).state.load(Ordering::Acquire) == INACTIVE
}

/// Makes a request inactive (a persistent one, new or after completion).
pub(crate) fn deactivate(id: RequestId) {
    at(id).state.store(INACTIVE, Ordering::Relaxed);
}

/// Makes an inactive request active again.
pub(crate) fn activate(id: RequestId) {
    at(id).state.store(ACTIVE, Ordering::Relaxed);
}

/// The VNI that carries a request's operation.
#[inline(always)]
pub(crate) fn vni_of(id: RequestId) -> u32 {
    // SAFETY: the field is written only while the request is free and belongs to the taker.
    unsafe { (*at(id).owner.get()).vni }
}

/// Looks at the outcome of a complete request without taking it.
pub(crate) fn outcome(id: RequestId) -> Outcome {
    debug_assert!(is_complete(id));
    // SAFETY: a complete request's outcome is no longer written.
    let mut outcome = unsafe { (*at(id).outcome.get()).clone() };
    // SAFETY: a complete request belongs to its owner, the caller.
    let owner = unsafe { owner(id) };
    outcome.error = outcome.error.map(|error| belonging_to(id, error));
    if let Some(attachment) = &mut owner.attachment {
        attachment.look(&mut outcome);
    }
    outcome
}

/// Claims a complete request for the calling thread.
///
/// Two threads that complete one request at the same time are an error of the program (MPI 5.0, section 11.6.2). They
/// may both succeed here, since an atomic exchange would cost every completion a tenth of a small message. Then the
/// slot is returned twice, and `take` passes it over while its first taker uses it; only two threads that take it at the
/// same moment would get the same one.
#[inline(always)]
pub(crate) fn claim(id: RequestId) -> bool {
    let state = &at(id).state;
    // Acquire: pairs with the Release in `complete`.
    let complete = state.load(Ordering::Acquire) == COMPLETE;
    if complete {
        state.store(ACTIVE, Ordering::Relaxed);
    }
    complete
}

/// Shows the outcome of a claimed request to `look` and frees the request, or makes it inactive if it is persistent.
/// Returns what `look` returned and whether the user's handle becomes null.
///
/// The outcome is looked at where it lies: moved about in memory, in pieces of other sizes than those it was written
/// in, it would cost more than all the rest.
#[inline(always)]
pub(crate) fn consume_with<R>(id: RequestId, look: impl FnOnce(&Outcome) -> R) -> (R, bool) {
    let request = at(id);
    // SAFETY: the claim made this thread the owner.
    let owner = unsafe { &mut *request.owner.get() };
    // SAFETY: as above.
    let stored = unsafe { &mut *request.outcome.get() };
    if stored.error.is_some() || owner.attachment.is_some() {
        let (outcome, freed) = consume_rare(id, owner, stored);
        return (look(&outcome), freed);
    }
    let result = look(stored);
    release(id);
    (result, true)
}

/// Claims a request and takes its outcome; `None` if another thread was quicker.
pub(crate) fn consume(id: RequestId) -> Option<(Outcome, bool)> {
    claim(id).then(|| consume_with(id, Outcome::clone))
}

/// An error of a request's operation: the error handler of the request's communicator is responsible, also if the
/// program has freed the communicator.
#[cold]
fn belonging_to(id: RequestId, error: Error) -> Error {
    match CommRef::of_request(at(id).comm.load(Ordering::Relaxed)) {
        Some(comm) => error.on_comm(comm),
        None => error,
    }
}

/// A request that failed, or has something attached.
#[cold]
#[inline(never)]
fn consume_rare(id: RequestId, owner: &mut Ownership, stored: &mut Outcome) -> (Outcome, bool) {
    let mut outcome = std::mem::take(stored);
    outcome.error = outcome.error.map(|error| belonging_to(id, error));
    let persistent = finish(owner, &mut outcome);
    if persistent {
        deactivate(id);
    } else {
        release(id);
    }
    (outcome, !persistent)
}

/// Lets what is attached to a request see its outcome. Returns whether the request is persistent.
#[cold]
fn finish(owner: &mut Ownership, outcome: &mut Outcome) -> bool {
    owner.attachment.as_mut().is_some_and(|attachment| {
        attachment.finish(outcome);
        attachment.persistent()
    })
}

/// The handle of a request.
#[inline]
pub(crate) fn handle(id: RequestId) -> usize {
    encode(Kind::Request, Parts { index: id, generation: at(id).generation.load(Ordering::Relaxed) })
}

/// The index that stands for "a send that was complete when its call returned": it needs no slot.
const DONE: u32 = u32::MAX;

/// The handle shared by all sends that completed at once.
pub const SEND_DONE: usize = (0x80 + Kind::Request as usize) << 56 | 1 << 32 | DONE as usize;

/// What a request handle leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// `MPI_REQUEST_NULL`.
    Null,
    /// A send that was complete when its call returned.
    Done,
    /// A request.
    Slot(RequestId),
}

/// Looks a handle up.
///
/// # Errors
/// `MPI_ERR_REQUEST` if it is not a live request's.
#[inline]
pub(crate) fn find(handle: usize) -> Result<Found> {
    if handle == mpi::MPI_REQUEST_NULL {
        return Ok(Found::Null);
    }
    if let Some(parts) = decode(Kind::Request, handle) {
        if parts.index == DONE {
            return Ok(Found::Done);
        }
        if pool::exists(parts.index)
            && parts.generation & 1 == 1
            && at(parts.index).generation.load(Ordering::Relaxed) == parts.generation
        {
            return Ok(Found::Slot(parts.index));
        }
    }
    Err(bad_handle(handle))
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let message = format!("{handle:#x} is not a request: never made, or completed and freed already");
    Error::new(mpi::MPI_ERR_REQUEST, message)
}

/// The communicator that a live request belongs to: whose error handler is responsible for it.
pub(crate) fn comm_of(handle: usize) -> Option<CommRef> {
    match find(handle) {
        Ok(Found::Slot(id)) => CommRef::of_request(at(id).comm.load(Ordering::Relaxed)),
        _ => None,
    }
}

/// The handle of the request in slot `index`, if it is live: for `MPI_Request_fromint`.
pub fn handle_of_index(index: u32) -> Option<usize> {
    if index == DONE & 0x3fff_ffff {
        return Some(SEND_DONE);
    }
    if !pool::exists(index) {
        return None;
    }
    (at(index).generation.load(Ordering::Relaxed) & 1 == 1).then(|| handle(index))
}
