//! Completing a request that needs nothing but to be released: the short path of a test or a wait. A
//! persistent request has a short path of its own, since it only becomes inactive.

use super::counts;
use super::kind::RequestId;
use super::lookup::live;
use super::outcome::Outcome;
use super::pool::free;
use super::slot::Request;
use heddle_platform::atomic::Ordering;

/// A complete request that its owner has claimed, and that needs nothing but to be released: it has no error,
/// and nothing is attached to it.
pub struct Plain {
    id: RequestId,
    request: &'static Request,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Claims the request of a handle for the calling thread if it is [`Plain`]; otherwise it changes nothing. As
/// for [`claim`](super::claim), only the caller completes the request.
#[inline(always)]
pub fn claim_plain(handle: usize) -> Option<Plain> {
    let (id, request) = live(handle)?;
    if counts::requests_count() || !request.state.is_complete() {
        return None;
    }
    // SAFETY: a complete request belongs to its owner, the caller.
    let plain = unsafe { Plain::of(id, request) }?;
    request.state.set_claimed();
    Some(plain)
}

/// If a handle names a complete persistent request without an error, passes its outcome to `read` and makes
/// the request inactive. As for [`claim`](super::claim), only the caller completes the request.
///
/// # Errors
/// `read`, if the request is another one. Nothing has happened then.
#[inline(always)]
pub fn rest<R, L: FnOnce(&Outcome) -> R>(handle: usize, read: L) -> Result<R, L> {
    let Some((_, request)) = live(handle).filter(|(_, request)| request.state.is_complete()) else {
        return Err(read);
    };
    // SAFETY: a complete request belongs to its owner, the caller.
    let owner = unsafe { &*request.owner.get() };
    // SAFETY: a complete request belongs to its owner, the caller.
    let outcome = unsafe { &*request.outcome.get() };
    if !owner.persistent || outcome.error.is_some() {
        return Err(read);
    }
    let result = read(outcome);
    request.state.deactivate();
    Ok(result)
}

/// What a test finds out about a request.
#[derive(Debug)]
pub enum Tested {
    /// It is complete, and the calling thread has claimed it.
    Plain(Plain),
    /// It is complete, the calling thread has claimed it, and it needs more than its release.
    Claimed(RequestId),
    /// A VNI carries its operation.
    Pending(u32),
    /// There is no such request, or it is inactive, or another thread was quicker to claim it.
    Other,
}

/// Tests the request of a handle, and claims it if it is complete. Other threads may test the same request:
/// exactly one of them claims it.
#[inline(always)]
pub fn test(handle: usize) -> Tested {
    let Some((id, request)) = live(handle) else { return Tested::Other };
    if !request.state.is_complete() {
        let is_inactive = request.state.is_inactive();
        return if is_inactive {
            Tested::Other
        } else {
            Tested::Pending(request.vni.load(Ordering::Relaxed))
        };
    }
    if !request.state.claim_alone(|| request.is_named_by(handle)) {
        return Tested::Other;
    }
    // SAFETY: the claim made this thread the owner.
    match unsafe { Plain::of(id, request) } {
        Some(plain) if !counts::requests_count() => Tested::Plain(plain),
        _ => Tested::Claimed(id),
    }
}

impl Plain {
    /// The request in a slot, if it is plain.
    ///
    /// # Safety
    /// The request is complete and belongs to the calling thread.
    #[inline(always)]
    unsafe fn of(id: RequestId, request: &'static Request) -> Option<Plain> {
        // SAFETY: the request belongs to the caller, as it promises.
        let owner = unsafe { &*request.owner.get() };
        // SAFETY: the request belongs to the caller, as it promises.
        let outcome = unsafe { &*request.outcome.get() };
        // SAFETY: the request belongs to the caller, as it promises.
        let in_flight = unsafe { &*request.in_flight.get() };
        let is_plain = owner.attachment.is_none() && outcome.error.is_none() && in_flight.keep.is_none();
        is_plain.then_some(Plain { id, request })
    }

    /// The result of the operation.
    #[inline(always)]
    pub fn outcome(&self) -> &Outcome {
        // SAFETY: the claim made this thread the owner.
        unsafe { &*self.request.outcome.get() }
    }

    /// Returns the slot.
    #[inline(always)]
    pub fn release(self) {
        free(self.id, self.request);
    }
}
