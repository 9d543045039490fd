//! Neighborhood collectives.

use crate::argument::{
    AllgatherArguments, AllgathervArguments, AlltoallvArguments, NeighborAlltoallwArguments, Out,
};
use crate::bodies::collective::form::{Form, in_three_forms};
use crate::bodies::collective::layout::{Layout, datatypes};
use crate::bodies::collective::part;
use crate::error::Result;
use heddle_collective::{Conversation, Part};
use heddle_comm::CommRef;
use heddle_comm::datatype;
use heddle_spec::handle::{InfoHandle, RequestHandle};

/// The common part of the operations by which each rank receives a block from every source, all of one size.
fn from_sources(
    form: Form,
    call: AllgatherArguments,
    describe: impl FnOnce(&mut Conversation<'_>, Part<'_>, Part<'_>) -> Result<()>,
) -> Result<()> {
    let comm = CommRef::from_handle(call.comm.0)?;
    let sendtype = datatype::for_communication(call.sendtype.0)?;
    let recvtype = datatype::for_communication(call.recvtype.0)?;
    let send = part(call.sendbuf, call.sendcount, &sendtype)?;
    let receive = part(call.recvbuf, call.recvcount, &recvtype)?;
    form.carry_out(&comm, |talk| describe(talk, send, receive))
}

in_three_forms! {
    fn neighbor_allgather, ineighbor_allgather, neighbor_allgather_init(form, call: AllgatherArguments) {
        from_sources(form, call, heddle_collective::neighbor_allgather)
    }
}

in_three_forms! {
    fn neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init(
        form,
        call: AllgathervArguments<'_>,
    ) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sendtype = datatype::for_communication(call.sendtype.0)?;
        let recvtype = datatype::for_communication(call.recvtype.0)?;
        let incoming = Layout::new(call.recvcounts, call.displs, comm.edges()?.indegree)?;
        let send = part(call.sendbuf, call.sendcount, &sendtype)?;
        let receive = incoming.parts(call.recvbuf, &recvtype)?;
        form.carry_out(&comm, |talk| heddle_collective::neighbor_allgatherv(talk, send, receive))
    }
}

in_three_forms! {
    fn neighbor_alltoall, ineighbor_alltoall, neighbor_alltoall_init(form, call: AllgatherArguments) {
        from_sources(form, call, heddle_collective::neighbor_alltoall)
    }
}

in_three_forms! {
    fn neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init(form, call: AlltoallvArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let sendtype = datatype::for_communication(call.sendtype.0)?;
        let recvtype = datatype::for_communication(call.recvtype.0)?;
        let edges = comm.edges()?;
        let outgoing = Layout::new(call.sendcounts, call.sdispls, edges.outdegree)?;
        let incoming = Layout::new(call.recvcounts, call.rdispls, edges.indegree)?;
        let send = outgoing.parts(call.sendbuf, &sendtype)?;
        let receive = incoming.parts(call.recvbuf, &recvtype)?;
        form.carry_out(&comm, |talk| heddle_collective::neighbor_alltoallv(talk, send, receive))
    }
}

in_three_forms! {
    fn neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init(
        form,
        call: NeighborAlltoallwArguments<'_>,
    ) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let edges = comm.edges()?;
        let sendtypes = datatypes(call.sendtypes, edges.outdegree)?;
        let recvtypes = datatypes(call.recvtypes, edges.indegree)?;
        let outgoing = Layout::in_bytes(call.sendcounts, call.sdispls, edges.outdegree)?;
        let incoming = Layout::in_bytes(call.recvcounts, call.rdispls, edges.indegree)?;
        let send = outgoing.typed(call.sendbuf, &sendtypes)?;
        let receive = incoming.typed(call.recvbuf, &recvtypes)?;
        form.carry_out(&comm, |talk| heddle_collective::neighbor_alltoallw(talk, send, receive))
    }
}
