//! Joint requests: a joint request completes when all its parts have. The parts are requests
//! that no thread waits for.
//!
//! Parts may be on different VNIs, so they may end at the same time in different threads. Each part leaves
//! its result in a field that no other part writes: the receive writes the outcome of the whole, a failed
//! send writes `keep` in the in-flight state of the whole. The thread that counts the last part finds both,
//! and completes the whole.

use super::in_flight::Stage;
use super::kind::{RequestId, RequestKind};
use super::life::{complete, in_flight, is_last_part};
use super::outcome::{Outcome, PartOver};
use super::slot::at;
use heddle_objects::request::Missing;

/// Makes a request a joint request of `parts` parts.
///
/// # Safety
/// The request is new. Each of the `parts` parts is completed exactly once; among them are at most
/// one receive and one send.
pub unsafe fn expect_parts(whole: RequestId, parts: u32) {
    // SAFETY: no other thread knows the request.
    let in_flight = unsafe { in_flight(whole) };
    in_flight.missing = Missing::new(parts);
    in_flight.stage = Stage::UnderWay;
    in_flight.keep = None;
}

/// Counts a part of a joint operation that has ended, and completes the joint request after the last one. The
/// outcome of the whole is that of its receive.
///
/// # Safety
/// The part was not counted before.
pub unsafe fn complete_part(part: PartOver) {
    let PartOver { whole, kind, outcome } = part;
    let (whole_outcome, in_flight) = (at(whole).outcome.get(), at(whole).in_flight.get());
    match (kind, outcome) {
        (RequestKind::Receive, outcome) => {
            // SAFETY: only the receive writes the outcome while the receive is missing.
            unsafe { *whole_outcome = outcome };
        }
        (RequestKind::Send, Outcome { error: Some(error), .. }) => {
            // SAFETY: only the send writes this field while the send is missing.
            unsafe { (*in_flight).keep = Some(Box::new(error)) };
        }
        // A send that succeeded leaves nothing, and neither does a part of another kind.
        _ => {}
    }
    if is_last_part(whole) {
        // SAFETY: all parts are over, and this thread counted the last one, so it
        // alone has the joint request.
        unsafe { complete_joint(whole) };
    }
}

/// Completes a joint request.
///
/// # Safety
/// All parts are over, and the caller has counted the last one.
unsafe fn complete_joint(whole: RequestId) {
    // SAFETY: all parts are over and the caller counted the last one, so no other thread touches the outcome.
    let mut outcome = std::mem::take(unsafe { &mut *at(whole).outcome.get() });
    // SAFETY: all parts are over and the caller counted the last one, so no other thread
    // touches the in-flight state.
    let failed = unsafe { in_flight(whole) }.keep.take();
    outcome.error =
        outcome.error.or_else(|| failed.and_then(|kept| kept.downcast().ok()).map(|error| *error));
    // SAFETY: the request is active, since it completes only here, and the caller has its in-flight state.
    let part = unsafe { complete(whole, outcome) };
    debug_assert!(part.is_none(), "joint requests are not parts themselves");
}
