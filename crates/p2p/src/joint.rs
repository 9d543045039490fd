//! Sending and receiving at once with one request (`MPI_Isendrecv`; MPI 5.0, section 3.10).
//!
//! The send and the receive are requests that no thread waits for; each knows the joint request, which
//! completes with the second of them. The two may be on different VNIs, so they count down by atomic
//! operations (`heddle_message::request`). A waiting thread first polls the VNI of the receive.

use super::receive::{check_source, reissue};
use super::send::{send_with, world_rank};
use heddle_comm::error::Result;
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_message::matching::Key;
use heddle_message::request::{self, OutOfRequests, Outcome, PartOver, RequestId, RequestKind};
use heddle_message::vni::SendArgs;
use heddle_spec::constants as mpi;
use std::any::Any;

/// Starts sending one message and receiving another; returns the handle of the request for both.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests.
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
/// The same as those of [`isendrecv`].
pub fn isendrecv_replace(
    comm: &CommRef,
    buffer: Buffer,
    (dest, send_tag): (i32, i32),
    (source, receive_tag): (i32, i32),
) -> Result<usize> {
    // MPI_PROC_NULL gets no data.
    let mut copy = if dest == mpi::MPI_PROC_NULL { Box::default() } else { buffer.copied()? };
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
    // All three requests are taken beforehand: once one part is in progress the other must not fail.
    let Requests { whole, receive, send } =
        Requests::take(comm, vni, incoming.map(|(vni, _)| vni), peer.map(|_| sending_vni))?;
    let handle = request::handle(whole);
    // SAFETY: the request is new, and both parts are accounted for below.
    unsafe { request::expect_parts(whole, 2) };
    // SAFETY: the part was not counted before: it is counted here, and never issued.
    let done = |kind, outcome| unsafe { request::complete_part(PartOver { whole, kind, outcome }) };
    match incoming.zip(receive) {
        None => done(RequestKind::Receive, Outcome::proc_null()),
        Some(((vni, key), part)) => reissue(domain, comm, vni, part, receive_buffer, key),
    }
    let Some((peer, part)) = peer.zip(send) else {
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
    let send_part = |vni| {
        request::set_vni(part, vni);
        Ok(part)
    };
    if send_with(domain, comm, sending_vni, args, send_part)?.is_none() {
        give_back(part);
        done(RequestKind::Send, Outcome::empty());
    }
    Ok(handle)
}

/// The requests of a joint operation: that of the program, and one for each part that needs one.
struct Requests {
    whole: RequestId,
    receive: Option<RequestId>,
    send: Option<RequestId>,
}

impl Requests {
    /// Takes all of them, or none. A part that has no VNI needs no request.
    fn take(
        comm: &CommRef,
        vni: u32,
        receiving_vni: Option<u32>,
        sending_vni: Option<u32>,
    ) -> Result<Requests, OutOfRequests> {
        let whole = request::take(vni, comm.handle(), RequestKind::Send)?;
        let part = |vni, kind| -> Result<_, OutOfRequests> {
            let id = request::take_detached(vni, comm.handle(), kind)?;
            // SAFETY: the request is new: no other thread knows it.
            unsafe { request::owner(id) }.joint = Some(whole);
            Ok(id)
        };
        let mut taken = Requests { whole, receive: None, send: None };
        let mut take_parts = || -> Result<_, OutOfRequests> {
            taken.receive = receiving_vni.map(|vni| part(vni, RequestKind::Receive)).transpose()?;
            taken.send = sending_vni.map(|vni| part(vni, RequestKind::Send)).transpose()?;
            Ok(())
        };
        if let Err(error) = take_parts() {
            if let Some(receive) = taken.receive {
                give_back(receive);
            }
            request::release(whole);
            return Err(error);
        }
        Ok(taken)
    }
}

/// Gives back a part that was not issued.
fn give_back(part: RequestId) {
    // SAFETY: the request is not issued: no other thread knows it.
    unsafe { request::owner(part) }.joint = None;
    request::release(part);
}
