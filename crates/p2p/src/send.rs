//! Sends.

use super::buffered;
use super::long_wait::{unless_in_vain, wait_for};
use super::mode::Mode;
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::{self, Domain};
use heddle_message::request::{self, OutOfRequests, RequestId, RequestKind, SEND_DONE};
use heddle_message::vni::{SendArgs, eager_header};
use heddle_spec::constants as mpi;

/// Returns the world rank of a member of a communicator.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub(crate) fn world_rank(comm: &CommRef, rank: i32) -> Result<usize> {
    comm.peers.world_rank(rank as usize).ok_or_else(|| bad_rank(comm, rank))
}

#[cold]
pub(crate) fn bad_rank(comm: &CommRef, rank: i32) -> Error {
    let message = format!(
        "there is no rank {rank} in {}, which has {} processes: ranks go from 0 to {}",
        if comm.name().is_empty() { "the communicator".to_owned() } else { comm.name() },
        comm.peers.size(),
        comm.peers.size() - 1
    );
    Error::new(mpi::MPI_ERR_RANK, message)
}

/// Blocking send in standard or synchronous mode.
///
/// # Errors
/// `MPI_ERR_RANK`; the operation's own errors.
#[inline(always)]
pub fn send(comm: &CommRef, plane: Plane, buffer: Buffer, dest: i32, tag: i32, mode: Mode) -> Result<()> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(());
    }
    let domain = domain::current()?;
    match issue(domain, comm, plane, buffer, dest, tag, mode)? {
        None => Ok(()),
        Some(id) => wait_and_consume(domain, (comm, plane), dest, id),
    }
}

#[cold]
fn wait_and_consume(domain: &Domain, of: (&CommRef, Plane), dest: i32, id: RequestId) -> Result<()> {
    wait_for(domain, of, dest, id);
    match request::consume(id) {
        Some((outcome, _)) => unless_in_vain(outcome).error.map_or(Ok(()), Err),
        None => unreachable!("no other thread knows this request"),
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
    let domain = domain::current()?;
    Ok(issue(domain, comm, plane, buffer, dest, tag, mode)?.map_or(SEND_DONE, request::handle))
}

/// Does the same as [`isend`], for a program's message, with a request also if it is complete at once. But a
/// message to this process that another VNI than the default one may take has a request only if it needs one.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests.
pub fn isend_by_request(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32, mode: Mode) -> Result<usize> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(SEND_DONE);
    }
    let (domain, plane) = (domain::current()?, Plane::PointToPoint);
    let peer = world_rank(comm, dest)?;
    if may_move(domain, comm, peer) {
        return Ok(issue(domain, comm, plane, buffer, dest, tag, mode)?.map_or(SEND_DONE, request::handle));
    }
    let (context, source) = (comm.context().id(plane), comm.rank() as i32);
    let vni = comm.context().vni_of(domain.vnis().len(), context, source, tag);
    let synchronous = mode == Mode::Synchronous;
    let id = request::take(vni, comm.handle(), RequestKind::Send)?;
    let handle = request::handle(id);
    // SAFETY: the request is new, and the caller holds the datatype.
    unsafe { request::set_buffer(id, buffer) };
    let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep: None };
    domain.vni(vni).send_into(id, args);
    Ok(handle)
}

/// Issues a send. Returns `None` if it is complete already, as a send in buffered mode is.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_BUFFER`; `MPI_ERR_NO_MEM` if there are too many requests.
#[inline(always)]
pub(crate) fn issue(
    domain: &Domain,
    comm: &CommRef,
    plane: Plane,
    buffer: Buffer,
    dest: i32,
    tag: i32,
    mode: Mode,
) -> Result<Option<RequestId>> {
    let peer = world_rank(comm, dest)?;
    let (context, source) = (comm.context().id(plane), comm.rank() as i32);
    let vni = comm.context().vni_of(domain.vnis().len(), context, source, tag);
    let synchronous = mode == Mode::Synchronous;
    if mode == Mode::Buffered {
        let (buffer, keep) = buffered::stage(comm, buffer)?;
        let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep };
        // No thread waits for the rest of the operation.
        let request = |vni| request::take_detached(vni, comm.handle(), RequestKind::Send);
        send_with(domain, comm, vni, args, request)?;
        return Ok(None);
    }
    if !synchronous && domain.vni(vni).send_at_once(peer, eager_header(context, source, tag), buffer) {
        return Ok(None);
    }
    let request = |vni| request::take(vni, comm.handle(), RequestKind::Send);
    if may_move(domain, comm, peer) {
        let mut args = SendArgs { buffer, peer, context, source, tag, synchronous, keep: None };
        if let Some(sent) = send_to_self(domain, comm, &mut args, request) {
            return Ok(sent?);
        }
    }
    // The arguments are rebuilt by value; reusing the borrowed struct would force it into memory.
    let args = SendArgs { buffer, peer, context, source, tag, synchronous, keep: None };
    Ok(domain.vni(vni).issue_send(args, || request(vni))?)
}

/// Returns true if the receiver is this process and its self messages are not pinned to the default VNI.
#[inline(always)]
fn may_move(domain: &Domain, comm: &CommRef, peer: usize) -> bool {
    comm.context().moves_self_messages() && peer == domain.rank()
}

/// Sends now. Returns `None` if the send is complete; otherwise its request, which `request` makes for a VNI.
///
/// # Errors
/// The error of `request`; nothing is sent then.
pub(crate) fn send_with(
    domain: &Domain,
    comm: &CommRef,
    vni: u32,
    mut args: SendArgs,
    request: impl Fn(u32) -> Result<RequestId, OutOfRequests> + Copy + Send + Sync,
) -> Result<Option<RequestId>, OutOfRequests> {
    if may_move(domain, comm, args.peer)
        && let Some(sent) = send_to_self(domain, comm, &mut args, request)
    {
        return sent;
    }
    domain.vni(vni).send(args, || request(vni))
}

/// Sends to this process. Returns `None` if its self messages are pinned to the default VNI; then the
/// message is sent like any other.
#[inline(never)]
fn send_to_self(
    domain: &Domain,
    comm: &CommRef,
    args: &mut SendArgs,
    request: impl Fn(u32) -> Result<RequestId, OutOfRequests> + Copy + Send + Sync,
) -> Option<Result<Option<RequestId>, OutOfRequests>> {
    while let Some(route) = comm.context().route(domain, args.context, args.tag) {
        let sent = domain.vni(route.vni()).send_to_self(args, request, route);
        if sent.is_some() {
            comm.context().shard_if_contended(domain, route);
            return sent;
        }
    }
    None
}

/// Buffered send.
///
/// # Errors
/// `MPI_ERR_BUFFER`, `MPI_ERR_RANK`.
pub fn bsend(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32) -> Result<()> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(());
    }
    let domain = domain::current()?;
    issue(domain, comm, Plane::PointToPoint, buffer, dest, tag, Mode::Buffered)?;
    Ok(())
}

/// Nonblocking buffered send, which is complete when the call returns.
///
/// # Errors
/// The same as those of [`bsend`].
pub fn ibsend(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32) -> Result<usize> {
    bsend(comm, buffer, dest, tag)?;
    Ok(SEND_DONE)
}
