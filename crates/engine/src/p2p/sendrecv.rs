//! Sending and receiving at once (MPI 5.0, section 3.10).

use super::receive::check_source;
use super::send::world_rank;
use super::{Mode, irecv, recv, send, wait};
use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::Result;
use crate::request::Outcome;
use heddle_spec::constants as mpi;

/// Sends one message and receives another; neither waits for the other.
///
/// # Errors
/// `MPI_ERR_RANK`; the receive's own error stands in the outcome.
pub fn sendrecv(
    comm: &CommRef,
    plane: Plane,
    (send_buffer, dest, send_tag): (Buffer, i32, i32),
    (receive_buffer, source, receive_tag): (Buffer, i32, i32),
) -> Result<Outcome> {
    // An error must be found before the receive is under way: nobody would wait for that.
    if dest != mpi::MPI_PROC_NULL {
        world_rank(comm, dest)?;
    }
    let mut request = irecv(comm, plane, receive_buffer, source, receive_tag)?;
    let sent = send(comm, plane, send_buffer, dest, send_tag, Mode::Standard);
    let outcome = wait(&mut request)?;
    sent?;
    Ok(outcome)
}

/// Sends the data of a buffer and receives into the same buffer.
///
/// # Errors
/// As [`sendrecv`].
pub fn sendrecv_replace(
    comm: &CommRef,
    buffer: Buffer,
    (dest, send_tag): (i32, i32),
    (source, receive_tag): (i32, i32),
) -> Result<Outcome> {
    // As above: the send must not be under way when the receive fails.
    if source != mpi::MPI_PROC_NULL {
        check_source(comm, source)?;
    }
    let mut copy = vec![0u8; buffer.len()];
    buffer.read(0, copy.as_mut_ptr(), copy.len());
    // SAFETY: the copy lives until the send below is complete.
    let outgoing = unsafe { Buffer::bytes(copy.as_mut_ptr(), copy.len()) };
    let mut request = super::isend(comm, Plane::PointToPoint, outgoing, dest, send_tag, Mode::Standard)?;
    let received = recv(comm, Plane::PointToPoint, buffer, source, receive_tag);
    wait(&mut request)?;
    received
}
