//! Completing a request that needs nothing but to be released: the short path of a test or a wait.

use super::counts;
use super::kind::RequestId;
use super::outcome::Outcome;
use super::pool::free;
use super::slot::{Request, at, exists};
use heddle_objects::table::{Kind, decode};
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
    let parts = decode(Kind::Request, handle)?;
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
