//! Sends.

use super::check_tag;
use crate::argument::{Out, SendArguments, buffer_for};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::buffer::Buffer;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::request::{SEND_DONE, is_for_every_send};
use heddle_p2p::{Attempt, Mode, SmallSend};
use heddle_spec::handle::RequestHandle;

/// The checked arguments that all sends have in common.
#[inline(always)]
fn outgoing(call: SendArguments) -> Result<(CommRef, TypeInUse, Buffer)> {
    let comm = CommRef::from_handle(call.comm.0)?;
    // SAFETY: the program leaves the memory alone until the operation is complete.
    let (datatype, buffer) = unsafe { buffer_for(call.dest, call.buf, call.count, call.datatype) }?;
    check_tag(call.tag)?;
    Ok((comm, datatype, buffer))
}

#[inline(always)]
fn small(call: SendArguments) -> SmallSend {
    SmallSend {
        address: call.buf.cast(),
        count: call.count,
        datatype: call.datatype.0,
        dest: call.dest,
        tag: call.tag,
        comm: call.comm.0,
    }
}

/// The express path of the blocking standard and ready sends.
#[inline(always)]
pub(crate) fn express_send(attempt: Attempt, call: SendArguments) -> Express {
    // SAFETY: the program promises that the data is there.
    unsafe { small(call).send(attempt) }.map(Ok)
}

/// The express path of the nonblocking ones.
#[inline(always)]
pub(crate) fn express_isend(attempt: Attempt, call: SendArguments, request: Out<RequestHandle>) -> Express {
    let request = request.express()?;
    // SAFETY: the program promises that the data is there.
    unsafe { small(call).send(attempt) }?;
    request.0 = SEND_DONE;
    Ok(Ok(()))
}

pub(crate) use express_isend as express_irsend;
pub(crate) use express_send as express_rsend;

/// A nonblocking send where the model gives each of them a request. It takes the program's arguments, so that
/// the other case keeps its values in registers.
#[cold]
#[inline(never)]
fn by_request(mode: Mode, call: SendArguments, request: Out<RequestHandle>) -> Result<()> {
    let (comm, _datatype, buffer) = outgoing(call)?;
    request.variable()?.0 = heddle_p2p::isend_by_request(&comm, buffer, call.dest, call.tag, mode)?;
    Ok(())
}

macro_rules! sends {
    ($($name:ident, $nonblocking:ident, $persistent:ident: $mode:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(call: SendArguments) -> Result<()> {
            let (comm, _datatype, buffer) = outgoing(call)?;
            sends!(@send $mode comm, buffer, call)
        }

        #[inline(always)]
        pub(crate) fn $nonblocking(call: SendArguments, request: Out<RequestHandle>) -> Result<()> {
            if is_for_every_send() && Mode::$mode != Mode::Buffered {
                return by_request(Mode::$mode, call, request);
            }
            let (comm, _datatype, buffer) = outgoing(call)?;
            let request = request.variable()?;
            request.0 = sends!(@isend $mode comm, buffer, call)?;
            Ok(())
        }

        pub(crate) fn $persistent(call: SendArguments, request: Out<RequestHandle>) -> Result<()> {
            let (comm, _datatype, buffer) = outgoing(call)?;
            let request = request.variable()?;
            request.0 = heddle_p2p::send_init(&comm, buffer, call.dest, call.tag, Mode::$mode)?;
            Ok(())
        }
    )*};
    (@send Buffered $comm:ident, $buffer:ident, $call:ident) => {
        heddle_p2p::bsend(&$comm, $buffer, $call.dest, $call.tag)
    };
    (@send $mode:ident $comm:ident, $buffer:ident, $call:ident) => {
        heddle_p2p::send(&$comm, Plane::PointToPoint, $buffer, $call.dest, $call.tag, Mode::$mode)
    };
    (@isend Buffered $comm:ident, $buffer:ident, $call:ident) => {
        heddle_p2p::ibsend(&$comm, $buffer, $call.dest, $call.tag)
    };
    (@isend $mode:ident $comm:ident, $buffer:ident, $call:ident) => {
        heddle_p2p::isend(&$comm, Plane::PointToPoint, $buffer, $call.dest, $call.tag, Mode::$mode)
    };
}

sends! {
    send, isend, send_init: Standard;
    bsend, ibsend, bsend_init: Buffered;
    ssend, issend, ssend_init: Synchronous;
    rsend, irsend, rsend_init: Standard;
}
