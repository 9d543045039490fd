//! Sends.

use super::check_tag;
use crate::argument::{Out, buffer_for};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_comm::datatype::TypeRef;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::request::{SEND_DONE, is_for_every_send};
use heddle_p2p::{Attempt, Mode, SmallSend};
use heddle_spec::handle::{CommHandle, DatatypeHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// The checked arguments that all sends have in common.
#[inline(always)]
fn outgoing(
    address: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    tag: c_int,
    comm: CommHandle,
) -> Result<(CommRef, TypeRef, Buffer)> {
    let comm = CommRef::from_handle(comm.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (datatype, buffer) = unsafe { buffer_for(dest, address, count, datatype) }?;
    check_tag(tag)?;
    Ok((comm, datatype, buffer))
}

#[inline(always)]
pub(super) fn small(
    buf: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    tag: c_int,
    comm: CommHandle,
) -> SmallSend {
    SmallSend { address: buf.cast(), count, datatype: datatype.0, dest, tag, comm: comm.0 }
}

/// The express path of the blocking standard and ready sends.
#[inline(always)]
pub(crate) fn express_send(
    attempt: Attempt,
    buf: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    tag: c_int,
    comm: CommHandle,
) -> Express {
    // SAFETY: the program promises that the data is there.
    unsafe { small(buf, count, datatype, dest, tag, comm).send(attempt) }.map(Ok)
}

/// The express path of the nonblocking ones.
#[expect(clippy::too_many_arguments, reason = "those of the function, and the attempt")]
#[inline(always)]
pub(crate) fn express_isend(
    attempt: Attempt,
    buf: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    tag: c_int,
    comm: CommHandle,
    request: Out<RequestHandle>,
) -> Express {
    let request = request.express()?;
    // SAFETY: the program promises that the data is there.
    unsafe { small(buf, count, datatype, dest, tag, comm).send(attempt) }?;
    request.0 = SEND_DONE;
    Ok(Ok(()))
}

pub(crate) use express_isend as express_irsend;
pub(crate) use express_send as express_rsend;

/// A nonblocking send where the model gives each of them a request. It takes the program's arguments, so that
/// the other case keeps its values in registers.
#[expect(clippy::too_many_arguments, reason = "those of the function, and the mode")]
#[cold]
#[inline(never)]
fn by_request(
    mode: Mode,
    buf: *const c_void,
    count: i64,
    datatype: DatatypeHandle,
    dest: c_int,
    tag: c_int,
    comm: CommHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    let (comm, _datatype, buffer) = outgoing(buf, count, datatype, dest, tag, comm)?;
    request.variable()?.0 = heddle_p2p::isend_by_request(&comm, buffer, dest, tag, mode)?;
    Ok(())
}

macro_rules! sends {
    ($($name:ident, $nonblocking:ident, $persistent:ident: $mode:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(
            buf: *const c_void,
            count: i64,
            datatype: DatatypeHandle,
            dest: c_int,
            tag: c_int,
            comm: CommHandle,
        ) -> Result<()> {
            let (comm, _datatype, buffer) = outgoing(buf, count, datatype, dest, tag, comm)?;
            sends!(@send $mode comm, buffer, dest, tag)
        }

        #[inline(always)]
        pub(crate) fn $nonblocking(
            buf: *const c_void,
            count: i64,
            datatype: DatatypeHandle,
            dest: c_int,
            tag: c_int,
            comm: CommHandle,
            request: Out<RequestHandle>,
        ) -> Result<()> {
            if is_for_every_send() && Mode::$mode != Mode::Buffered {
                return by_request(Mode::$mode, buf, count, datatype, dest, tag, comm, request);
            }
            let (comm, _datatype, buffer) = outgoing(buf, count, datatype, dest, tag, comm)?;
            let request = request.variable()?;
            request.0 = sends!(@isend $mode comm, buffer, dest, tag)?;
            Ok(())
        }

        pub(crate) fn $persistent(
            buf: *const c_void,
            count: i64,
            datatype: DatatypeHandle,
            dest: c_int,
            tag: c_int,
            comm: CommHandle,
            request: Out<RequestHandle>,
        ) -> Result<()> {
            let (comm, _datatype, buffer) = outgoing(buf, count, datatype, dest, tag, comm)?;
            let request = request.variable()?;
            request.0 = heddle_p2p::send_init(&comm, buffer, dest, tag, Mode::$mode)?;
            Ok(())
        }
    )*};
    (@send Buffered $comm:ident, $buffer:ident, $dest:ident, $tag:ident) => {
        heddle_p2p::bsend(&$comm, $buffer, $dest, $tag)
    };
    (@send $mode:ident $comm:ident, $buffer:ident, $dest:ident, $tag:ident) => {
        heddle_p2p::send(&$comm, Plane::PointToPoint, $buffer, $dest, $tag, Mode::$mode)
    };
    (@isend Buffered $comm:ident, $buffer:ident, $dest:ident, $tag:ident) => {
        heddle_p2p::ibsend(&$comm, $buffer, $dest, $tag)
    };
    (@isend $mode:ident $comm:ident, $buffer:ident, $dest:ident, $tag:ident) => {
        heddle_p2p::isend(&$comm, Plane::PointToPoint, $buffer, $dest, $tag, Mode::$mode)
    };
}

sends! {
    send, isend, send_init: Standard;
    bsend, ibsend, bsend_init: Buffered;
    ssend, issend, ssend_init: Synchronous;
    rsend, irsend, rsend_init: Standard;
}
