//! Waiting for a request and testing it (MPI 5.0, section 3.7.3).
//!
//! Handles are passed as the raw words of the caller's array and set to `MPI_REQUEST_NULL` when their
//! request is freed. Outcomes are reported through a callback, so that nothing is allocated; an operation's
//! own error stands in its outcome.
//!
//! A request is completed once; two threads that complete the same one are an error of the program (MPI 5.0,
//! section 11.6.2). What happens then:
//!
//! - Threads that test: one of them gets the outcome. Another one returns an empty status, as for an
//!   inactive request, or `MPI_ERR_REQUEST` if its copy of the handle leads nowhere any more. No
//!   other request is touched.
//! - Threads that wait: one of them, or both, get the outcome, since an atomic exchange would cost every
//!   message of a program that keeps the rules; one that finds the request gone returns an empty status.
//!   No call waits without end.

use super::awaited::FirstOfAll;
use super::generalized;
use super::state::{HandleState, is_over, running_without_lock, state};
use heddle_comm::error::{Error, Result};
use heddle_message::domain;
use heddle_message::request::{self, Found, Outcome, RequestId, RequestKind, SEND_DONE, Tested};
use heddle_model::{Attempt, Refusal};
use heddle_objects::resharding::Mover;
use heddle_spec::constants as mpi;

/// Takes the outcome of a complete request.
#[inline(always)]
pub(super) fn collect(handle: &mut usize) -> Outcome {
    if let Ok(Found::Slot(id)) = request::find(*handle) {
        match request::consume_alone(*handle, id) {
            Some((outcome, freed)) => {
                if freed {
                    *handle = mpi::MPI_REQUEST_NULL;
                }
                return outcome;
            }
            None if request::is_inactive(id) => return Outcome::empty(),
            None => {}
        }
    }
    *handle = mpi::MPI_REQUEST_NULL;
    Outcome::empty()
}

/// Waits for one request.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn wait(handle: &mut usize) -> Result<Outcome> {
    wait_with(handle, Outcome::clone)
}

/// Waits for one request and passes its outcome to `read`.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
#[inline(always)]
pub fn wait_with<R>(handle: &mut usize, read: impl FnOnce(&Outcome) -> R) -> Result<R> {
    match take_plain(handle, read) {
        Ok(result) => Ok(result),
        Err(read) => wait_first(handle, &[], &[], read),
    }
}

/// The express path of a wait: if the request is a send that was complete when its call returned, or a
/// complete request that needs nothing but its release or is persistent, passes the outcome to `read` and
/// returns true. Otherwise does nothing and returns false.
#[inline(always)]
pub fn wait_express(handle: &mut usize, read: impl FnOnce(&Outcome)) -> bool {
    // Under a lock around calls the request's slot would be returned outside of it.
    running_without_lock().is_some() && take_plain(handle, read).is_ok()
}

/// If the request is a send that was complete when its call returned, or a complete request that needs
/// nothing but its release or is persistent, passes the outcome to `read`. Otherwise it does nothing and
/// returns `read`.
#[inline(always)]
pub(super) fn take_plain<R, L: FnOnce(&Outcome) -> R>(handle: &mut usize, read: L) -> Result<R, L> {
    if take_done(handle) {
        return Ok(read(&Outcome::empty()));
    }
    let Some(plain) = request::claim_plain(*handle) else { return request::rest(*handle, read) };
    *handle = mpi::MPI_REQUEST_NULL;
    let result = read(plain.outcome());
    plain.release();
    Ok(result)
}

/// If the request is a send that was complete when its call returned, frees it and returns true.
#[inline(always)]
fn take_done(handle: &mut usize) -> bool {
    let is_done = *handle == SEND_DONE;
    if is_done {
        *handle = mpi::MPI_REQUEST_NULL;
    }
    is_done
}

/// Waits for one request, knowing that the caller is going to wait for others next. Checks the handles in
/// `unchecked` if the wait is long.
#[inline(always)]
pub(super) fn wait_first<R>(
    handle: &mut usize,
    others: &[usize],
    unchecked: &[usize],
    read: impl FnOnce(&Outcome) -> R,
) -> Result<R> {
    match request::find(*handle)? {
        Found::Slot(id) if !request::is_inactive(id) => {
            if !request::is_complete(id) {
                wait_until_over(*handle, id, others, unchecked)?;
            }
            if request::claim(id) || claim_again(*handle, id)? {
                let (result, freed) = request::consume_with(id, read);
                if freed {
                    *handle = mpi::MPI_REQUEST_NULL;
                }
                return Ok(result);
            }
            // Another thread was quicker, against the rules.
            *handle = mpi::MPI_REQUEST_NULL;
        }
        Found::Slot(_) | Found::Null => {}
        Found::Done => *handle = mpi::MPI_REQUEST_NULL,
    }
    Ok(read(&Outcome::empty()))
}

#[inline(never)]
fn wait_until_over(handle: usize, id: RequestId, others: &[usize], unchecked: &[usize]) -> Result<()> {
    let (domain, vni) = (domain::current()?, request::vni_of(id));
    let mut event = FirstOfAll { first: handle, others };
    if !domain.poll_for(vni, &mut event) {
        // While there is nothing else to do.
        check(unchecked)?;
        domain.wait_long(vni, &mut event);
    }
    Ok(())
}

/// Checks that all handles are valid.
fn check(handles: &[usize]) -> Result<()> {
    handles.iter().try_for_each(|handle| request::find(*handle).map(|_| ()))
}

