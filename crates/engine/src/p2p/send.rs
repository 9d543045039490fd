//! Sends.

use super::Mode;
use super::awaited::Completion;
use super::buffered;
use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::{Error, Result};
use crate::process::{self, Process};
use crate::request::{self, RequestId, RequestKind, SEND_DONE};
use crate::vni::{SendArgs, eager_header};
use heddle_spec::constants as mpi;

/// The world rank of a member of a communicator.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub(crate) fn world_rank(comm: &CommRef, rank: i32) -> Result<usize> {
    comm.group.world_rank(rank as usize).ok_or_else(|| bad_rank(comm, rank))
}

#[cold]
pub(crate) fn bad_rank(comm: &CommRef, rank: i32) -> Error {
    let message = format!(
        "there is no rank {rank} in {}, which has {} processes: ranks go from 0 to {}",
        if comm.name().is_empty() { "the communicator".to_owned() } else { comm.name() },
        comm.size(),
        comm.size() - 1
    );
    Error::new(mpi::MPI_ERR_RANK, message)
}

/// Blocking send in standard or synchronous mode.
///
/// # Errors
/// `MPI_ERR_RANK`; what befalls the operation.
#[inline(always)]
pub fn send(comm: &CommRef, plane: Plane, buffer: Buffer, dest: i32, tag: i32, mode: Mode) -> Result<()> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(());
    }
    let process = process::current()?;
    match issue(process, comm, plane, buffer, dest, tag, mode)? {
        None => Ok(()),
        Some(id) => wait_for(process, id),
    }
}

#[cold]
fn wait_for(process: &Process, id: RequestId) -> Result<()> {
    process.wait_for(request::vni_of(id), &mut Completion(id));
    match request::consume(id) {
        Some((outcome, _)) => outcome.error.map_or(Ok(()), Err),
        None => unreachable!("nobody else knows this request"),
    }
}

/// Nonblocking send; returns the handle of its request.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub fn isend(comm: &CommRef, plane: Plane, buffer: Buffer, dest: i32, tag: i32, mode: Mode) -> Result<usize> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(SEND_DONE);
    }
    let process = process::current()?;
    Ok(issue(process, comm, plane, buffer, dest, tag, mode)?.map_or(SEND_DONE, request::handle))
}

/// Issues a send; `None` if it is complete already, as is one in buffered mode.
#[inline(always)]
pub(crate) fn issue(
    process: &Process,
    comm: &CommRef,
    plane: Plane,
    buffer: Buffer,
    dest: i32,
    tag: i32,
    mode: Mode,
) -> Result<Option<RequestId>> {
    let peer = world_rank(comm, dest)?;
    let (context, source) = (comm.context(plane), comm.rank() as i32);
    let vni = comm.vni_of(process, context, source, tag);
    let synchronous = mode == Mode::Synchronous;
    if mode == Mode::Buffered {
        let (buffer, keep) = buffered::stage(comm, buffer)?;
        let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep };
        // Nobody waits for the rest of it.
        process.vni(vni).send(args, || request::take_detached(vni, comm.handle(), RequestKind::Send));
        return Ok(None);
    }
    if !synchronous && process.vni(vni).send_at_once(peer, eager_header(context, source, tag), buffer) {
        return Ok(None);
    }
    let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep: None };
    Ok(process.vni(vni).issue_send(args, || request::take(vni, comm.handle(), RequestKind::Send)))
}
