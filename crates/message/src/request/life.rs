//! Issue, completion and release of a request.

use super::attachment::Attachment;
use super::counts;
use super::in_flight::{InFlight, Ownership, Stage};
use super::kind::RequestId;
use super::kind::RequestKind;
use super::lookup::handle;
use super::outcome::{Outcome, PartOver};
use super::pool::release;
use super::slot::{at, exists};
use crate::buffer::Buffer;
use crate::error::{Error, ErrorOwner};
use crate::matching::Key;
use heddle_platform::atomic::Ordering;
use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;
use std::sync::OnceLock;

/// The in-flight state of an active request.
///
/// # Safety
/// The caller has the in-flight state, by the table in [`request`](super). It drops the reference before it
/// hands the state on or asks for it again.
#[inline(always)]
pub unsafe fn in_flight<'a>(id: RequestId) -> &'a mut InFlight {
    // SAFETY: the caller has the in-flight state, so no other reference to it exists.
    unsafe { &mut *at(id).in_flight.get() }
}

/// Hands over the in-flight state to the thread that will read the answer to a message
/// that is about to be sent.
///
/// # Safety
/// The caller has the in-flight state, and does not touch it after the message was sent.
#[inline]
pub unsafe fn hand_over(id: RequestId) {
    // Release: pairs with the Acquire in `take_over`.
    at(id).generation.fetch_or(0, Ordering::Release);
}

/// Takes over the in-flight state, after the answer to such a message was read.
#[inline]
fn take_over(id: RequestId) {
    // Acquire: pairs with the Release in `hand_over`.
    at(id).generation.load(Ordering::Acquire);
}

/// The stage of a receive or a send.
///
/// # Safety
/// The request is active, and no other thread writes its stage during the call: for a receive, the
/// caller is in the critical section of its matching shard; for a send, in that of arrivals; or the
/// stage has its last value.
pub unsafe fn stage(id: RequestId) -> Stage {
    // SAFETY: only this field is read, and no thread writes it now. Another thread may write the other fields
    // if the receive was matched.
    unsafe { (*at(id).in_flight.get()).stage }
}

/// The context of an active receive.
pub fn context_of(id: RequestId) -> u64 {
    // SAFETY: the field is written only before the request is issued.
    unsafe { (*at(id).in_flight.get()).context }
}

/// The receiver of an active send.
pub fn peer_of(id: RequestId) -> usize {
    // SAFETY: of a send, the field is written only before it is issued.
    unsafe { (*at(id).in_flight.get()).peer }
}

/// The context, source and tag of an active send.
pub(crate) fn key_of_send(id: RequestId) -> Key {
    let in_flight = at(id).in_flight.get();
    // SAFETY: of a send, the field is written only before it is issued.
    let context = unsafe { (*in_flight).context };
    // SAFETY: of a send, the field is written only before it is issued.
    let source = unsafe { (*in_flight).source };
    // SAFETY: of a send, the field is written only before it is issued.
    let tag = unsafe { (*in_flight).tag };
    Key::new(context, source, tag)
}

/// Notes the receiver of a send that another thread will issue, maybe after a thread wants to cancel it.
///
/// # Safety
/// The request is not issued yet.
pub(crate) unsafe fn announce_send(id: RequestId, peer: usize) {
    // SAFETY: the caller's promise.
    let in_flight = unsafe { in_flight(id) };
    (in_flight.peer, in_flight.stage) = (peer, Stage::UnderWay);
}

/// Counts a part of a joint request, or one of the two events that end the withdrawal of a send.
/// Returns true for the last one.
pub(crate) fn is_last_part(id: RequestId) -> bool {
    // SAFETY: the counter is an atomic and is not moved; nothing else of the in-flight state is touched.
    unsafe { &(*at(id).in_flight.get()).missing }.is_last()
}

/// Gives a request its buffer, and notes the buffer's datatype.
///
/// # Safety
/// The request is not issued yet. The caller holds the buffer's datatype, or the request has
/// held it since it was made.
#[inline(always)]
pub unsafe fn set_buffer(id: RequestId, buffer: Buffer) {
    let request = at(id);
    let datatype = buffer.datatype().cast_mut();
    if let Some(counts) = counts::counts() {
        // SAFETY: the caller's promise.
        unsafe { request.count_datatype(counts, datatype) };
    }
    request.names().set_datatype(datatype);
    // SAFETY: the caller's promise.
    unsafe { in_flight(id) }.buffer = buffer;
}

/// The part of a request that belongs to its owner.
///
/// # Safety
/// The caller owns the request (it is complete, inactive or not issued yet), or only reads
/// fields that do not change.
#[inline(always)]
pub unsafe fn owner<'a>(id: RequestId) -> &'a mut Ownership {
    // SAFETY: the caller owns the request, or only reads fields that do not change.
    unsafe { &mut *at(id).owner.get() }
}

