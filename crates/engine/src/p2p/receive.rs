//! Receives.

use super::send::bad_rank;
use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::Result;
use crate::matching::Key;
use crate::process::{self, Process};
use crate::request::{self, Outcome, RequestId, RequestKind, Stage};
use heddle_spec::constants as mpi;

/// Checks the source of a receive or probe.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub(crate) fn check_source(comm: &CommRef, source: i32) -> Result<()> {
    if (source as usize) < comm.size() || source == mpi::MPI_ANY_SOURCE {
        return Ok(());
    }
    Err(bad_rank(comm, source))
}

/// Blocking receive.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_TRUNCATE` and whatever else befalls the operation stands in the outcome's `error`.
pub fn recv(comm: &CommRef, plane: Plane, buffer: Buffer, source: i32, tag: i32) -> Result<Outcome> {
    recv_with(comm, plane, buffer, source, tag, Outcome::clone)
}

/// Blocking receive that shows its outcome to `look`.
///
/// # Errors
/// As [`recv`].
#[inline(always)]
pub fn recv_with<R>(
    comm: &CommRef,
    plane: Plane,
    buffer: Buffer,
    source: i32,
    tag: i32,
    look: impl FnOnce(&Outcome) -> R,
) -> Result<R> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(look(&Outcome::proc_null()));
    }
    check_source(comm, source)?;
    let process = process::current()?;
    let key = Key::new(comm.context(plane), source, tag);
    if let Some((source, tag, bytes)) = process.receive_directly(comm.vni(), &key, &buffer) {
        return Ok(look(&Outcome { source, tag, bytes: bytes as u64, cancelled: false, error: None }));
    }
    Ok(look(&receive_and_wait(process, comm, buffer, key)))
}

#[inline(never)]
fn receive_and_wait(process: &Process, comm: &CommRef, buffer: Buffer, key: Key) -> Outcome {
    let vni = comm.vni();
    let id = request::take(vni, comm.handle(), RequestKind::Receive);
    reissue(process, vni, id, buffer, key);
    process.wait_until(vni, || request::is_complete(id));
    match request::consume(id) {
        Some((outcome, _)) => outcome,
        None => unreachable!("nobody else knows this request"),
    }
}

/// Nonblocking receive; returns the handle of its request.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub fn irecv(comm: &CommRef, plane: Plane, buffer: Buffer, source: i32, tag: i32) -> Result<usize> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(completed(comm, Outcome::proc_null()));
    }
    check_source(comm, source)?;
    let process = process::current()?;
    Ok(request::handle(issue(process, comm, plane, buffer, source, tag)))
}

/// The handle of a receive that is complete from the start.
pub(crate) fn completed(comm: &CommRef, outcome: Outcome) -> usize {
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Receive);
    // SAFETY: the request is new: nobody else knows it.
    unsafe { request::complete(id, outcome) };
    request::handle(id)
}

#[inline(always)]
fn issue(
    process: &Process,
    comm: &CommRef,
    plane: Plane,
    buffer: Buffer,
    source: i32,
    tag: i32,
) -> RequestId {
    let vni = comm.vni();
    let id = request::take(vni, comm.handle(), RequestKind::Receive);
    reissue(process, vni, id, buffer, Key::new(comm.context(plane), source, tag));
    id
}

/// Issues a receive into a request that exists.
#[inline(always)]
pub(crate) fn reissue(process: &Process, vni: u32, id: RequestId, buffer: Buffer, key: Key) {
    // SAFETY: the request is not issued yet.
    let flight = unsafe { request::flight(id) };
    flight.buffer = buffer;
    flight.stage = Stage::UnderWay;
    process.vni(vni).with(|core| core.receive(id, key));
}
