//! Starting, freeing and cancelling requests, and reading their status.

use super::complete::Report;
use super::receive::finish;
use crate::argument::{List, ListOut, Out, StatusOut};
use crate::error::Result;
use heddle_p2p::request::Outcome;
use heddle_p2p::{Any, Some_};
use heddle_spec::constants as mpi;
use heddle_spec::handle::RequestHandle;
use std::ffi::c_int;

pub(crate) fn start(request: Out<RequestHandle>) -> Result<()> {
    heddle_p2p::start(request.variable()?.0)
}

pub(crate) fn startall(count: c_int, requests: ListOut<'_, RequestHandle>) -> Result<()> {
    requests.words(count)?.iter().try_for_each(|&request| heddle_p2p::start(request))
}

pub(crate) fn request_free(request: Out<RequestHandle>) -> Result<()> {
    heddle_p2p::free(&mut request.variable()?.0)
}

pub(crate) fn cancel(request: Out<RequestHandle>) -> Result<()> {
    heddle_p2p::cancel(request.variable()?.0)
}

pub(crate) fn request_get_status(request: RequestHandle, flag: Out<c_int>, status: StatusOut) -> Result<()> {
    match heddle_p2p::get_status(request.0)? {
        None => flag.set(0),
        Some(outcome) => {
            flag.set(1)?;
            finish(status, outcome)
        }
    }
}

pub(crate) fn request_get_status_any(
    count: c_int,
    requests: List<'_, RequestHandle>,
    indx: Out<c_int>,
    flag: Out<c_int>,
    status: StatusOut,
) -> Result<()> {
    let (is_complete, index, outcome) = match heddle_p2p::get_status_any(requests.words(count)?)? {
        Any::Completed(index, outcome) => (true, index as c_int, Some(outcome)),
        Any::Nothing => (true, mpi::MPI_UNDEFINED, Some(Outcome::empty())),
        Any::Pending => (false, mpi::MPI_UNDEFINED, None),
    };
    flag.set(c_int::from(is_complete))?;
    indx.set(index)?;
    outcome.map_or(Ok(()), |outcome| finish(status, outcome))
}

pub(crate) fn request_get_status_all(
    count: c_int,
    requests: List<'_, RequestHandle>,
    flag: Out<c_int>,
    statuses: StatusOut,
) -> Result<()> {
    let mut report = Report::to(statuses);
    let complete =
        heddle_p2p::get_status_all(requests.words(count)?, |index, outcome| report.add(index, &outcome))?;
    flag.set(c_int::from(complete))?;
    report.result()
}

pub(crate) fn request_get_status_some(
    incount: c_int,
    requests: List<'_, RequestHandle>,
    outcount: Out<c_int>,
    indices: ListOut<'_, c_int>,
    statuses: StatusOut,
) -> Result<()> {
    let handles = requests.words(incount)?;
    let indices = indices.slice(handles.len())?;
    let mut report = Report::to(statuses);
    let found = heddle_p2p::get_status_some(handles, |index, outcome| {
        indices[report.stored()] = index as c_int;
        report.add(index, &outcome);
    })?;
    outcount.set(match found {
        Some_::Completed(count, _) => count as c_int,
        Some_::Nothing => mpi::MPI_UNDEFINED,
    })?;
    report.result()
}
