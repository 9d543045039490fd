//! Joint requests: they complete when all their parts have, which are requests that nobody waits for.
//!
//! Parts may be on different VNIs, and so may end at the same time in different threads. Each leaves what came of it in a place
//! that is its own: the receive in the whole's outcome, the send, if it failed, in what the whole's in-flight state keeps. Who counts
//! last finds both, and completes the whole.

use super::in_flight::Stage;
use super::kind::{RequestId, RequestKind};
use super::life::{complete, in_flight, is_last_part};
use super::outcome::{Outcome, PartOver};
use super::slot::at;
use heddle_objects::request::Missing;

/// Makes a request a joint one, of so many parts.
///
/// # Safety
/// The request is new, and so many parts are completed by and by, among them at most one receive and one send.
pub unsafe fn expect_parts(whole: RequestId, parts: u32) {
    // SAFETY: nobody else knows the request.
    let in_flight = unsafe { in_flight(whole) };
    in_flight.missing = Missing::new(parts);
    in_flight.stage = Stage::UnderWay;
    in_flight.keep = None;
}

/// Notes the end of a part of a joint operation; its request counts the missing parts, and completes with the last one. The
/// outcome of the whole is that of its receive.
///
/// # Safety
/// The part was missing.
pub unsafe fn complete_part(part: PartOver) {
    let PartOver { whole, kind, outcome } = part;
    let (place, in_flight) = (at(whole).outcome.get(), at(whole).in_flight.get());
    match (kind, outcome) {
        (RequestKind::Receive, outcome) => {
            // SAFETY: the outcome is the receive's place, as long as it is missing.
            unsafe { *place = outcome };
        }
        (RequestKind::Send, Outcome { error: Some(error), .. }) => {
            // SAFETY: this field is the send's place, as long as it is missing.
            unsafe { (*in_flight).keep = Some(Box::new(error)) };
        }
        // Nothing to leave, or a part that only counts.
        _ => {}
    }
    if is_last_part(whole) {
        // SAFETY: all parts are over, so the whole is this thread's.
        unsafe { complete_joint(whole) };
    }
}

/// Completes a joint request.
///
/// # Safety
/// All its parts are over, and the caller has seen that first.
unsafe fn complete_joint(whole: RequestId) {
    // SAFETY: the caller's promise.
    let mut outcome = std::mem::take(unsafe { &mut *at(whole).outcome.get() });
    // SAFETY: as above.
    let failed = unsafe { in_flight(whole) }.keep.take();
    outcome.error =
        outcome.error.or_else(|| failed.and_then(|kept| kept.downcast().ok()).map(|error| *error));
    // SAFETY: as above.
    let part = unsafe { complete(whole, outcome) };
    debug_assert!(part.is_none(), "joint requests are not parts themselves");
}
