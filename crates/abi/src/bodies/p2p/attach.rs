//! Buffers for buffered sends.

use crate::argument::{CountOut, Out};
use crate::error::{Error, Result};
use heddle_comm::{CommRef, domain, session};
use heddle_p2p::{AttachTo, attach_buffer, detach_buffer, flush_buffer, iflush_buffer};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, RequestHandle, SessionHandle};
use std::ffi::c_void;
use std::ptr;

fn attach(to: AttachTo<'_>, buffer: *mut c_void, size: i64) -> Result<()> {
    let address = buffer.addr();
    if address == mpi::MPI_BUFFER_AUTOMATIC {
        return attach_buffer(to, address, None);
    }
    let size = usize::try_from(size).map_err(|_| {
        Error::new(mpi::MPI_ERR_ARG, format!("the size of the buffer is {size}, but it may not be negative"))
    })?;
    if address == 0 && size != 0 {
        return Err(Error::new(mpi::MPI_ERR_BUFFER, format!("a null pointer is no buffer of {size} bytes")));
    }
    attach_buffer(to, address, Some(size))
}

/// `buffer_addr` is a pointer to the pointer that receives the address.
fn detach(from: AttachTo<'_>, buffer_addr: *mut c_void, size: CountOut) -> Result<()> {
    // SAFETY: the program passes the address of a pointer.
    let variable = unsafe { Out::<*mut c_void>::new(buffer_addr.cast()) };
    let variable = variable.variable()?;
    size.check()?;
    let attached = detach_buffer(from)?;
    *variable = ptr::with_exposed_provenance_mut(attached.address);
    size.set(attached.size.map_or(0, |size| size as i64))
}

pub(crate) fn buffer_attach(buffer: *mut c_void, size: i64) -> Result<()> {
    attach(AttachTo::Process, buffer, size)
}

pub(crate) fn buffer_detach(buffer_addr: *mut c_void, size: CountOut) -> Result<()> {
    detach(AttachTo::Process, buffer_addr, size)
}

pub(crate) fn buffer_flush() -> Result<()> {
    flush_buffer(AttachTo::Process)
}

pub(crate) fn buffer_iflush(request: Out<RequestHandle>) -> Result<()> {
    let request = request.variable()?;
    request.0 = iflush_buffer(AttachTo::Process)?;
    Ok(())
}

pub(crate) fn comm_attach_buffer(comm: CommHandle, buffer: *mut c_void, size: i64) -> Result<()> {
    attach(AttachTo::Comm(&CommRef::from_handle(comm.0)?), buffer, size)
}

pub(crate) fn comm_detach_buffer(comm: CommHandle, buffer_addr: *mut c_void, size: CountOut) -> Result<()> {
    detach(AttachTo::Comm(&CommRef::from_handle(comm.0)?), buffer_addr, size)
}

pub(crate) fn comm_flush_buffer(comm: CommHandle) -> Result<()> {
    flush_buffer(AttachTo::Comm(&CommRef::from_handle(comm.0)?))
}

pub(crate) fn comm_iflush_buffer(comm: CommHandle, request: Out<RequestHandle>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let request = request.variable()?;
    request.0 = iflush_buffer(AttachTo::Comm(&comm))?;
    Ok(())
}

/// Runs a function of a session's buffer. A session that is not live is found out before the library is
/// needed, which may have ended with it.
fn of_session(session: SessionHandle, body: impl FnOnce(AttachTo<'_>) -> Result<()>) -> Result<()> {
    let session = session::from_handle(session.0)?;
    domain::current()?.calls().inside(|| body(AttachTo::Session(&session)))
}

pub(crate) fn session_attach_buffer(session: SessionHandle, buffer: *mut c_void, size: i64) -> Result<()> {
    of_session(session, |session| attach(session, buffer, size))
}

pub(crate) fn session_detach_buffer(
    session: SessionHandle,
    buffer_addr: *mut c_void,
    size: CountOut,
) -> Result<()> {
    of_session(session, |session| detach(session, buffer_addr, size))
}

pub(crate) fn session_flush_buffer(session: SessionHandle) -> Result<()> {
    of_session(session, flush_buffer)
}

pub(crate) fn session_iflush_buffer(session: SessionHandle, request: Out<RequestHandle>) -> Result<()> {
    of_session(session, |session| {
        let request = request.variable()?;
        request.0 = iflush_buffer(session)?;
        Ok(())
    })
}
