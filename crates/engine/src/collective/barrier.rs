//! Barrier by dissemination: ⌈log₂ n⌉ rounds; in round k a process tells the one 2^k ahead and hears from the one
//! 2^k behind (Hensgen, Finkel, Manber, 1988).

use super::tag;
use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::Result;
use crate::p2p::sendrecv;

/// Returns when all processes of the communicator have called it.
///
/// # Errors
/// What befalls the messages.
pub fn barrier(comm: &CommRef) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut distance = 1;
    while distance < size {
        let to = (rank + distance) % size;
        let from = (rank + size - distance) % size;
        let outgoing = (Buffer::empty(), to as i32, tag::BARRIER);
        let incoming = (Buffer::empty(), from as i32, tag::BARRIER);
        if let Some(error) = sendrecv(comm, Plane::Collective, outgoing, incoming)?.error {
            return Err(error);
        }
        distance *= 2;
    }
    Ok(())
}
