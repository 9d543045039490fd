//! Sending and receiving at once.

use super::check_tag;
use super::receive::{finish, incoming, recv};
use crate::argument::{
    Out, RecvArguments, SendrecvArguments, SendrecvReplaceArguments, StatusOut, buffer_for,
};
use crate::entry::{Express, running};
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::{Attempt, PlainReceive, Refusal, SmallSend};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// The express path of a small message beside a plain receive: the send completes at once. If the message to
/// be received has not arrived yet, a blocking receive ends the call.
#[expect(clippy::too_many_arguments, reason = "from a structure the compiler makes longer code")]
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
    let send = SmallSend {
        address: sendbuf.cast(),
        count: sendcount,
        datatype: sendtype.0,
        dest,
        tag: sendtag,
        comm: comm.0,
    };
    let receive = PlainReceive {
        address: recvbuf.cast(),
        count: recvcount,
        datatype: recvtype.0,
        source,
        tag: recvtag,
        comm: comm.0,
    };
    // SAFETY: the program promises that the data is there and that there is room for it, apart from it.
    match unsafe { send.exchange(receive, attempt) } {
        Ok(outcome) => {
            status.report(&outcome);
            return Ok(Ok(()));
        }
        Err(Refusal::Unfit) => {}
        Err(other) => return Err(other),
    }
    // An error must be found before anything is sent.
    if !receive.is_valid() {
        return Err(Refusal::Unfit);
    }
    // SAFETY: the program promises that the data is there.
    unsafe { send.send(attempt) }?;
    // SAFETY: the program promises that there is room for the data.
    let mut taken = unsafe { receive.take(attempt) };
    if attempt == Attempt::Lock && matches!(taken, Err(Refusal::OnLane)) {
        // SAFETY: the same.
        taken = unsafe { receive.take(Attempt::Lane) };
    }
    match taken {
        Ok(outcome) => {
            status.report(&outcome);
            Ok(Ok(()))
        }
        Err(_) => Ok(wait_for(recvbuf, recvcount, recvtype, source, recvtag, comm, status)),
    }
}

/// The rest of a call whose message has not arrived.
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
    running(|| recv(RecvArguments { buf, count, datatype, source, tag, comm }, status))
}

/// Both buffers, that of the receive first; and what must be kept until the operation is begun.
#[inline(always)]
fn both(call: SendrecvArguments) -> Result<(CommRef, [TypeInUse; 2], [Buffer; 2])> {
    let SendrecvArguments { recvbuf: buf, recvcount: count, recvtype: datatype, source, comm, .. } = call;
    let receive = RecvArguments { buf, count, datatype, source, tag: call.recvtag, comm };
    let (comm, recvtype, to) = incoming(receive)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (sendtype, from) = unsafe { buffer_for(call.dest, call.sendbuf, call.sendcount, call.sendtype) }?;
    check_tag(call.sendtag)?;
    Ok((comm, [recvtype, sendtype], [to, from]))
}

pub(crate) fn sendrecv(call: SendrecvArguments, status: StatusOut) -> Result<()> {
    let (comm, _types, [to, from]) = both(call)?;
    let (outgoing, incoming) = ((from, call.dest, call.sendtag), (to, call.source, call.recvtag));
    finish(status, heddle_p2p::sendrecv(&comm, Plane::PointToPoint, outgoing, incoming)?)
}

pub(crate) fn isendrecv(call: SendrecvArguments, request: Out<RequestHandle>) -> Result<()> {
    let (comm, _types, [to, from]) = both(call)?;
    let (outgoing, incoming) = ((from, call.dest, call.sendtag), (to, call.source, call.recvtag));
    let request = request.variable()?;
    request.0 = heddle_p2p::isendrecv(&comm, outgoing, incoming)?;
    Ok(())
}

/// The one buffer of both directions, and what must be kept until the operation is begun.
#[inline(always)]
fn replaced(call: SendrecvReplaceArguments) -> Result<(CommRef, TypeInUse, Buffer)> {
    let SendrecvReplaceArguments { buf, count, datatype, comm, .. } = call;
    let source = if call.source == mpi::MPI_PROC_NULL { call.dest } else { call.source };
    let found = incoming(RecvArguments { buf, count, datatype, source, tag: call.recvtag, comm })?;
    check_tag(call.sendtag)?;
    Ok(found)
}

pub(crate) fn sendrecv_replace(call: SendrecvReplaceArguments, status: StatusOut) -> Result<()> {
    let (comm, _datatype, buffer) = replaced(call)?;
    let (outgoing, incoming) = ((call.dest, call.sendtag), (call.source, call.recvtag));
    finish(status, heddle_p2p::sendrecv_replace(&comm, buffer, outgoing, incoming)?)
}

pub(crate) fn isendrecv_replace(call: SendrecvReplaceArguments, request: Out<RequestHandle>) -> Result<()> {
    let (comm, _datatype, buffer) = replaced(call)?;
    let (outgoing, incoming) = ((call.dest, call.sendtag), (call.source, call.recvtag));
    let request = request.variable()?;
    request.0 = heddle_p2p::isendrecv_replace(&comm, buffer, outgoing, incoming)?;
    Ok(())
}
