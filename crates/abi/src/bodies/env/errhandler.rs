//! Error handlers.

use crate::argument::{Callback, Out};
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_comm::errhandler::{self, HandlerFunction, Holder};
use heddle_comm::session;
use heddle_process::raise;
use heddle_rma::WinRef;
use heddle_spec::handle::{CommHandle, ErrhandlerHandle, SessionHandle, WinHandle};
use std::ffi::c_int;

/// Makes a handler; for `MPI_File_create_errhandler` too.
pub(crate) fn create(holder: Holder, function: Callback, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    let errhandler = errhandler.variable()?;
    // SAFETY: the parameter's type in mpi.h is that of such a function.
    let function = unsafe { function.function::<HandlerFunction>() }?;
    errhandler.0 = errhandler::create(holder, function);
    Ok(())
}

pub(crate) fn comm_create_errhandler(function: Callback, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    create(Holder::Comm, function, errhandler)
}

pub(crate) fn win_create_errhandler(function: Callback, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    create(Holder::Win, function, errhandler)
}

pub(crate) fn session_create_errhandler(function: Callback, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    create(Holder::Session, function, errhandler)
}

pub(crate) fn errhandler_free(errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    let errhandler = errhandler.variable()?;
    errhandler::free(errhandler.0)?;
    *errhandler = ErrhandlerHandle::NULL;
    Ok(())
}

pub(crate) fn comm_get_errhandler(comm: CommHandle, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let errhandler = errhandler.variable()?;
    errhandler.0 = comm.errhandler.share();
    Ok(())
}

pub(crate) fn comm_set_errhandler(comm: CommHandle, errhandler: ErrhandlerHandle) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    errhandler::check(errhandler.0, Holder::Comm)?;
    comm.errhandler.set(errhandler.0);
    Ok(())
}

pub(crate) fn comm_call_errhandler(comm: CommHandle, code: c_int) -> Result<()> {
    raise::call_of_comm(comm.0, code)
}

pub(crate) fn win_get_errhandler(win: WinHandle, errhandler: Out<ErrhandlerHandle>) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    let errhandler = errhandler.variable()?;
    errhandler.0 = win.errhandler.share();
    Ok(())
}

pub(crate) fn win_set_errhandler(win: WinHandle, errhandler: ErrhandlerHandle) -> Result<()> {
    let win = WinRef::from_handle(win.0)?;
    errhandler::check(errhandler.0, Holder::Win)?;
    win.errhandler.set(errhandler.0);
    Ok(())
}

pub(crate) fn win_call_errhandler(win: WinHandle, code: c_int) -> Result<()> {
    raise::call_of_win(win.0, code)
}

pub(crate) fn session_get_errhandler(
    session: SessionHandle,
    errhandler: Out<ErrhandlerHandle>,
) -> Result<()> {
    let session = session::from_handle(session.0)?;
    let errhandler = errhandler.variable()?;
    errhandler.0 = session.errhandler.share();
    Ok(())
}

pub(crate) fn session_set_errhandler(session: SessionHandle, errhandler: ErrhandlerHandle) -> Result<()> {
    let session = session::from_handle(session.0)?;
    errhandler::check(errhandler.0, Holder::Session)?;
    session.errhandler.set(errhandler.0);
    Ok(())
}

pub(crate) fn session_call_errhandler(session: SessionHandle, code: c_int) -> Result<()> {
    raise::call_of_session(session.0, code)
}
