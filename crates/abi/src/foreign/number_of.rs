//! How many elements an array has, where a communicator knows it.

use super::foreign::{Foreign, Number};
use crate::entry::running;
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_spec::handle::CommHandle;
use std::ffi::c_int;

/// A wrong communicator has none: the call itself complains of it.
fn of(comm: Number<CommHandle>, number: impl FnOnce(&CommRef) -> Result<usize>) -> c_int {
    let mut found = 0;
    let asked = running(|| {
        found = number(&CommRef::from_handle(CommHandle::of_number(comm).0)?)?;
        Ok(())
    });
    if asked.is_ok() { found as c_int } else { 0 }
}

/// The processes of a communicator, or of its remote group if it has one.
pub(super) fn processes(comm: Number<CommHandle>) -> c_int {
    of(comm, |comm| Ok(comm.peers.size()))
}

/// The neighbours that a process receives from.
pub(super) fn sources(comm: Number<CommHandle>) -> c_int {
    of(comm, |comm| Ok(comm.edges()?.indegree))
}

/// The neighbours that a process sends to.
pub(super) fn destinations(comm: Number<CommHandle>) -> c_int {
    of(comm, |comm| Ok(comm.edges()?.outdegree))
}
