//! Receives.

use super::long_wait::{unless_in_vain, wait_for};
use super::send::bad_rank;
use heddle_comm::error::Result;
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::{self, Domain};
use heddle_message::matching::Key;
use heddle_message::progress::{Awaited, ended_promptly};
use heddle_message::request::{self, Outcome, RequestId, RequestKind, Stage};
use heddle_spec::constants as mpi;

/// Checks the source of a receive or probe.
///
/// # Errors
/// `MPI_ERR_RANK`.
#[inline(always)]
pub(crate) fn check_source(comm: &CommRef, source: i32) -> Result<()> {
    if comm.peers.has(source) || source == mpi::MPI_ANY_SOURCE {
        return Ok(());
    }
    Err(bad_rank(comm, source))
}

/// Blocking receive.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_TAG` for a wildcard against a promise. The operation's own errors, such as
/// `MPI_ERR_TRUNCATE`, are in the outcome's `error`.
pub fn recv(comm: &CommRef, plane: Plane, buffer: Buffer, source: i32, tag: i32) -> Result<Outcome> {
    recv_with(comm, plane, buffer, source, tag, Outcome::clone)
}

/// Blocking receive that passes its outcome to `read`.
///
/// # Errors
/// The same as those of [`recv`].
#[inline(always)]
pub fn recv_with<R>(
    comm: &CommRef,
    plane: Plane,
    buffer: Buffer,
    source: i32,
    tag: i32,
    read: impl FnOnce(&Outcome) -> R,
) -> Result<R> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(read(&Outcome::proc_null()));
    }
    check_source(comm, source)?;
    let domain = domain::current()?;
    let key = Key::new(comm.context().id(plane), source, tag);
    let vni = comm.vni_wanted(domain, &key)?;
    if !comm.context().wants_self_messages(&key)
        && let Some((envelope, bytes)) =
            domain.receive_directly(vni, key, buffer, || comm.peers.world_rank(source as usize))
    {
        let (source, tag) = (envelope.source(), envelope.tag());
        return Ok(read(&Outcome { source, tag, bytes: bytes as u64, cancelled: false, error: None }));
    }
    Ok(read(&receive_and_wait(domain, (comm, plane), vni, buffer, key)))
}

#[inline(never)]
fn receive_and_wait(
    domain: &Domain,
    (comm, plane): (&CommRef, Plane),
    vni: u32,
    buffer: Buffer,
    key: Key,
) -> Outcome {
    let id = match request::take(vni, comm.handle(), RequestKind::Receive) {
        Ok(id) => id,
        // The error is returned like any other error of the operation.
        Err(error) => return Outcome { error: Some(error.into()), ..Outcome::empty() },
    };
    reissue(domain, comm, vni, id, buffer, key);
    if request::is_complete(id) {
        ended_promptly(vni, Awaited::Message);
    } else {
        // The message may be on another VNI than the home of the communicator.
        wait_for(domain, (comm, plane), key.source(), id);
    }
    match request::consume(id) {
        Some((outcome, _)) => unless_in_vain(outcome),
        None => unreachable!("no other thread knows this request"),
    }
}

/// Nonblocking receive; returns the handle of its request.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests; `MPI_ERR_TAG` for a
/// wildcard against a promise.
#[inline(always)]
pub fn irecv(comm: &CommRef, plane: Plane, buffer: Buffer, source: i32, tag: i32) -> Result<usize> {
    if source == mpi::MPI_PROC_NULL {
        return completed(comm, Outcome::proc_null());
    }
    check_source(comm, source)?;
    let domain = domain::current()?;
    let key = Key::new(comm.context().id(plane), source, tag);
    let vni = comm.vni_wanted(domain, &key)?;
    let id = request::take(vni, comm.handle(), RequestKind::Receive)?;
    reissue(domain, comm, vni, id, buffer, key);
    Ok(request::handle(id))
}

/// Makes a receive that is complete from the start; returns its handle.
///
/// # Errors
/// `MPI_ERR_NO_MEM` if there are too many requests.
pub(crate) fn completed(comm: &CommRef, outcome: Outcome) -> Result<usize> {
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Receive)?;
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::complete(id, outcome) };
    Ok(request::handle(id))
}

/// Issues a receive with a request that exists.
#[inline(always)]
pub fn reissue(domain: &Domain, comm: &CommRef, vni: u32, id: RequestId, buffer: Buffer, key: Key) {
    // SAFETY: the request is not issued yet. The caller holds the datatype, or the request has
    // held it since it was made.
    unsafe { request::set_buffer(id, buffer) };
    // SAFETY: the request is not issued yet, so the caller has its in-flight state.
    let in_flight = unsafe { request::in_flight(id) };
    in_flight.context = key.context;
    in_flight.stage = Stage::UnderWay;
    if comm.context().wants_self_messages(&key) {
        receive_from_self(domain, comm, vni, id, key);
    } else {
        domain.vni(vni).receive(id, key);
    }
}

/// Issues a receive that may match self messages that are not pinned to the default VNI.
#[inline(never)]
fn receive_from_self(domain: &Domain, comm: &CommRef, vni: u32, id: RequestId, key: Key) {
    comm.context().pin_self_messages_for(domain, &key);
    while let Some(route) = comm.context().route(domain, key.context, key.tag()) {
        if domain.vni(route.vni()).receive_from_self(id, key, route) {
            return;
        }
    }
    domain.vni(vni).receive(id, key);
}
