//! Operations that move data.

use super::{datatype_if, is_in_place, part, part_if};
use crate::argument::{Counts, List};
use crate::error::Result;
use heddle_collective::{Parts, TypedParts};
use heddle_comm::CommRef;
use heddle_comm::datatype::{self, TypeRef};
use heddle_spec::handle::{CommHandle, DatatypeHandle};
use std::ffi::{c_int, c_void};

/// The counts and displacements of a buffer with a block for each rank.
struct Layout {
    counts: Vec<i64>,
    displs: Vec<i64>,
}

impl Layout {
    fn new(counts: Counts<'_>, displs: Counts<'_>, ranks: usize) -> Result<Layout> {
        let list = |numbers: Counts<'_>| numbers.slice(ranks).map(|slice| slice.iter().collect());
        Ok(Layout { counts: list(counts)?, displs: list(displs)? })
    }

    fn new_if(count: bool, counts: Counts<'_>, displs: Counts<'_>, ranks: usize) -> Result<Option<Layout>> {
        count.then(|| Layout::new(counts, displs, ranks)).transpose()
    }

    fn parts<'a>(&'a self, address: *const c_void, datatype: &'a TypeRef) -> Result<Parts<'a>> {
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { Parts::new(address.cast_mut().cast(), &self.counts, &self.displs, datatype) }
    }

    fn typed<'a>(&'a self, address: *const c_void, datatypes: &'a [TypeRef]) -> Result<TypedParts<'a>> {
        // SAFETY: the program's buffers are valid as the standard demands; none is used after the call.
        unsafe { TypedParts::new(address.cast_mut().cast(), &self.counts, &self.displs, datatypes) }
    }
}

/// A buffer with a block for each rank, unless the standard ignores it.
fn parts_if<'a>(
    address: *const c_void,
    layout: Option<&'a Layout>,
    datatype: Option<&'a TypeRef>,
) -> Result<Option<Parts<'a>>> {
    layout.zip(datatype).map(|(layout, datatype)| layout.parts(address, datatype)).transpose()
}

fn datatypes(handles: List<'_, DatatypeHandle>, ranks: usize) -> Result<Vec<TypeRef>> {
    handles.slice(ranks)?.iter().map(|handle| datatype::for_communication(handle.0)).collect()
}

fn is_root(comm: &CommRef, root: c_int) -> bool {
    usize::try_from(root) == Ok(comm.rank())
}

pub(crate) fn barrier(comm: CommHandle) -> Result<()> {
    heddle_collective::barrier(&CommRef::from_handle(comm.0)?)
}

pub(crate) fn bcast(
    buffer: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    root: c_int,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let datatype = datatype::for_communication(datatype.0)?;
    heddle_collective::bcast(&comm, part(buffer, count, &datatype)?, root)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn gather(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    root: c_int,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
    let recvtype = datatype_if(is_root(&comm, root), recvtype)?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
    heddle_collective::gather(&comm, send, receive, root)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn gatherv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcounts: Counts<'_>,
    displs: Counts<'_>,
    recvtype: DatatypeHandle,
    root: c_int,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let at_root = is_root(&comm, root);
    let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
    let recvtype = datatype_if(at_root, recvtype)?;
    let layout = Layout::new_if(at_root, recvcounts, displs, comm.size())?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    let receive = parts_if(recvbuf, layout.as_ref(), recvtype.as_ref())?;
    heddle_collective::gatherv(&comm, send, receive, root)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn scatter(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    root: c_int,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sendtype = datatype_if(is_root(&comm, root), sendtype)?;
    let recvtype = datatype_if(!is_in_place(recvbuf), recvtype)?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
    heddle_collective::scatter(&comm, send, receive, root)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn scatterv(
    sendbuf: *const c_void,
    sendcounts: Counts<'_>,
    displs: Counts<'_>,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    root: c_int,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let at_root = is_root(&comm, root);
    let sendtype = datatype_if(at_root, sendtype)?;
    let recvtype = datatype_if(!is_in_place(recvbuf), recvtype)?;
    let layout = Layout::new_if(at_root, sendcounts, displs, comm.size())?;
    let send = parts_if(sendbuf, layout.as_ref(), sendtype.as_ref())?;
    let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
    heddle_collective::scatterv(&comm, send, receive, root)
}

pub(crate) fn allgather(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
    let recvtype = datatype::for_communication(recvtype.0)?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    heddle_collective::allgather(&comm, send, part(recvbuf, recvcount, &recvtype)?)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn allgatherv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcounts: Counts<'_>,
    displs: Counts<'_>,
    recvtype: DatatypeHandle,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
    let recvtype = datatype::for_communication(recvtype.0)?;
    let layout = Layout::new(recvcounts, displs, comm.size())?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    heddle_collective::allgatherv(&comm, send, layout.parts(recvbuf, &recvtype)?)
}

pub(crate) fn alltoall(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: DatatypeHandle,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
    let recvtype = datatype::for_communication(recvtype.0)?;
    let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
    heddle_collective::alltoall(&comm, send, part(recvbuf, recvcount, &recvtype)?)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn alltoallv(
    sendbuf: *const c_void,
    sendcounts: Counts<'_>,
    sdispls: Counts<'_>,
    sendtype: DatatypeHandle,
    recvbuf: *mut c_void,
    recvcounts: Counts<'_>,
    rdispls: Counts<'_>,
    recvtype: DatatypeHandle,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sends = !is_in_place(sendbuf);
    let sendtype = datatype_if(sends, sendtype)?;
    let recvtype = datatype::for_communication(recvtype.0)?;
    let outgoing = Layout::new_if(sends, sendcounts, sdispls, comm.size())?;
    let incoming = Layout::new(recvcounts, rdispls, comm.size())?;
    let send = parts_if(sendbuf, outgoing.as_ref(), sendtype.as_ref())?;
    heddle_collective::alltoallv(&comm, send, incoming.parts(recvbuf, &recvtype)?)
}

#[expect(clippy::too_many_arguments, reason = "MPI's")]
pub(crate) fn alltoallw(
    sendbuf: *const c_void,
    sendcounts: Counts<'_>,
    sdispls: Counts<'_>,
    sendtypes: List<'_, DatatypeHandle>,
    recvbuf: *mut c_void,
    recvcounts: Counts<'_>,
    rdispls: Counts<'_>,
    recvtypes: List<'_, DatatypeHandle>,
    comm: CommHandle,
) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let sends = !is_in_place(sendbuf);
    let outgoing = Layout::new_if(sends, sendcounts, sdispls, comm.size())?;
    let incoming = Layout::new(recvcounts, rdispls, comm.size())?;
    let sendtypes = if sends { datatypes(sendtypes, comm.size())? } else { Vec::new() };
    let recvtypes = datatypes(recvtypes, comm.size())?;
    let send = outgoing.as_ref().map(|layout| layout.typed(sendbuf, &sendtypes)).transpose()?;
    heddle_collective::alltoallw(&comm, send, incoming.typed(recvbuf, &recvtypes)?)
}