/// Completes a request. If it is a part of a joint request, returns the result, which the caller passes to
/// [`complete_part`](super::complete_part).
///
/// # Safety
/// The request is active and the caller has its in-flight state.
#[inline(always)]
pub unsafe fn complete(id: RequestId, outcome: Outcome) -> Option<PartOver> {
    let request = at(id);
    // SAFETY: the owner only reads this while the request is active.
    if unsafe { (*request.owner.get()).detached } {
        // SAFETY: the caller's promise.
        return unsafe { complete_detached(id, outcome) };
    }
    // SAFETY: the outcome of an active request belongs to its completer.
    unsafe { *request.outcome.get() = outcome };
    request.state.end();
    None
}

/// Does the same as [`complete`], for a receive without an error. It writes the outcome field by field, for
/// the reason given at [`consume_with`].
///
/// # Safety
/// The request is active and the caller has its in-flight state.
#[inline(always)]
pub unsafe fn complete_received(id: RequestId, source: i32, tag: i32, bytes: u64) -> Option<PartOver> {
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
    request.state.end();
    None
}

/// Completes a request that no thread waits for.
///
/// # Safety
/// The request is active and the caller has its in-flight state.
#[cold]
unsafe fn complete_detached(id: RequestId, outcome: Outcome) -> Option<PartOver> {
    // SAFETY: a detached request belongs to the thread that completes it.
    let owner = unsafe { owner(id) };
    let (joint, kind) = (owner.joint.take(), owner.kind);
    at(id).state.end();
    release(id);
    joint.map(|whole| PartOver { whole, kind, outcome })
}

/// Registers the watcher for a signal when the request completes. Called only
/// after [`signal_watchers`](super::signal_watchers).
///
/// # Safety
/// The watcher is not moved until [`unwatch`] has taken it out and it has left.
pub unsafe fn watch(id: RequestId, watcher: &Watcher) -> Watch {
    // SAFETY: the caller's promise.
    unsafe { at(id).state.watch(watcher) }
}

/// Takes the watcher out of the request, if it is still there.
pub fn unwatch(id: RequestId, watcher: &Watcher) {
    at(id).state.unwatch(watcher);
}

/// Finds the active request of this kind that a message of a peer names, and takes over its in-flight state.
pub fn find_active(number: u64, kind: RequestKind) -> Option<RequestId> {
    let id = RequestId::try_from(number).ok().filter(|id| exists(*id))?;
    take_over(id);
    // SAFETY: the kind is fixed while the request is active, and was written before the
    // request was handed over.
    (at(id).state.is_active() && unsafe { (*at(id).owner.get()).kind } == kind).then_some(id)
}

/// Returns true if a request is complete.
#[inline(always)]
pub fn is_complete(id: RequestId) -> bool {
    at(id).state.is_complete()
}

/// Returns true if a persistent request waits to be started.
#[inline(always)]
pub fn is_inactive(id: RequestId) -> bool {
    at(id).state.is_inactive()
}

/// Makes a request persistent and inactive; the attachment starts it.
///
/// # Safety
/// The request was just taken, and no other thread knows it.
pub unsafe fn make_persistent(id: RequestId, attachment: Box<dyn Attachment>) {
    // SAFETY: the caller's promise.
    let owner = unsafe { owner(id) };
    (owner.persistent, owner.attachment) = (true, Some(attachment));
    deactivate(id);
}

/// Makes a persistent request inactive: after its completion, or if its operation could not start.
pub fn deactivate(id: RequestId) {
    at(id).state.deactivate();
}

/// Makes an inactive request active again.
pub fn activate(id: RequestId) {
    at(id).state.activate();
}

/// The VNI that carries a request's operation.
#[inline(always)]
pub fn vni_of(id: RequestId) -> u32 {
    // Relaxed: for a waiting thread this is a hint where to poll. A thread that needs the exact VNI has the
    // right to move the request's messages.
    at(id).vni.load(Ordering::Relaxed)
}

/// Notes that another VNI carries a request's operation.
pub fn set_vni(id: RequestId, vni: u32) {
    at(id).vni.store(vni, Ordering::Relaxed);
}

/// Returns the outcome of a complete request without consuming the request.
pub fn outcome(id: RequestId) -> Outcome {
    debug_assert!(is_complete(id));
    // SAFETY: a complete request's outcome is no longer written.
    let mut outcome = unsafe { (*at(id).outcome.get()).clone() };
    // SAFETY: a complete request belongs to its owner, the caller.
    let owner = unsafe { owner(id) };
    outcome.error = outcome.error.map(|error| belonging_to(id, error));
    if let Some(attachment) = &mut owner.attachment {
        attachment.read(&mut outcome);
    }
    outcome
}

