//! Operations that move data.

use super::form::{Form, in_three_forms};
use super::layout::{Layout, datatypes, parts_if};
use super::{NO_DATA, datatype_if, gives_to_root, is_idle, is_in_place, is_root, part, part_if};
use crate::argument::{Counts, List, Out};
use crate::error::Result;
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
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn gather, igather, gather_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcount: i64,
        recvtype: DatatypeHandle,
        root: c_int,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sendtype = datatype_if(gives_to_root(&comm, root, sendbuf), sendtype)?;
        let recvtype = datatype_if(is_root(&comm, root), recvtype)?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::gather(talk, send, receive, root))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn gatherv, igatherv, gatherv_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcounts: Counts<'_>,
        displs: Counts<'_>,
        recvtype: DatatypeHandle,
        root: c_int,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let at_root = is_root(&comm, root);
        let sendtype = datatype_if(gives_to_root(&comm, root, sendbuf), sendtype)?;
        let recvtype = datatype_if(at_root, recvtype)?;
        let layout = Layout::new_if(at_root, recvcounts, displs, comm.peers.size())?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        let receive = parts_if(recvbuf, layout.as_ref(), recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::gatherv(talk, send, receive, root))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn scatter, iscatter, scatter_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcount: i64,
        recvtype: DatatypeHandle,
        root: c_int,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sendtype = datatype_if(is_root(&comm, root), sendtype)?;
        let recvtype = datatype_if(gives_to_root(&comm, root, recvbuf), recvtype)?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::scatter(talk, send, receive, root))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn scatterv, iscatterv, scatterv_init(
        form,
        sendbuf: *const c_void,
        sendcounts: Counts<'_>,
        displs: Counts<'_>,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcount: i64,
        recvtype: DatatypeHandle,
        root: c_int,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let at_root = is_root(&comm, root);
        let sendtype = datatype_if(at_root, sendtype)?;
        let recvtype = datatype_if(gives_to_root(&comm, root, recvbuf), recvtype)?;
        let layout = Layout::new_if(at_root, sendcounts, displs, comm.peers.size())?;
        let send = parts_if(sendbuf, layout.as_ref(), sendtype.as_ref())?;
        let receive = part_if(recvbuf, recvcount, recvtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::scatterv(talk, send, receive, root))
    }
}

in_three_forms! {
    fn allgather, iallgather, allgather_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcount: i64,
        recvtype: DatatypeHandle,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::allgather(talk, send, part(recvbuf, recvcount, &recvtype)?))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn allgatherv, iallgatherv, allgatherv_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcounts: Counts<'_>,
        displs: Counts<'_>,
        recvtype: DatatypeHandle,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let layout = Layout::new(recvcounts, displs, comm.peers.size())?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::allgatherv(talk, send, layout.parts(recvbuf, &recvtype)?))
    }
}

in_three_forms! {
    fn alltoall, ialltoall, alltoall_init(
        form,
        sendbuf: *const c_void,
        sendcount: i64,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcount: i64,
        recvtype: DatatypeHandle,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sendtype = datatype_if(!is_in_place(sendbuf), sendtype)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let send = part_if(sendbuf, sendcount, sendtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::alltoall(talk, send, part(recvbuf, recvcount, &recvtype)?))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn alltoallv, ialltoallv, alltoallv_init(
        form,
        sendbuf: *const c_void,
        sendcounts: Counts<'_>,
        sdispls: Counts<'_>,
        sendtype: DatatypeHandle,
        recvbuf: *mut c_void,
        recvcounts: Counts<'_>,
        rdispls: Counts<'_>,
        recvtype: DatatypeHandle,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sends = !is_in_place(sendbuf);
        let sendtype = datatype_if(sends, sendtype)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let outgoing = Layout::new_if(sends, sendcounts, sdispls, comm.peers.size())?;
        let incoming = Layout::new(recvcounts, rdispls, comm.peers.size())?;
        let send = parts_if(sendbuf, outgoing.as_ref(), sendtype.as_ref())?;
        form.carry_out(&comm, |talk| heddle_collective::alltoallv(talk, send, incoming.parts(recvbuf, &recvtype)?))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn alltoallw, ialltoallw, alltoallw_init(
        form,
        sendbuf: *const c_void,
        sendcounts: Counts<'_>,
        sdispls: Counts<'_>,
        sendtypes: List<'_, DatatypeHandle>,
        recvbuf: *mut c_void,
        recvcounts: Counts<'_>,
        rdispls: Counts<'_>,
        recvtypes: List<'_, DatatypeHandle>,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let sends = !is_in_place(sendbuf);
        let outgoing = Layout::new_if(sends, sendcounts, sdispls, comm.peers.size())?;
        let incoming = Layout::new(recvcounts, rdispls, comm.peers.size())?;
        let sendtypes = if sends { datatypes(sendtypes, comm.peers.size())? } else { Vec::new() };
        let recvtypes = datatypes(recvtypes, comm.peers.size())?;
        let send = outgoing.as_ref().map(|layout| layout.typed(sendbuf, &sendtypes)).transpose()?;
        form.carry_out(&comm, |talk| heddle_collective::alltoallw(talk, send, incoming.typed(recvbuf, &recvtypes)?))
    }
}
