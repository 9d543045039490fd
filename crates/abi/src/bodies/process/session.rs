//! Sessions.

use crate::argument::{Out, Text, TextOut};
use crate::error::{Error, Result};
use heddle_comm::errhandler::{self, Holder};
use heddle_comm::info;
use heddle_comm::process_sets;
use heddle_comm::session::from_handle;
use heddle_process::session;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{ErrhandlerHandle, InfoHandle, SessionHandle};
use std::ffi::c_int;

pub(crate) fn session_init(
    info: InfoHandle,
    errhandler: ErrhandlerHandle,
    session: Out<SessionHandle>,
) -> Result<()> {
    errhandler::check(errhandler.0, Holder::Session)?;
    let (hints, session) = (info::hints(info.0)?, session.variable()?);
    *session = SessionHandle(session::init(&hints, errhandler.0)?);
    Ok(())
}

pub(crate) fn session_finalize(session: Out<SessionHandle>) -> Result<()> {
    let session = session.variable()?;
    session::finalize(session.0)?;
    *session = SessionHandle::NULL;
    Ok(())
}

pub(crate) fn session_get_info(session: SessionHandle, info_used: Out<InfoHandle>) -> Result<()> {
    let session = from_handle(session.0)?;
    let info_used = info_used.variable()?;
    *info_used = InfoHandle(info::new_handle(session::hints(&session)?));
    Ok(())
}

/// There are no hints that change the process sets.
pub(crate) fn session_get_num_psets(
    session: SessionHandle,
    info: InfoHandle,
    npset_names: Out<c_int>,
) -> Result<()> {
    from_handle(session.0)?;
    info::hints(info.0)?;
    npset_names.set(process_sets::count() as c_int)
}

/// `pset_len` counts the end mark on input and on output. If it is 0, the name is not stored.
pub(crate) fn session_get_nth_pset(
    session: SessionHandle,
    info: InfoHandle,
    n: c_int,
    pset_len: Out<c_int>,
    pset_name: TextOut,
) -> Result<()> {
    from_handle(session.0)?;
    info::hints(info.0)?;
    let name = process_sets::name(n)?;
    let length = pset_len.variable()?;
    if *length < 0 {
        let message = format!("the length of the buffer for the name is {length}; it cannot be negative");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    if *length > 0 {
        pset_name.set(name, *length)?;
    }
    *length = name.len() as c_int + 1;
    Ok(())
}

pub(crate) fn session_get_pset_info(
    session: SessionHandle,
    pset_name: Text<'_>,
    info: Out<InfoHandle>,
) -> Result<()> {
    let session = from_handle(session.0)?;
    let info = info.variable()?;
    *info = InfoHandle(info::new_handle(process_sets::info(&session, pset_name.get()?)?));
    Ok(())
}
