//! Handles of requests, and the requests that they name.

use super::attachment::Attachment;
use super::kind::{RequestId, RequestKind};
use super::slot::{self, Request, at};
use crate::error::{Error, Result};
use heddle_objects::table::{HandleParts, ObjectKind, decode, encode};
use heddle_platform::atomic::Ordering;
use heddle_spec::constants as mpi;

/// The handle of a request.
#[inline]
pub fn handle(id: RequestId) -> usize {
    encode(
        ObjectKind::Request,
        HandleParts { index: id, generation: at(id).generation.load(Ordering::Relaxed) },
    )
}

/// Makes the handle of a live request one that names nothing, because the program has freed it while its
/// operation goes on. The caller has the right to free it.
pub fn forget_handle(id: RequestId) {
    at(id).names().rename();
}

/// The index in the handle of a send that was complete when its call returned: such a send needs no slot.
const DONE: u32 = u32::MAX;

/// The handle shared by all sends that completed at once.
pub const SEND_DONE: usize = (0x80 + ObjectKind::Request as usize) << 56 | 1 << 32 | DONE as usize;

/// The request that a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// `MPI_REQUEST_NULL`.
    Null,
    /// A send that was complete when its call returned.
    Done,
    /// A request.
    Slot(RequestId),
}

/// Finds the request that a handle names.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle names no live request.
#[inline]
pub fn find(handle: usize) -> Result<Found> {
    if handle == mpi::MPI_REQUEST_NULL {
        return Ok(Found::Null);
    }
    if let Some(parts) = decode(ObjectKind::Request, handle) {
        if parts.index == DONE {
            return Ok(Found::Done);
        }
        if slot::exists(parts.index)
            && parts.generation & 1 == 1
            && at(parts.index).generation.load(Ordering::Relaxed) == parts.generation
        {
            return Ok(Found::Slot(parts.index));
        }
    }
    Err(bad_handle(handle))
}

/// The live request of a handle.
#[inline(always)]
pub(super) fn live(handle: usize) -> Option<(RequestId, &'static Request)> {
    let id = handle as u32;
    if !slot::exists(id) {
        return None;
    }
    let request = at(id);
    request.is_named_by(handle).then_some((id, request))
}

/// The inactive persistent request that a handle names.
#[inline(always)]
pub fn inactive(handle: usize) -> Option<RequestId> {
    let (id, request) = live(handle)?;
    request.state.is_inactive().then_some(id)
}

/// The attachment of the request of this kind that a handle names, if the request was started and no call has
/// completed it since. Many threads may ask.
///
/// # Safety
/// All requests of the kind have attachments of type `A`, and this one is not freed while the result is used.
#[inline(always)]
pub unsafe fn started<'a, A: Attachment>(handle: usize, kind: RequestKind) -> Option<&'a A> {
    let (_, request) = live(handle).filter(|(_, request)| !request.state.is_inactive())?;
    let owner = request.owner.get();
    // SAFETY: the field does not change while the request lives.
    if unsafe { (*owner).kind } != kind {
        return None;
    }
    // SAFETY: neither does this one.
    let attachment = unsafe { &(*owner).attachment }.as_deref()?;
    // SAFETY: the caller's promise.
    Some(unsafe { &*std::ptr::from_ref(attachment).cast::<A>() })
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let message = format!("{handle:#x} is not a request: never made, or completed and freed already");
    Error::new(mpi::MPI_ERR_REQUEST, message)
}

/// The handle of the request in slot `index`, if it is live: for `MPI_Request_fromint`.
pub fn handle_of_index(index: u32) -> Option<usize> {
    if index == DONE & 0x3fff_ffff {
        return Some(SEND_DONE);
    }
    if !slot::exists(index) {
        return None;
    }
    (at(index).generation.load(Ordering::Relaxed) & 1 == 1).then(|| handle(index))
}

/// The handle of the communicator that a live request names.
pub fn comm_of(handle: usize) -> Option<usize> {
    match find(handle) {
        Ok(Found::Slot(id)) => Some(at(id).comm.load(Ordering::Relaxed)),
        _ => None,
    }
}
