//! Operations that compute.

use super::form::{Form, in_three_forms};
use super::{gives_to_root, is_idle, is_in_place, is_root, part};
use crate::argument::{
    AllreduceArguments, Out, ReduceArguments, ReduceScatterArguments, ReduceScatterBlockArguments,
};
use crate::error::{Error, Result};
use heddle_collective::{Conversation, Part, Reduction};
use heddle_comm::CommRef;
use heddle_comm::datatype::{self, TypeInUse};
use heddle_comm::op::OpRef;
use heddle_spec::constants::MPI_ERR_COUNT;
use heddle_spec::handle::{DatatypeHandle, InfoHandle, OpHandle, RequestHandle};
use std::ffi::c_void;

/// The operands of this rank, unless they are in the receive buffer.
fn operands(address: *const c_void, count: i64, datatype: &TypeInUse) -> Result<Option<Part<'_>>> {
    (!is_in_place(address)).then(|| part(address, count, datatype)).transpose()
}

in_three_forms! {
    fn reduce, ireduce, reduce_init(form, call: ReduceArguments) {
        let comm = CommRef::from_handle(call.comm.0)?;
        if is_idle(&comm, call.root) {
            // The other arguments are ignored.
            return form.carry_out(&comm, |_| Ok(()));
        }
        let (typed, op) = (datatype::for_communication(call.datatype.0)?, OpRef::from_handle(call.op.0)?);
        let reduction = Reduction::new(&op, &typed, call.datatype.0)?;
        let gives = gives_to_root(&comm, call.root, call.sendbuf);
        let send = gives.then(|| part(call.sendbuf, call.count, &typed)).transpose()?;
        let receives = is_root(&comm, call.root);
        let receive = receives.then(|| part(call.recvbuf, call.count, &typed)).transpose()?;
        form.carry_out(&comm, |talk| heddle_collective::reduce(talk, &reduction, send, receive, call.root))
    }
}

/// The common part of the reductions to all ranks.
fn to_all(
    form: Form,
    call: AllreduceArguments,
    describe: impl FnOnce(&mut Conversation<'_>, &Reduction<'_>, Option<Part<'_>>, Part<'_>) -> Result<()>,
) -> Result<()> {
    let comm = CommRef::from_handle(call.comm.0)?;
    let (typed, op) = (datatype::for_communication(call.datatype.0)?, OpRef::from_handle(call.op.0)?);
    let reduction = Reduction::new(&op, &typed, call.datatype.0)?;
    let send = operands(call.sendbuf, call.count, &typed)?;
    let receive = part(call.recvbuf, call.count, &typed)?;
    form.carry_out(&comm, |talk| describe(talk, &reduction, send, receive))
}

in_three_forms! {
    fn allreduce, iallreduce, allreduce_init(form, call: AllreduceArguments) {
        to_all(form, call, heddle_collective::allreduce)
    }
}

in_three_forms! {
    fn scan, iscan, scan_init(form, call: AllreduceArguments) {
        to_all(form, call, heddle_collective::scan)
    }
}

in_three_forms! {
    fn exscan, iexscan, exscan_init(form, call: AllreduceArguments) {
        to_all(form, call, heddle_collective::exscan)
    }
}

in_three_forms! {
    fn reduce_scatter, ireduce_scatter, reduce_scatter_init(form, call: ReduceScatterArguments<'_>) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let counts = call.recvcounts.widened(comm.size())?;
        scattered(form, (call.sendbuf, call.recvbuf), &counts, (call.datatype, call.op), &comm)
    }
}

in_three_forms! {
    fn reduce_scatter_block, ireduce_scatter_block, reduce_scatter_block_init(
        form,
        call: ReduceScatterBlockArguments,
    ) {
        let comm = CommRef::from_handle(call.comm.0)?;
        let counts = vec![call.recvcount; comm.size()];
        scattered(form, (call.sendbuf, call.recvbuf), &counts, (call.datatype, call.op), &comm)
    }
}

fn scattered(
    form: Form,
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    counts: &[i64],
    (datatype, op): (DatatypeHandle, OpHandle),
    comm: &CommRef,
) -> Result<()> {
    let (typed, op) = (datatype::for_communication(datatype.0)?, OpRef::from_handle(op.0)?);
    let reduction = Reduction::new(&op, &typed, datatype.0)?;
    let total = counts
        .iter()
        .try_fold(0i64, |sum, &count| sum.checked_add(count))
        .ok_or_else(|| Error::new(MPI_ERR_COUNT, "the sum of the counts is more than can be addressed"))?;
    let send = operands(sendbuf, total, &typed)?;
    let receive = part(recvbuf, if send.is_none() { total } else { counts[comm.rank()] }, &typed)?;
    form.carry_out(comm, |talk| heddle_collective::reduce_scatter(talk, &reduction, send, receive, counts))
}

pub(crate) fn reduce_local(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: DatatypeHandle,
    op: OpHandle,
) -> Result<()> {
    let (typed, op) = (datatype::for_communication(datatype.0)?, OpRef::from_handle(op.0)?);
    let reduction = Reduction::new(&op, &typed, datatype.0)?;
    heddle_collective::reduce_local(&reduction, part(inbuf, count, &typed)?, part(inoutbuf, count, &typed)?)
}