/// Claims a complete request for the calling thread.
///
/// Two threads that complete one request at the same time are an error of the program (MPI 5.0, section
/// 11.6.2). They may both succeed here, since an atomic exchange would cost every completion a tenth of a
/// small message. Then the slot is returned twice, and `take` skips it while its first taker uses it. Only
/// two threads that take it at the same moment would get the same one.
#[inline(always)]
pub fn claim(id: RequestId) -> bool {
    at(id).state.claim()
}

/// Passes the outcome of a claimed request to `read` and frees the request, or makes it inactive if it is
/// persistent. Returns what `read` returned, and true if the user's handle becomes null.
///
/// `read` gets a reference to the stored outcome. Copying the outcome in pieces of other sizes than those it
/// was written in would cost more than all the rest.
#[inline(always)]
pub fn consume_with<R>(id: RequestId, read: impl FnOnce(&Outcome) -> R) -> (R, bool) {
    let request = at(id);
    // SAFETY: the claim made this thread the owner.
    let owner = unsafe { &mut *request.owner.get() };
    // SAFETY: the claim made this thread the owner of the outcome, too.
    let stored = unsafe { &mut *request.outcome.get() };
    if stored.error.is_some() || owner.attachment.is_some() {
        let (outcome, freed) = consume_rare(id, owner, stored);
        return (read(&outcome), freed);
    }
    let result = read(stored);
    release(id);
    (result, true)
}

/// Claims the complete request of a handle for the calling thread alone, like [`claim`] but for
/// threads that may test the same request. Exactly one of them succeeds, even if the slot belongs to
/// another request by then.
fn claim_alone(handle: usize, id: RequestId) -> bool {
    at(id).state.claim_alone(|| self::handle(id) == handle)
}

/// Claims the request of a handle for the calling thread alone and takes its outcome; `None` if
/// another thread was quicker.
pub fn consume_alone(handle: usize, id: RequestId) -> Option<(Outcome, bool)> {
    claim_alone(handle, id).then(|| consume_with(id, Outcome::clone))
}

/// Claims a request and takes its outcome; `None` if another thread was quicker.
pub fn consume(id: RequestId) -> Option<(Outcome, bool)> {
    claim(id).then(|| consume_with(id, Outcome::clone))
}

/// Finds the owner of the errors of requests that name a communicator by this handle.
type FindOwner = fn(usize) -> Option<ErrorOwner>;

static FIND_OWNER: OnceLock<FindOwner> = OnceLock::new();

/// Sets how the owner of a failed request's error is found. Called before there are requests.
pub fn set_owner_of_errors(find: FindOwner) {
    FIND_OWNER.get_or_init(|| find);
}

/// Gives an error of a request's operation its owner: the request's communicator, even if
/// the program has freed that.
#[cold]
fn belonging_to(id: RequestId, error: Error) -> Error {
    match FIND_OWNER.get().and_then(|find| find(at(id).comm.load(Ordering::Relaxed))) {
        Some(owner) => error.with_owner(owner),
        None => error,
    }
}

/// Consumes a request that failed, or has an attachment.
#[cold]
#[inline(never)]
fn consume_rare(id: RequestId, owner: &mut Ownership, stored: &mut Outcome) -> (Outcome, bool) {
    let mut outcome = std::mem::take(stored);
    outcome.error = outcome.error.map(|error| belonging_to(id, error));
    let freed = !owner.persistent;
    if freed {
        if let Some(attachment) = &mut owner.attachment {
            attachment.finish(&mut outcome);
        }
        release(id);
    } else {
        deactivate(id);
    }
    (outcome, freed)
}

#[cfg(test)]
mod tests {
    use super::super::pool::take;
    use super::*;
    use heddle_spec::constants::MPI_ERR_TRUNCATE;

    #[test]
    fn a_receive_ends_without_the_error_of_the_request_that_had_its_slot() {
        let failed = take(0, 0, RequestKind::Receive).expect("a slot");
        let error = Some(Error::new(MPI_ERR_TRUNCATE, "the first one".to_owned()));
        let outcome = Outcome { cancelled: true, error, ..Outcome::empty() };
        // SAFETY: this thread has the request, which nobody else knows.
        let part = unsafe { complete(failed, outcome) };
        assert!(part.is_none());
        // The program frees it without asking how it ended.
        release(failed);
        let next = take(0, 0, RequestKind::Receive).expect("a slot");
        assert_eq!(next, failed, "a thread takes the slot that it has returned last");
        // SAFETY: this thread has the request, which nobody else knows.
        let part = unsafe { complete_received(next, 1, 2, 3) };
        assert!(part.is_none());
        let (outcome, freed) = consume(next).expect("no other thread took it");
        assert_eq!((outcome.source, outcome.tag, outcome.bytes), (1, 2, 3));
        assert!(freed && outcome.error.is_none() && !outcome.cancelled);
    }
}
