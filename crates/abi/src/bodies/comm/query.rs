//! Questions about a communicator.

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::{group, info};
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, GroupHandle, InfoHandle};
use std::ffi::c_int;

pub(crate) fn comm_rank(comm: CommHandle, rank: Out<c_int>) -> Result<()> {
    rank.set(CommRef::from_handle(comm.0)?.rank() as c_int)
}

pub(crate) fn comm_size(comm: CommHandle, size: Out<c_int>) -> Result<()> {
    size.set(CommRef::from_handle(comm.0)?.size() as c_int)
}

pub(crate) fn comm_compare(comm1: CommHandle, comm2: CommHandle, result: Out<c_int>) -> Result<()> {
    let (one, other) = (CommRef::from_handle(comm1.0)?, CommRef::from_handle(comm2.0)?);
    result.set(one.compare(&other))
}

pub(crate) fn comm_group(comm: CommHandle, new: Out<GroupHandle>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    new.variable()?;
    new.set(GroupHandle(group::new_handle(comm.group.clone())))
}

pub(crate) fn comm_test_inter(comm: CommHandle, flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(CommRef::from_handle(comm.0)?.is_inter()))
}

/// An intercommunicator.
fn inter(comm: CommHandle) -> Result<CommRef> {
    let comm = CommRef::from_handle(comm.0)?;
    if comm.is_inter() {
        return Ok(comm);
    }
    Err(Error::new(mpi::MPI_ERR_COMM, "the communicator is no intercommunicator: it has no remote group"))
}

pub(crate) fn comm_remote_size(comm: CommHandle, size: Out<c_int>) -> Result<()> {
    size.set(inter(comm)?.peers.size() as c_int)
}

pub(crate) fn comm_remote_group(comm: CommHandle, new: Out<GroupHandle>) -> Result<()> {
    let comm = inter(comm)?;
    new.variable()?;
    new.set(GroupHandle(group::new_handle(comm.peers.clone())))
}

pub(crate) fn comm_set_info(comm: CommHandle, info: InfoHandle) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    comm.set_hints(&info::hints(info.0)?);
    Ok(())
}

pub(crate) fn comm_get_info(comm: CommHandle, used: Out<InfoHandle>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    used.variable()?;
    used.set(InfoHandle(info::new_handle(comm.hints())))
}
