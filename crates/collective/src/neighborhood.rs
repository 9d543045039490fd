//! Neighborhood collectives: each process exchanges messages with its neighbours in the topology (MPI 5.0,
//! section 8.6).
//!
//! All messages are under way at once. Two processes may have several edges between them; their messages
//! match in order, so the receives are begun in the order in which the sender has the edges
//! ([`Edges`](heddle_comm::Edges)). An edge from a process to itself is a copy.

use super::conversation::Conversation;
use super::data::{Blocks, Part, Parts, TypedParts};
use super::messages::tag;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// Gives this process's data to all its destinations, and receives a block from each source.
///
/// # Errors
/// `MPI_ERR_TOPOLOGY`, `MPI_ERR_BUFFER`, `MPI_ERR_NO_MEM`; `MPI_ERR_TRUNCATE` if a neighbour sends more than
/// is expected, with `HEDDLE_STRICT` `MPI_ERR_COUNT` if less.
pub fn neighbor_allgather(talk: &mut Conversation<'_>, send: Part<'_>, receive: Part<'_>) -> Result<()> {
    talk.take_less();
    let send = talk.apart(send, &receive, 1)?;
    exchange(talk, |_| send.buffer(), &receive)
}

/// Does the same as [`neighbor_allgather`], with blocks that may differ in size.
///
/// # Errors
/// The same as for [`neighbor_allgather`].
pub fn neighbor_allgatherv(talk: &mut Conversation<'_>, send: Part<'_>, receive: Parts<'_>) -> Result<()> {
    talk.take_less();
    exchange(talk, |_| send.buffer(), &receive)
}

/// Sends a block to each destination and receives a block from each source.
///
/// # Errors
/// `MPI_ERR_TOPOLOGY`, `MPI_ERR_BUFFER`, `MPI_ERR_NO_MEM`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the
/// counts of two neighbours disagree.
pub fn neighbor_alltoall(talk: &mut Conversation<'_>, send: Part<'_>, receive: Part<'_>) -> Result<()> {
    let blocks = talk.comm().edges()?.outdegree;
    let send = talk.apart(send, &receive, blocks)?;
    exchange(talk, |edge| send.block(edge), &receive)
}

/// Does the same as [`neighbor_alltoall`], with blocks that may differ in size and lie anywhere.
///
/// # Errors
/// The same as for [`neighbor_alltoall`].
pub fn neighbor_alltoallv(talk: &mut Conversation<'_>, send: Parts<'_>, receive: Parts<'_>) -> Result<()> {
    exchange(talk, |edge| send.block(edge), &receive)
}

/// Does the same as [`neighbor_alltoall`], with blocks that may differ in datatype.
///
/// # Errors
/// The same as for [`neighbor_alltoall`].
pub fn neighbor_alltoallw(
    talk: &mut Conversation<'_>,
    send: TypedParts<'_>,
    receive: TypedParts<'_>,
) -> Result<()> {
    exchange(talk, |edge| send.block(edge), &receive)
}

fn exchange(
    talk: &mut Conversation<'_>,
    outgoing: impl Fn(usize) -> Buffer,
    incoming: &dyn Blocks,
) -> Result<()> {
    talk.name(tag::NEIGHBORHOOD);
    talk.note(0);
    let (edges, rank) = (talk.comm().edges()?, talk.rank());
    talk.reserve(edges.sources.len() + edges.destinations.len())?;
    let mut from_self = edges.sources.iter().filter(|(_, source)| *source == rank);
    for (edge, _) in edges.destinations.iter().filter(|(_, destination)| *destination == rank) {
        if let Some((source, _)) = from_self.next() {
            talk.copy(&outgoing(*edge), &incoming.block(*source));
        }
    }
    for &(edge, source) in edges.sources.iter().filter(|(_, source)| *source != rank) {
        talk.begin_receive(source, incoming.block(edge));
    }
    for &(edge, destination) in edges.destinations.iter().filter(|(_, destination)| *destination != rank) {
        talk.begin_send(destination, outgoing(edge));
    }
    talk.complete();
    Ok(())
}
