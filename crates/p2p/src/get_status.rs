//! `MPI_Request_get_status`: the outcome of requests without freeing them (MPI 5.0, section 3.7.6).

use super::several::{Any, Some_};
use super::state::{HandleState, state};
use heddle_comm::error::Result;
use heddle_message::domain;
use heddle_message::request::{self, Found, Outcome};

/// Returns the state of a request, after an attempt at progress if it is pending.
fn state_now(handle: usize) -> Result<HandleState> {
    match state(handle)? {
        HandleState::Pending(vni) => {
            domain::current()?.progress_for_test(vni);
            state(handle)
        }
        found => Ok(found),
    }
}

/// Returns the outcome of a complete request.
fn outcome(handle: usize) -> Result<Outcome> {
    Ok(match request::find(handle)? {
        Found::Slot(id) => request::outcome(id),
        Found::Null | Found::Done => Outcome::empty(),
    })
}

/// Returns the outcome of one request; `None` if it is not complete.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn get_status(handle: usize) -> Result<Option<Outcome>> {
    Ok(match state_now(handle)? {
        HandleState::Nothing => Some(Outcome::empty()),
        HandleState::Pending(_) => None,
        HandleState::Complete => Some(outcome(handle)?),
    })
}

/// Returns the first complete request and its outcome.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn get_status_any(handles: &[usize]) -> Result<Any> {
    let mut found = Any::Nothing;
    for (index, &handle) in handles.iter().enumerate() {
        match state_now(handle)? {
            HandleState::Nothing => {}
            HandleState::Complete => return Ok(Any::Completed(index, outcome(handle)?)),
            HandleState::Pending(_) => found = Any::Pending,
        }
    }
    Ok(found)
}

/// Reports the outcomes of all requests and returns true if all are complete; otherwise
/// reports none and returns false.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn get_status_all(handles: &[usize], mut report: impl FnMut(usize, Outcome)) -> Result<bool> {
    for &handle in handles {
        if let HandleState::Pending(_) = state_now(handle)? {
            return Ok(false);
        }
    }
    for (index, &handle) in handles.iter().enumerate() {
        let is_complete = matches!(state(handle)?, HandleState::Complete);
        report(index, if is_complete { outcome(handle)? } else { Outcome::empty() });
    }
    Ok(true)
}

/// Reports the outcomes of all requests that are complete.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn get_status_some(handles: &[usize], mut report: impl FnMut(usize, Outcome)) -> Result<Some_> {
    let (mut count, mut failed, mut any) = (0, false, false);
    for (index, &handle) in handles.iter().enumerate() {
        match state_now(handle)? {
            HandleState::Nothing => continue,
            HandleState::Pending(_) => {}
            HandleState::Complete => {
                let outcome = outcome(handle)?;
                failed |= outcome.error.is_some();
                report(index, outcome);
                count += 1;
            }
        }
        any = true;
    }
    Ok(if any { Some_::Completed(count, failed) } else { Some_::Nothing })
}
