//! Operations that move data.

use super::form::{Form, in_three_forms};
use super::layout::{Layout, datatypes, parts_if};
use super::{NO_DATA, datatype_if, gives_to_root, is_idle, is_in_place, is_root, part, part_if};
use crate::argument::{
    AllgatherArguments, AllgathervArguments, AlltoallvArguments, AlltoallwArguments, GatherArguments,
    GathervArguments, Out, ScattervArguments,
};
use crate::error::Result;
use heddle_collective::{Conversation, Part};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_spec::handle::{CommHandle, DatatypeHandle, InfoHandle, RequestHandle};
use std::ffi::{c_int, c_void};

in_three_forms! {
    fn barrier, ibarrier, barrier_init(
        form,
        comm: CommHandle,
    ) {
        form.carry_out(&CommRef::from_handle(comm.0)?, heddle_collective::barrier)
    }
}

in_three_forms! {
    fn bcast, ibcast, bcast_init(
        form,
        buffer: *mut c_void,
        count: i64,
        datatype: DatatypeHandle,
        root: c_int,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let datatype = datatype_if(!is_idle(&comm, root), datatype)?.unwrap_or(NO_DATA);
        let count = if is_idle(&comm, root) { 0 } else { count };
        let data = part(buffer, count, &datatype)?;
        form.carry_out(&comm, |talk| heddle_collective::bcast(talk, data, root))
    }
}

in_three_forms! {
    fn gather, igather, gather_init(form, call: GatherArguments) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sendtype = datatype_if(gives_to_root(&comm, call.root, call.sendbuf), call.sendtype)?;
        let recvtype = datatype_if(is_root(&comm, call.root), call.recvtype)?;
        let send = part_if(call.sendbuf, call.sendcount, sendtype.as_ref())?;
        let receive = part_if(call.recvbuf, call.recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::gather(talk, send, receive, call.root))
    }
}

in_three_forms! {
    fn gatherv, igatherv, gatherv_init(form, call: GathervArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let at_root = is_root(&comm, call.root);
        let sendtype = datatype_if(gives_to_root(&comm, call.root, call.sendbuf), call.sendtype)?;
        let recvtype = datatype_if(at_root, call.recvtype)?;
        let layout = Layout::new_if(at_root, call.recvcounts, call.displs, comm.peers.size())?;
        let send = part_if(call.sendbuf, call.sendcount, sendtype.as_ref())?;
        let receive = parts_if(call.recvbuf, layout, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::gatherv(talk, send, receive, call.root))
    }
}

in_three_forms! {
    fn scatter, iscatter, scatter_init(form, call: GatherArguments) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sendtype = datatype_if(is_root(&comm, call.root), call.sendtype)?;
        let recvtype = datatype_if(gives_to_root(&comm, call.root, call.recvbuf), call.recvtype)?;
        let send = part_if(call.sendbuf, call.sendcount, sendtype.as_ref())?;
        let receive = part_if(call.recvbuf, call.recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::scatter(talk, send, receive, call.root))
    }
}

in_three_forms! {
    fn scatterv, iscatterv, scatterv_init(form, call: ScattervArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let at_root = is_root(&comm, call.root);
        let sendtype = datatype_if(at_root, call.sendtype)?;
        let recvtype = datatype_if(gives_to_root(&comm, call.root, call.recvbuf), call.recvtype)?;
        let layout = Layout::new_if(at_root, call.sendcounts, call.displs, comm.peers.size())?;
        let send = parts_if(call.sendbuf, layout, sendtype.as_ref())?;
        let receive = part_if(call.recvbuf, call.recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::scatterv(talk, send, receive, call.root))
    }
}

/// The common part of the operations by which each rank receives a block from every rank, all of one size.
fn from_all(
    form: Form,
    call: AllgatherArguments,
    describe: impl FnOnce(&mut Conversation<'_>, Option<Part<'_>>, Part<'_>) -> Result<()>,
) -> Result<()> {
    let comm = CommRef::from_handle(call.comm.0)?;
    let sendtype = datatype_if(!is_in_place(call.sendbuf), call.sendtype)?;
    let recvtype = datatype::for_communication(call.recvtype.0)?;
    let send = part_if(call.sendbuf, call.sendcount, sendtype.as_ref())?;
    form.carry_out(&comm, |talk| describe(talk, send, part(call.recvbuf, call.recvcount, &recvtype)?))
}

in_three_forms! {
    fn allgather, iallgather, allgather_init(form, call: AllgatherArguments) {
        from_all(form, call, heddle_collective::allgather)
    }
}

in_three_forms! {
    fn allgatherv, iallgatherv, allgatherv_init(form, call: AllgathervArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sendtype = datatype_if(!is_in_place(call.sendbuf), call.sendtype)?;
        let recvtype = datatype::for_communication(call.recvtype.0)?;
        let layout = Layout::new(call.recvcounts, call.displs, comm.peers.size())?;
        let send = part_if(call.sendbuf, call.sendcount, sendtype.as_ref())?;
        form.carry_out(&comm, |talk| {
            heddle_collective::allgatherv(talk, send, layout.parts(call.recvbuf, &recvtype)?)
        })
    }
}

in_three_forms! {
    fn alltoall, ialltoall, alltoall_init(form, call: AllgatherArguments) {
        from_all(form, call, heddle_collective::alltoall)
    }
}

in_three_forms! {
    fn alltoallv, ialltoallv, alltoallv_init(form, call: AlltoallvArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sends = !is_in_place(call.sendbuf);
        let sendtype = datatype_if(sends, call.sendtype)?;
        let recvtype = datatype::for_communication(call.recvtype.0)?;
        let outgoing = Layout::new_if(sends, call.sendcounts, call.sdispls, comm.peers.size())?;
        let incoming = Layout::new(call.recvcounts, call.rdispls, comm.peers.size())?;
        let send = parts_if(call.sendbuf, outgoing, sendtype.as_ref())?;
        form.carry_out(&comm, |talk| {
            heddle_collective::alltoallv(talk, send, incoming.parts(call.recvbuf, &recvtype)?)
        })
    }
}

in_three_forms! {
    fn alltoallw, ialltoallw, alltoallw_init(form, call: AlltoallwArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sends = !is_in_place(call.sendbuf);
        let outgoing = Layout::new_if(sends, call.sendcounts, call.sdispls, comm.peers.size())?;
        let incoming = Layout::new(call.recvcounts, call.rdispls, comm.peers.size())?;
        let sendtypes = if sends { datatypes(call.sendtypes, comm.peers.size())? } else { Vec::new() };
        let recvtypes = datatypes(call.recvtypes, comm.peers.size())?;
        let send = outgoing.map(|layout| layout.typed(call.sendbuf, &sendtypes)).transpose()?;
        form.carry_out(&comm, |talk| {
            heddle_collective::alltoallw(talk, send, incoming.typed(call.recvbuf, &recvtypes)?)
        })
    }
}
