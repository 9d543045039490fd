//! `MPI_Scatter` and `MPI_Scatterv`.

mod linear;
mod tree;

use super::conversation::Conversation;
use super::elements::{Blocks, Part, Parts, check_distinct};
use super::switch_points::SCATTER_LINEAR_BYTES;
use super::{Circle, check_root, in_place_not_allowed, no_buffer, tag};
use heddle_comm::CommRef;
use heddle_comm::error::Result;

/// Gives each rank its block of the root's data. `send` counts at the root only; `receive` is `None` for
/// `MPI_IN_PLACE`.
///
/// # Errors
/// `MPI_ERR_ROOT`, `MPI_ERR_BUFFER`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn scatter(comm: &CommRef, send: Option<Part<'_>>, receive: Option<Part<'_>>, root: i32) -> Result<()> {
    let circle = Circle { root: check_root(comm, root)?, size: comm.size() };
    let send = if comm.rank() == circle.root { Some(send.ok_or_else(|| no_buffer("send"))?) } else { None };
    if let (Some(send), Some(receive)) = (&send, &receive) {
        check_distinct(send, receive)?;
    }
    let Some(block_len) = receive.or(send).map(|part| part.len()) else {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    };
    let mut talk = Conversation::new(comm, tag::SCATTER);
    let blocks = send.as_ref().map(|part| part as &dyn Blocks);
    let receive = receive.map(|part| part.buffer());
    if block_len < SCATTER_LINEAR_BYTES {
        tree::scatter(&mut talk, blocks, block_len, receive, circle)?;
    } else {
        linear::scatter(&mut talk, blocks, receive, circle.root);
    }
    talk.finish()
}

/// Gives each rank its block of the root's data; the root says how large they are and where they lie.
///
/// # Errors
/// The same as for [`scatter`].
pub fn scatterv(comm: &CommRef, send: Option<Parts<'_>>, receive: Option<Part<'_>>, root: i32) -> Result<()> {
    let root = check_root(comm, root)?;
    let send = if comm.rank() == root { Some(send.ok_or_else(|| no_buffer("send"))?) } else { None };
    if send.is_none() && receive.is_none() {
        return Err(in_place_not_allowed("only the root's data can be in place"));
    }
    let mut talk = Conversation::new(comm, tag::SCATTER);
    let blocks = send.as_ref().map(|parts| parts as &dyn Blocks);
    linear::scatter(&mut talk, blocks, receive.map(|part| part.buffer()), root);
    talk.finish()
}
