//! Neighborhood collectives.

use crate::argument::{Counts, List, Out};
use crate::bodies::collective::form::{Form, in_three_forms};
use crate::bodies::collective::layout::{Layout, datatypes};
use crate::bodies::collective::part;
use crate::error::Result;
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_spec::handle::{CommHandle, DatatypeHandle, InfoHandle, RequestHandle};
use std::ffi::c_void;

in_three_forms! {
    fn neighbor_allgather, ineighbor_allgather, neighbor_allgather_init(
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
        let sendtype = datatype::for_communication(sendtype.0)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let (send, receive) = (part(sendbuf, sendcount, &sendtype)?, part(recvbuf, recvcount, &recvtype)?);
        form.carry_out(&comm, |talk| heddle_collective::neighbor_allgather(talk, send, receive))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init(
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
        let sendtype = datatype::for_communication(sendtype.0)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let incoming = Layout::new(recvcounts, displs, comm.edges()?.indegree)?;
        let send = part(sendbuf, sendcount, &sendtype)?;
        let receive = incoming.parts(recvbuf, &recvtype)?;
        form.carry_out(&comm, |talk| heddle_collective::neighbor_allgatherv(talk, send, receive))
    }
}

in_three_forms! {
    fn neighbor_alltoall, ineighbor_alltoall, neighbor_alltoall_init(
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
        let sendtype = datatype::for_communication(sendtype.0)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let (send, receive) = (part(sendbuf, sendcount, &sendtype)?, part(recvbuf, recvcount, &recvtype)?);
        form.carry_out(&comm, |talk| heddle_collective::neighbor_alltoall(talk, send, receive))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init(
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
        let sendtype = datatype::for_communication(sendtype.0)?;
        let recvtype = datatype::for_communication(recvtype.0)?;
        let edges = comm.edges()?;
        let outgoing = Layout::new(sendcounts, sdispls, edges.outdegree)?;
        let incoming = Layout::new(recvcounts, rdispls, edges.indegree)?;
        let (send, receive) = (outgoing.parts(sendbuf, &sendtype)?, incoming.parts(recvbuf, &recvtype)?);
        form.carry_out(&comm, |talk| heddle_collective::neighbor_alltoallv(talk, send, receive))
    }
}

in_three_forms! {
    #[expect(clippy::too_many_arguments, reason = "MPI's")]
    fn neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init(
        form,
        sendbuf: *const c_void,
        sendcounts: Counts<'_>,
        sdispls: List<'_, i64>,
        sendtypes: List<'_, DatatypeHandle>,
        recvbuf: *mut c_void,
        recvcounts: Counts<'_>,
        rdispls: List<'_, i64>,
        recvtypes: List<'_, DatatypeHandle>,
        comm: CommHandle,
    ) {
        let comm = CommRef::from_handle(comm.0)?;
        let edges = comm.edges()?;
        let sendtypes = datatypes(sendtypes, edges.outdegree)?;
        let recvtypes = datatypes(recvtypes, edges.indegree)?;
        let outgoing = Layout::in_bytes(sendcounts, sdispls, edges.outdegree)?;
        let incoming = Layout::in_bytes(recvcounts, rdispls, edges.indegree)?;
        let (send, receive) = (outgoing.typed(sendbuf, &sendtypes)?, incoming.typed(recvbuf, &recvtypes)?);
        form.carry_out(&comm, |talk| heddle_collective::neighbor_alltoallw(talk, send, receive))
    }
}
