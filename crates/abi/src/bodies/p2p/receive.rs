//! Receives.

use super::check_wanted_tag;
use crate::argument::{Out, RecvArguments, StatusOut, buffer, buffer_for};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::request::Outcome;
use heddle_p2p::{Attempt, PlainReceive};
use heddle_spec::constants::MPI_MESSAGE_NULL;
use heddle_spec::handle::{DatatypeHandle, MessageHandle, RequestHandle};
use std::ffi::c_void;

/// The checked arguments that all receives have in common.
#[inline(always)]
pub(super) fn incoming(call: RecvArguments) -> Result<(CommRef, TypeInUse, Buffer)> {
    let comm = CommRef::from_handle(call.comm.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (datatype, buffer) = unsafe { buffer_for(call.source, call.buf, call.count, call.datatype) }?;
    check_wanted_tag(call.tag)?;
    Ok((comm, datatype, buffer))
}

/// Stores the status of a receive, and returns its error if it has failed.
#[inline(always)]
pub(super) fn finish(status: StatusOut, outcome: Outcome) -> Result<()> {
    show(status, &outcome)
}

/// Does the same as [`finish`], for an outcome that is read in its slot.
#[inline(always)]
pub(super) fn show(status: StatusOut, outcome: &Outcome) -> Result<()> {
    status.report(outcome);
    outcome.error.clone().map_or(Ok(()), Err)
}

#[inline(always)]
fn plain(call: RecvArguments) -> PlainReceive {
    PlainReceive {
        address: call.buf.cast(),
        count: call.count,
        datatype: call.datatype.0,
        source: call.source,
        tag: call.tag,
        comm: call.comm.0,
    }
}

/// The express path of the blocking receive.
#[inline(always)]
pub(crate) fn express_recv(attempt: Attempt, call: RecvArguments, status: StatusOut) -> Express {
    // SAFETY: the program promises that there is room for the data.
    let outcome = unsafe { plain(call).take(attempt) }?;
    status.report(&outcome);
    Ok(Ok(()))
}

/// The express path of the nonblocking receive.
#[inline(always)]
pub(crate) fn express_irecv(attempt: Attempt, call: RecvArguments, request: Out<RequestHandle>) -> Express {
    let request = request.express()?;
    // SAFETY: the program leaves room for the data until the operation is complete.
    request.0 = unsafe { plain(call).post(attempt) }?;
    Ok(Ok(()))
}

#[inline(always)]
pub(crate) fn recv(call: RecvArguments, status: StatusOut) -> Result<()> {
    let (comm, _datatype, buffer) = incoming(call)?;
    heddle_p2p::recv_with(
        &comm,
        Plane::PointToPoint,
        buffer,
        call.source,
        call.tag,
        #[inline(always)]
        |outcome| show(status, outcome),
    )?
}

#[inline(always)]
pub(crate) fn irecv(call: RecvArguments, request: Out<RequestHandle>) -> Result<()> {
    let (comm, _datatype, buffer) = incoming(call)?;
    let request = request.variable()?;
    request.0 = heddle_p2p::irecv(&comm, Plane::PointToPoint, buffer, call.source, call.tag)?;
    Ok(())
}

pub(crate) fn recv_init(call: RecvArguments, request: Out<RequestHandle>) -> Result<()> {
    let (comm, _datatype, buffer) = incoming(call)?;
    let request = request.variable()?;
    request.0 = heddle_p2p::receive_init(&comm, buffer, call.source, call.tag)?;
    Ok(())
}

pub(crate) fn mrecv(
    buf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    message: Out<MessageHandle>,
    status: StatusOut,
) -> Result<()> {
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_datatype, buffer) = unsafe { buffer(buf, count, datatype) }?;
    let message = message.variable()?;
    let outcome = heddle_p2p::mrecv(message.0, buffer)?;
    message.0 = MPI_MESSAGE_NULL;
    finish(status, outcome)
}

pub(crate) fn imrecv(
    buf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    message: Out<MessageHandle>,
    request: Out<RequestHandle>,
) -> Result<()> {
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_datatype, buffer) = unsafe { buffer(buf, count, datatype) }?;
    let (message, request) = (message.variable()?, request.variable()?);
    request.0 = heddle_p2p::imrecv(message.0, buffer)?;
    message.0 = MPI_MESSAGE_NULL;
    Ok(())
}
