//! Partitioned communication.

use super::p2p::check_tag;
use crate::argument::{List, Out, PrecvInitArguments, PsendInitArguments, buffer_for, length_of};
use crate::entry::Express;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::buffer::Buffer;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::info;
use heddle_p2p::Attempt;
use heddle_spec::constants::{MPI_ANY_TAG, MPI_ERR_ARG, MPI_ERR_COUNT};
use heddle_spec::handle::{DatatypeHandle, InfoHandle, RequestHandle};
use std::ffi::{c_int, c_void};

/// The buffer of all partitions, and their number; `count` elements are in each.
fn divided(
    peer: c_int,
    address: *const c_void,
    partitions: c_int,
    count: i64,
    datatype: DatatypeHandle,
) -> Result<(TypeInUse, Buffer, usize)> {
    let number = heddle_p2p::check_partitions(partitions)?;
    let all = count.checked_mul(i64::from(partitions)).ok_or_else(|| {
        let message = format!("{partitions} partitions of {count} elements are more than can be addressed");
        Error::new(MPI_ERR_COUNT, message)
    })?;
    // A negative count is an error even if there is no partition.
    let all = if count < 0 { count } else { all };
    // SAFETY: the program leaves the memory to the operation while it is under way, partition by partition.
    let (datatype, buffer) = unsafe { buffer_for(peer, address, all, datatype) }?;
    Ok((datatype, buffer, number))
}

pub(crate) fn psend_init(
    call: PsendInitArguments,
    info: InfoHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    let comm = CommRef::from_handle(call.comm.0)?;
    let request = request.variable()?;
    info::hints(info.0)?;
    let (_datatype, buffer, partitions) =
        divided(call.dest, call.buf, call.partitions, call.count, call.datatype)?;
    check_tag(call.tag)?;
    request.0 = heddle_p2p::psend_init(&comm, buffer, partitions, call.dest, call.tag)?;
    Ok(())
}

pub(crate) fn precv_init(
    call: PrecvInitArguments,
    info: InfoHandle,
    request: Out<RequestHandle>,
) -> Result<()> {
    let comm = CommRef::from_handle(call.comm.0)?;
    let request = request.variable()?;
    info::hints(info.0)?;
    let (_datatype, buffer, partitions) =
        divided(call.source, call.buf, call.partitions, call.count, call.datatype)?;
    if call.tag != MPI_ANY_TAG {
        check_tag(call.tag)?;
    }
    request.0 = heddle_p2p::precv_init(&comm, buffer, partitions, call.source, call.tag)?;
    Ok(())
}

/// A partition that is ready leaves by the thread that calls, without a lock.
#[inline(always)]
pub(crate) fn express_pready(_: Attempt, partition: c_int, request: RequestHandle) -> Express {
    heddle_p2p::ready_express(partition, request.0).map(Ok)
}

pub(crate) fn pready(partition: c_int, request: RequestHandle) -> Result<()> {
    heddle_p2p::ready(partition, request.0)
}

pub(crate) fn pready_range(low: c_int, high: c_int, request: RequestHandle) -> Result<()> {
    if low > high {
        let message = format!("the range of partitions begins at {low} and ends before it, at {high}");
        return Err(Error::new(MPI_ERR_ARG, message));
    }
    heddle_p2p::check_ready(&[low, high], request.0)?;
    (low..=high).try_for_each(|partition| heddle_p2p::ready(partition, request.0))
}

pub(crate) fn pready_list(length: c_int, partitions: List<'_, c_int>, request: RequestHandle) -> Result<()> {
    let partitions = partitions.slice(length_of(length)?)?;
    heddle_p2p::check_ready(partitions, request.0)?;
    partitions.iter().try_for_each(|&partition| heddle_p2p::ready(partition, request.0))
}

pub(crate) fn parrived(request: RequestHandle, partition: c_int, flag: Out<c_int>) -> Result<()> {
    let flag = flag.variable()?;
    *flag = c_int::from(heddle_p2p::has_arrived(request.0, partition)?);
    Ok(())
}
