//! Environmental management.

use crate::argument::{List, Out, StatusOut, TextOut};
use crate::error::Result;
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use std::ffi::c_int;

pub(crate) fn get_version(version: Out<c_int>, subversion: Out<c_int>) -> Result<()> {
    version.set(mpi::MPI_VERSION)?;
    subversion.set(mpi::MPI_SUBVERSION)
}

pub(crate) fn get_library_version(version: TextOut, length: Out<c_int>) -> Result<()> {
    let text = concat!("Heddle ", env!("CARGO_PKG_VERSION"));
    length.set(version.set(text, mpi::MPI_MAX_LIBRARY_VERSION_STRING)?)
}

/// Heddle has no profiling of its own for the program to control.
pub(crate) fn pcontrol(_level: c_int) -> Result<()> {
    Ok(())
}

pub(crate) fn status_get_error(status: List<'_, Status>, error: Out<c_int>) -> Result<()> {
    error.set(status.only()?.error)
}

pub(crate) fn status_set_error(status: StatusOut, error: c_int) -> Result<()> {
    status.update(|status| status.error = error)
}