/// Another thread was quicker to complete a request, against the rules: waits until that is through, and
/// claims the request if it was left.
#[cold]
fn claim_again(handle: usize, id: RequestId) -> Result<bool> {
    wait_until_over(handle, id, &[], &[])?;
    Ok(matches!(state(handle), Ok(HandleState::Complete)) && request::claim(id))
}

/// Tests one request.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
#[inline]
pub fn test(handle: &mut usize) -> Result<Option<Outcome>> {
    match state(*handle)? {
        HandleState::Nothing => return Ok(Some(Outcome::empty())),
        HandleState::Complete => {}
        HandleState::Pending(vni) => {
            domain::current()?.progress_for_test(vni);
            if !is_over(*handle) {
                return Ok(None);
            }
        }
    }
    Ok(Some(collect(handle)))
}

/// The express path of a test: completes the request if it is complete, and passes the outcome to `read`.
/// Returns the operation's error, if it failed; `None` if it is pending.
///
/// # Errors
/// A refusal if the request needs progress, or is inactive or null, or if the handle is wrong.
#[inline(always)]
pub fn test_express(
    attempt: Attempt,
    handle: &mut usize,
    read: impl FnOnce(&Outcome),
) -> std::result::Result<Option<Result<()>>, Refusal> {
    // Under a lock around calls the request's slot would be returned outside of it.
    let domain = running_without_lock().ok_or(Refusal::Unfit)?;
    if take_done(handle) {
        read(&Outcome::empty());
        return Ok(Some(Ok(())));
    }
    match request::test(*handle) {
        Tested::Plain(plain) => {
            *handle = mpi::MPI_REQUEST_NULL;
            read(plain.outcome());
            plain.release();
            Ok(Some(Ok(())))
        }
        Tested::Claimed(id) => Ok(Some(consume_claimed(handle, id, read))),
        Tested::Pending(vni) => domain.test_express(attempt, vni).map(|()| None),
        Tested::Other => Err(Refusal::Unfit),
    }
}

/// Completes a claimed request that needs more than its release.
#[cold]
#[inline(never)]
fn consume_claimed(handle: &mut usize, id: RequestId, read: impl FnOnce(&Outcome)) -> Result<()> {
    let (result, freed) = request::consume_with(id, |outcome| {
        read(outcome);
        outcome.error.clone().map_or(Ok(()), Err)
    });
    if freed {
        *handle = mpi::MPI_REQUEST_NULL;
    }
    result
}

/// Frees a request; an active operation still completes. The request of a collective or partitioned operation
/// can be freed once the operation is complete, which the standard forbids and `HEDDLE_STRICT` refuses.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn free(handle: &mut usize) -> Result<()> {
    match request::find(*handle)? {
        Found::Null => {
            return Err(Error::new(mpi::MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be freed"));
        }
        Found::Done => {}
        Found::Slot(id) => {
            let domain = domain::current()?;
            if is_active_task(id) && (heddle_settings::is_strict() || !request::is_complete(id)) {
                return Err(not_for_tasks("freed while it is active"));
            } else if generalized::is_programs(id) {
                if generalized::let_go(domain, id)? {
                    request::release(id);
                }
            } else if request::is_complete(id) || request::is_inactive(id) {
                request::release(id);
            } else {
                request::forget_handle(id);
                domain.vni(request::vni_of(id)).abandon(id);
            }
        }
    }
    *handle = mpi::MPI_REQUEST_NULL;
    Ok(())
}

/// Returns true for a collective or partitioned operation that was started, and that no call has completed
/// yet.
fn is_active_task(id: RequestId) -> bool {
    // SAFETY: the field that is read does not change until the request is consumed or freed.
    let kind = unsafe { request::owner(id) }.kind;
    matches!(kind, RequestKind::Collective | RequestKind::PartitionedSend | RequestKind::PartitionedReceive)
        && !request::is_inactive(id)
}

/// The error for what the standard forbids (MPI 5.0, sections 5.2.1 and 6.12).
#[cold]
fn not_for_tasks(what: &str) -> Error {
    let message = format!("the request of a collective or partitioned operation cannot be {what}");
    Error::new(mpi::MPI_ERR_REQUEST, message)
}

/// Cancels an operation if it can be: a receive or a send that was not matched, or a generalized request. Any
/// other completes as usual (MPI 5.0, section 3.8.4).
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn cancel(handle: usize) -> Result<()> {
    let id = match request::find(handle)? {
        Found::Slot(id) if !request::is_inactive(id) => id,
        Found::Done => return Ok(()),
        _ => return Err(Error::new(mpi::MPI_ERR_REQUEST, "only an active request can be cancelled")),
    };
    // SAFETY: the fields that are read do not change until the request is consumed or freed.
    let owner = unsafe { request::owner(id) };
    match owner.kind {
        RequestKind::Receive => {
            let _no_other_thread_moves = Mover::wait();
            domain::current()?.vni(request::vni_of(id)).cancel_receive(id);
        }
        RequestKind::Generalized => {
            if let Some(cancel) = owner.attachment.as_ref().and_then(|attachment| attachment.canceller()) {
                return cancel(request::is_complete(id));
            }
        }
        RequestKind::Send => domain::current()?.cancel_send(id),
        RequestKind::Collective | RequestKind::PartitionedSend | RequestKind::PartitionedReceive => {
            return Err(not_for_tasks("cancelled"));
        }
    }
    Ok(())
}
