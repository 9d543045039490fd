//! Sending and receiving at once.

use super::check_tag;
use super::receive::{finish, incoming, plain, recv};
use super::send::small;
use crate::argument::{Out, StatusOut, buffer_for};
use crate::entry::{Express, running};
use crate::error::Result;
use heddle_comm::Plane;
use heddle_p2p::{Attempt, Refusal};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// The express path of a small message beside a plain receive: the send completes at once. If the message to
/// be received has not arrived yet, a blocking receive ends the call.
#[expect(clippy::too_many_arguments, reason = "those of the function")]
#[inline(always)]
pub(crate) fn express_sendrecv(
    attempt: Attempt,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    source: c_int,
    recvtag: c_int,
    comm: CommHandle,
    status: StatusOut,
) -> Express {
    let send = small(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    let receive = plain(recvbuf, recvcount, recvtype, source, recvtag, comm);
    // SAFETY: the program promises that the data is there and that there is room for it, apart from it.
    match unsafe { send.exchange(receive, attempt) } {
        Ok(outcome) => {
            status.report(&outcome);
            return Ok(Ok(()));
        }
        Err(Refusal::Busy) => return Err(Refusal::Busy),
        Err(Refusal::Unfit) => {}
    }
    // An error must be found before anything is sent.
    if !receive.is_valid() {
        return Err(Refusal::Unfit);
    }
    // SAFETY: the program promises that the data is there.
    unsafe { send.send(attempt) }?;
    // SAFETY: the program promises that there is room for the data.
    match unsafe { receive.take(attempt) } {
        Ok(outcome) => {
            status.report(&outcome);
            Ok(Ok(()))
        }
        Err(_) => Ok(wait_for(recvbuf, recvcount, recvtype, source, recvtag, comm, status)),
    }
}

#[inline(never)]
fn wait_for(
    buf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    source: c_int,
    tag: c_int,
    comm: CommHandle,
    status: StatusOut,
) -> Result<()> {
    running(|| recv(buf, count, datatype, source, tag, comm, status))
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn sendrecv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    source: c_int,
    recvtag: c_int,
    comm: CommHandle,
    status: StatusOut,
) -> Result<()> {
    let (comm, _recvtype, to) = incoming(recvbuf, recvcount, recvtype, source, recvtag, comm)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_sendtype, from) = unsafe { buffer_for(dest, sendbuf, sendcount, sendtype) }?;
    check_tag(sendtag)?;
    let outgoing = (from, dest, sendtag);
    finish(status, heddle_p2p::sendrecv(&comm, Plane::PointToPoint, outgoing, (to, source, recvtag))?)
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn isendrecv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    source: c_int,
    recvtag: c_int,
    comm: CommHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    let (comm, _recvtype, to) = incoming(recvbuf, recvcount, recvtype, source, recvtag, comm)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (_sendtype, from) = unsafe { buffer_for(dest, sendbuf, sendcount, sendtype) }?;
    check_tag(sendtag)?;
    let request = request.variable()?;
    request.0 = heddle_p2p::isendrecv(&comm, (from, dest, sendtag), (to, source, recvtag))?;
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn sendrecv_replace(
    buf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: CommHandle,
    status: StatusOut,
) -> Result<()> {
    let peer = if source == mpi::MPI_PROC_NULL { dest } else { source };
    let (comm, _datatype, buffer) = incoming(buf, count, datatype, peer, recvtag, comm)?;
    check_tag(sendtag)?;
    finish(status, heddle_p2p::sendrecv_replace(&comm, buffer, (dest, sendtag), (source, recvtag))?)
}

#[expect(clippy::too_many_arguments, reason = "those of the function")]
pub(crate) fn isendrecv_replace(
    buf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: CommHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    let peer = if source == mpi::MPI_PROC_NULL { dest } else { source };
    let (comm, _datatype, buffer) = incoming(buf, count, datatype, peer, recvtag, comm)?;
    check_tag(sendtag)?;
    let request = request.variable()?;
    request.0 = heddle_p2p::isendrecv_replace(&comm, buffer, (dest, sendtag), (source, recvtag))?;
    Ok(())
}
