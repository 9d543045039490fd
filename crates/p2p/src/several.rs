//! Waiting for several requests and testing them (MPI 5.0, section 3.7.5). `complete.rs` says how handles are
//! passed, and what happens if two threads complete one request.

use super::awaited::{AnyOf, make_progress};
use super::complete::{collect, take_plain, wait_first};
use super::state::{HandleState, Scan, is_over, scan, state};
use heddle_comm::error::Result;
use heddle_message::domain;
use heddle_message::request::Outcome;

/// Waits for all; `report` gets every outcome in order. Returns true if any operation failed.
///
/// # Errors
/// `MPI_ERR_REQUEST`; then it has not waited for long, but may have completed the
/// requests before the wrong one.
#[inline(always)]
pub fn wait_all(handles: &mut [usize], mut report: impl FnMut(usize, &Outcome)) -> Result<bool> {
    let (mut failed, mut checked) = (false, false);
    let (mut left, mut index) = (handles, 0);
    while let Some((handle, others)) = left.split_first_mut() {
        let report = |outcome: &Outcome| {
            report(index, outcome);
            outcome.error.is_some()
        };
        failed |= match take_plain(handle, report) {
            Ok(failed) => failed,
            Err(report) => {
                let unchecked = if std::mem::replace(&mut checked, true) { &[] } else { &*others };
                wait_first(handle, others, unchecked, report)?
            }
        };
        (left, index) = (others, index + 1);
    }
    Ok(failed)
}

/// Completes all requests if all are complete, and returns true if any failed. Otherwise completes
/// none and returns `None`.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn test_all(handles: &mut [usize], mut report: impl FnMut(usize, &Outcome)) -> Result<Option<bool>> {
    let mut tested = false;
    for handle in handles.iter() {
        if let HandleState::Pending(vni) = state(*handle)? {
            if !tested {
                domain::current()?.progress_for_test(vni);
                tested = true;
            }
            if !is_over(*handle) {
                return Ok(None);
            }
        }
    }
    let mut failed = false;
    for (index, handle) in handles.iter_mut().enumerate() {
        let outcome =
            if matches!(state(*handle)?, HandleState::Nothing) { Outcome::empty() } else { collect(handle) };
        failed |= outcome.error.is_some();
        report(index, &outcome);
    }
    Ok(Some(failed))
}

/// The result of waiting for any of several requests.
#[derive(Debug)]
pub enum Any {
    /// The request with this index completed.
    Completed(usize, Outcome),
    /// There is none to wait for: all are null or inactive.
    Nothing,
    /// No request is complete yet (tests only).
    Pending,
}

/// Waits for any one of several requests.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn wait_any(handles: &mut [usize]) -> Result<Any> {
    let mut first = None;
    let mut result = scan(handles, |vni| {
        first.get_or_insert(vni);
    })?;
    if let (Scan::Pending, Some(vni)) = (&result, first) {
        let domain = domain::current()?;
        let mut any = AnyOf::new(domain, handles, vni);
        domain.wait_for(vni, &mut any);
        result = any.found?;
    }
    Ok(match result {
        Scan::Complete(index) => Any::Completed(index, collect(&mut handles[index])),
        _ => Any::Nothing,
    })
}

/// Tests for any one of several requests.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn test_any(handles: &mut [usize]) -> Result<Any> {
    let mut result = scan(handles, |_| {})?;
    if let Scan::Pending = result {
        scan(handles, make_progress(domain::current()?, u32::MAX))?;
        result = scan(handles, |_| {})?;
    }
    Ok(match result {
        Scan::Complete(index) => Any::Completed(index, collect(&mut handles[index])),
        Scan::Nothing => Any::Nothing,
        Scan::Pending => Any::Pending,
    })
}

/// The result of waiting for some of several requests.
#[derive(Debug)]
pub enum Some_ {
    /// The number of requests reported, and whether any failed.
    Completed(usize, bool),
    /// There is none to wait for.
    Nothing,
}

fn collect_all(handles: &mut [usize], mut report: impl FnMut(usize, &Outcome)) -> Result<Some_> {
    let (mut count, mut failed) = (0, false);
    for (index, handle) in handles.iter_mut().enumerate() {
        if let HandleState::Complete = state(*handle)? {
            let outcome = collect(handle);
            failed |= outcome.error.is_some();
            report(index, &outcome);
            count += 1;
        }
    }
    Ok(Some_::Completed(count, failed))
}

/// Waits until at least one is complete and reports all that are.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn wait_some(handles: &mut [usize], report: impl FnMut(usize, &Outcome)) -> Result<Some_> {
    let mut first = None;
    let found = scan(handles, |vni| {
        first.get_or_insert(vni);
    })?;
    match (found, first) {
        (Scan::Nothing, _) => return Ok(Some_::Nothing),
        (Scan::Pending, Some(vni)) => {
            let domain = domain::current()?;
            domain.wait_for(vni, &mut AnyOf::new(domain, handles, vni));
        }
        _ => {}
    }
    collect_all(handles, report)
}

/// Reports all that are complete now.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn test_some(handles: &mut [usize], report: impl FnMut(usize, &Outcome)) -> Result<Some_> {
    let found = match scan(handles, |_| {})? {
        Scan::Pending => scan(handles, make_progress(domain::current()?, u32::MAX))?,
        found => found,
    };
    if let Scan::Nothing = found {
        return Ok(Some_::Nothing);
    }
    collect_all(handles, report)
}
