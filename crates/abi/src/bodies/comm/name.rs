//! Names of objects.

use crate::argument::{Out, Text, TextOut};
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_rma::WinRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, WinHandle};
use std::ffi::c_int;

pub(crate) fn comm_set_name(comm: CommHandle, name: Text<'_>) -> Result<()> {
    CommRef::from_handle(comm.0)?.set_name(name.get()?);
    Ok(())
}

/// `MPI_COMM_NULL` has a name too.
pub(crate) fn comm_get_name(comm: CommHandle, name: TextOut, length: Out<c_int>) -> Result<()> {
    let text = match comm {
        CommHandle::NULL => "MPI_COMM_NULL".to_owned(),
        _ => CommRef::from_handle(comm.0)?.name(),
    };
    length.set(name.set(&text, mpi::MPI_MAX_OBJECT_NAME)?)
}

pub(crate) fn type_set_name(datatype: DatatypeHandle, name: Text<'_>) -> Result<()> {
    datatype::set_type_name(datatype.0, name.get()?)
}

pub(crate) fn type_get_name(datatype: DatatypeHandle, name: TextOut, length: Out<c_int>) -> Result<()> {
    length.set(name.set(&datatype::type_name(datatype.0)?, mpi::MPI_MAX_OBJECT_NAME)?)
}

pub(crate) fn win_set_name(win: WinHandle, name: Text<'_>) -> Result<()> {
    WinRef::from_handle(win.0)?.set_name(name.get()?);
    Ok(())
}

/// `MPI_WIN_NULL` has a name too.
pub(crate) fn win_get_name(win: WinHandle, name: TextOut, length: Out<c_int>) -> Result<()> {
    let text = match win {
        WinHandle::NULL => "MPI_WIN_NULL".to_owned(),
        _ => WinRef::from_handle(win.0)?.name(),
    };
    length.set(name.set(&text, mpi::MPI_MAX_OBJECT_NAME)?)
}
