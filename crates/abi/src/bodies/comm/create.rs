//! Making and freeing communicators.
//!
//! The output pointer is checked first: a communicator that cannot be stored could not be freed.

use crate::argument::{IntercommCreateFromGroupsArguments, Out, Text};
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_comm::errhandler::{self, Holder};
use heddle_comm::{group, info};
use heddle_spec::constants::MPI_COMM_NULL;
use heddle_spec::handle::{CommHandle, ErrhandlerHandle, GroupHandle, InfoHandle, RequestHandle};
use std::ffi::c_int;

/// Makes a communicator and stores its handle.
fn make(comm: CommHandle, new: Out<CommHandle>, make: impl FnOnce(&CommRef) -> Result<usize>) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let new = new.variable()?;
    *new = CommHandle(make(&comm)?);
    Ok(())
}

/// Makes a copy. Without one the program gets the null handle, as from other libraries: after a copy callback
/// that refuses, programs look at it.
fn copy(comm: CommHandle, new: Out<CommHandle>, dup: impl FnOnce(&CommRef) -> Result<usize>) -> Result<()> {
    make(comm, new, |comm| dup(comm).inspect_err(|_| new.offer(CommHandle(MPI_COMM_NULL))))
}

/// Begins to make a communicator, and stores its handle and the request's.
fn begin(
    comm: CommHandle,
    new: Out<CommHandle>,
    request: Out<RequestHandle>,
    begin: impl FnOnce(&CommRef) -> Result<(usize, usize)>,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let (new, request) = (new.variable()?, request.variable()?);
    let (made, pending) = begin(&comm)?;
    *new = CommHandle(made);
    *request = RequestHandle(pending);
    Ok(())
}

pub(crate) fn comm_dup(comm: CommHandle, new: Out<CommHandle>) -> Result<()> {
    copy(comm, new, heddle_comm_management::dup)
}

pub(crate) fn comm_dup_with_info(comm: CommHandle, info: InfoHandle, new: Out<CommHandle>) -> Result<()> {
    copy(comm, new, |comm| heddle_comm_management::dup_with_info(comm, &info::hints(info.0)?))
}

pub(crate) fn comm_idup(comm: CommHandle, new: Out<CommHandle>, request: Out<RequestHandle>) -> Result<()> {
    begin(comm, new, request, heddle_comm_management::idup)
}

pub(crate) fn comm_idup_with_info(
    comm: CommHandle,
    info: InfoHandle,
    new: Out<CommHandle>,
    request: Out<RequestHandle>,
) -> Result<()> {
    begin(comm, new, request, |comm| heddle_comm_management::idup_with_info(comm, &info::hints(info.0)?))
}

pub(crate) fn comm_create(comm: CommHandle, group: GroupHandle, new: Out<CommHandle>) -> Result<()> {
    make(comm, new, |comm| heddle_comm_management::create(comm, &group::from_handle(group.0)?))
}

pub(crate) fn comm_create_group(
    comm: CommHandle,
    group: GroupHandle,
    tag: c_int,
    new: Out<CommHandle>,
) -> Result<()> {
    make(comm, new, |comm| heddle_comm_management::create_group(comm, &group::from_handle(group.0)?, tag))
}

pub(crate) fn comm_split(comm: CommHandle, color: c_int, key: c_int, new: Out<CommHandle>) -> Result<()> {
    make(comm, new, |comm| heddle_comm_management::split(comm, color, key))
}

pub(crate) fn comm_split_type(
    comm: CommHandle,
    split_type: c_int,
    key: c_int,
    info: InfoHandle,
    new: Out<CommHandle>,
) -> Result<()> {
    make(comm, new, |comm| heddle_comm_management::split_type(comm, split_type, key, &info::hints(info.0)?))
}

pub(crate) fn intercomm_create(
    local_comm: CommHandle,
    local_leader: c_int,
    peer_comm: CommHandle,
    remote_leader: c_int,
    tag: c_int,
    new: Out<CommHandle>,
) -> Result<()> {
    let peer = || CommRef::from_handle(peer_comm.0);
    make(local_comm, new, |local| {
        heddle_comm_management::intercomm_create(local, local_leader, peer, remote_leader, tag)
    })
}

pub(crate) fn intercomm_merge(inter: CommHandle, high: bool, new: Out<CommHandle>) -> Result<()> {
    make(inter, new, |inter| heddle_comm_management::intercomm_merge(inter, high))
}

pub(crate) fn comm_create_from_group(
    group: GroupHandle,
    stringtag: Text<'_>,
    info: InfoHandle,
    errhandler: ErrhandlerHandle,
    new: Out<CommHandle>,
) -> Result<()> {
    errhandler::check(errhandler.0, Holder::Comm)?;
    let (group, hints) = (group::from_handle(group.0)?, info::hints(info.0)?);
    let (string, new) = (stringtag.get()?, new.variable()?);
    *new = CommHandle(heddle_comm_management::create_from_group(&group, string, &hints, errhandler.0)?);
    Ok(())
}

pub(crate) fn intercomm_create_from_groups(call: IntercommCreateFromGroupsArguments<'_>) -> Result<()> {
    errhandler::check(call.errhandler.0, Holder::Comm)?;
    let local = group::from_handle(call.local_group.0)?;
    let remote = group::from_handle(call.remote_group.0)?;
    let (hints, string) = (info::hints(call.info.0)?, call.stringtag.get()?);
    let new = call.newintercomm.variable()?;
    let made = heddle_comm_management::intercomm_create_from_groups(
        (&local, call.local_leader),
        (&remote, call.remote_leader),
        string,
        &hints,
        call.errhandler.0,
    )?;
    *new = CommHandle(made);
    Ok(())
}

pub(crate) fn comm_free(comm: Out<CommHandle>) -> Result<()> {
    let comm = comm.variable()?;
    heddle_comm_management::free(comm.0)?;
    *comm = CommHandle::NULL;
    Ok(())
}
