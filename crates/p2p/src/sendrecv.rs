//! Sending and receiving at once (MPI 5.0, section 3.10).

use super::receive::check_source;
use super::{Mode, isend, recv, wait, wait_in_operation};
use heddle_comm::error::Result;
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::matching::Key;
use heddle_message::request::Outcome;
use heddle_spec::constants as mpi;

/// Sends one message and receives another; neither waits for the other.
///
/// # Errors
/// `MPI_ERR_RANK`. The receive's own error is in the outcome.
pub fn sendrecv(
    comm: &CommRef,
    plane: Plane,
    (send_buffer, dest, send_tag): (Buffer, i32, i32),
    (receive_buffer, source, receive_tag): (Buffer, i32, i32),
) -> Result<Outcome> {
    // Errors must be found before the send is in progress, since no thread would wait for it.
    if source != mpi::MPI_PROC_NULL {
        check_source(comm, source)?;
        comm.check_promises(&Key::new(comm.context().id(plane), source, receive_tag))?;
    }
    let mut request = isend(comm, plane, send_buffer, dest, send_tag, Mode::Standard)?;
    let received = recv(comm, plane, receive_buffer, source, receive_tag);
    let sent = match plane {
        Plane::Collective => wait_in_operation(&mut request, comm, dest as usize)?,
        _ => wait(&mut request)?,
    };
    sent.error.map_or(received, Err)
}

/// Sends the data of a buffer and receives into the same buffer.
///
/// # Errors
/// The same as those of [`sendrecv`].
pub fn sendrecv_replace(
    comm: &CommRef,
    buffer: Buffer,
    (dest, send_tag): (i32, i32),
    (source, receive_tag): (i32, i32),
) -> Result<Outcome> {
    // MPI_PROC_NULL gets no data.
    let mut copy = if dest == mpi::MPI_PROC_NULL { Box::default() } else { buffer.copied()? };
    // SAFETY: the copy lives until the send is complete, which `sendrecv` waits for once it has begun.
    let outgoing = unsafe { Buffer::bytes(copy.as_mut_ptr(), copy.len()) };
    sendrecv(comm, Plane::PointToPoint, (outgoing, dest, send_tag), (buffer, source, receive_tag))
}
