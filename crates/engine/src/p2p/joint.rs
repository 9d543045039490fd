//! Sending and receiving at once with one request (`MPI_Isendrecv`; MPI 5.0, section 3.10).
//!
//! The send and the receive are requests that nobody waits for; each knows the joint request, which completes with
//! the second of them. The two may be on different VNIs, so they count down by atomic operations (`request.rs`); a thread that
//! waits looks first where the receive is.

use super::receive::{check_source, reissue};
use super::send::{send_with, world_rank};
use crate::comm::{CommRef, Plane};
use crate::error::Result;
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_message::matching::Key;
use heddle_message::request::{self, Outcome, PartOver, RequestId, RequestKind};
use heddle_message::vni::SendArgs;
use heddle_spec::constants as mpi;
use std::any::Any;

/// Starts sending one message and receiving another; returns the handle of the request for both.
///
/// # Errors
/// `MPI_ERR_RANK`.
pub fn isendrecv(
    comm: &CommRef,
    outgoing: (Buffer, i32, i32),
    incoming: (Buffer, i32, i32),
) -> Result<usize> {
    start(comm, outgoing, None, incoming)
}

/// Starts sending the data of a buffer and receiving into the same buffer.
///
/// # Errors
/// As [`isendrecv`].
pub fn isendrecv_replace(
    comm: &CommRef,
    buffer: Buffer,
    (dest, send_tag): (i32, i32),
    (source, receive_tag): (i32, i32),
) -> Result<usize> {
    let mut copy = vec![0u8; buffer.len()].into_boxed_slice();
    buffer.copy_out(&mut copy);
    // SAFETY: the boxed data does not move, and is kept until the send is complete.
    let outgoing = unsafe { Buffer::bytes(copy.as_mut_ptr(), copy.len()) };
    start(comm, (outgoing, dest, send_tag), Some(Box::new(copy)), (buffer, source, receive_tag))
}

fn start(
    comm: &CommRef,
    (send_buffer, dest, send_tag): (Buffer, i32, i32),
    keep: Option<Box<dyn Any + Send>>,
    (receive_buffer, source, receive_tag): (Buffer, i32, i32),
) -> Result<usize> {
    let peer = if dest == mpi::MPI_PROC_NULL { None } else { Some(world_rank(comm, dest)?) };
    let domain = domain::current()?;
    let (context, rank) = (comm.context().id(Plane::PointToPoint), comm.rank() as i32);
    let incoming = if source == mpi::MPI_PROC_NULL {
        None
    } else {
        check_source(comm, source)?;
        let key = Key::new(context, source, receive_tag);
        Some((comm.vni_wanted(domain, &key)?, key))
    };
    let sending_vni = comm.context().vni_of(domain.vnis().len(), context, rank, send_tag);
    let vni = incoming.map_or(sending_vni, |(vni, _)| vni);
    let whole = request::take(vni, comm.handle(), RequestKind::Send);
    let handle = request::handle(whole);
    // SAFETY: the request is new, and both parts are accounted for below.
    unsafe { request::expect_parts(whole, 2) };
    // SAFETY: the part is missing: it is accounted for at once, and not issued.
    let done = |kind, outcome| unsafe { request::complete_part(PartOver { whole, kind, outcome }) };
    match incoming {
        None => done(RequestKind::Receive, Outcome::proc_null()),
        Some((vni, key)) => {
            let part = part(comm, vni, RequestKind::Receive, whole);
            reissue(domain, comm, vni, part, receive_buffer, key);
        }
    }
    let Some(peer) = peer else {
        done(RequestKind::Send, Outcome::empty());
        return Ok(handle);
    };
    let args = SendArgs {
        buffer: send_buffer,
        peer,
        context,
        source: rank,
        tag: send_tag,
        synchronous: false,
        keep,
    };
    let send_part = |vni| part(comm, vni, RequestKind::Send, whole);
    if send_with(domain, comm, sending_vni, args, send_part).is_none() {
        done(RequestKind::Send, Outcome::empty());
    }
    Ok(handle)
}

/// A request for one of the two.
fn part(comm: &CommRef, vni: u32, kind: RequestKind, whole: RequestId) -> RequestId {
    let id = request::take_detached(vni, comm.handle(), kind);
    // SAFETY: the request is new: nobody else knows it.
    unsafe { request::owner(id) }.joint = Some(whole);
    id
}
