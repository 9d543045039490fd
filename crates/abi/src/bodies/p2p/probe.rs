//! Looking at messages before they are received.

use super::check_wanted_tag;
use super::receive::finish;
use crate::argument::{Out, StatusOut};
use crate::entry::Express;
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_p2p::Attempt;
use heddle_spec::handle::{CommHandle, MessageHandle};
use std::ffi::c_int;

pub(crate) fn probe(source: c_int, tag: c_int, comm: CommHandle, status: StatusOut) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    check_wanted_tag(tag)?;
    finish(status, heddle_p2p::probe(&comm, source, tag)?)
}

/// The express path of a probe.
#[inline(always)]
pub(crate) fn express_iprobe(
    attempt: Attempt,
    source: c_int,
    tag: c_int,
    comm: CommHandle,
    flag: Out<c_int>,
    status: StatusOut,
) -> Express {
    let flag = flag.express()?;
    let found = heddle_p2p::iprobe_express(attempt, source, tag, comm.0)?;
    *flag = c_int::from(found.is_some());
    if let Some(outcome) = found {
        status.report(&outcome);
    }
    Ok(Ok(()))
}

pub(crate) fn iprobe(
    source: c_int,
    tag: c_int,
    comm: CommHandle,
    flag: Out<c_int>,
    status: StatusOut,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    check_wanted_tag(tag)?;
    match heddle_p2p::iprobe(&comm, source, tag)? {
        None => flag.set(0),
        Some(outcome) => {
            flag.set(1)?;
            finish(status, outcome)
        }
    }
}

pub(crate) fn mprobe(
    source: c_int,
    tag: c_int,
    comm: CommHandle,
    message: Out<MessageHandle>,
    status: StatusOut,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    check_wanted_tag(tag)?;
    let message = message.variable()?;
    let (handle, outcome) = heddle_p2p::mprobe(&comm, source, tag)?;
    message.0 = handle;
    finish(status, outcome)
}

pub(crate) fn improbe(
    source: c_int,
    tag: c_int,
    comm: CommHandle,
    flag: Out<c_int>,
    message: Out<MessageHandle>,
    status: StatusOut,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    check_wanted_tag(tag)?;
    let (flag, message) = (flag.variable()?, message.variable()?);
    let found = heddle_p2p::improbe(&comm, source, tag)?;
    *flag = c_int::from(found.is_some());
    let Some((handle, outcome)) = found else { return Ok(()) };
    message.0 = handle;
    finish(status, outcome)
}
